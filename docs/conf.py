"""The documentation site: English pages here, their Chinese partners in zh/, nothing loaded from outside."""

import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

project = "PagedAttention"
author = "the course staff"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "PagedAttention: assignment and autograder"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
pygments_dark_style = "github-dark"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the lesson is shown as students receive it, without outputs

DOCS = Path(__file__).parent
LINK = re.compile(r"\[([^\]]+)\]\(((?!https?:)[^)#\s]+)\)")


def name_files_outside(_app: Sphinx, page: str, source: list[str]) -> None:
    """Let a link to a file of the checkout that is no page become the file's name: the site cannot open it."""

    def named(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link[2]))
        outside = path.startswith("../") and (DOCS / path).exists()
        return f"{link[1]} (`{path.removeprefix('../')}`)" if outside else link[0]

    source[0] = LINK.sub(named, source[0])


def fold_the_tools(_app: Sphinx, page: str, source: list[str]) -> None:
    """Fold the cells of the lesson that are folded in JupyterLab."""
    if Path(page).name == "lesson":
        source[0] = source[0].replace('"folded"', '"hide-input"')


def tell_the_language(_app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Mark Chinese pages as Chinese, for screen readers and fonts."""
    if page.startswith("zh/"):
        context["language"] = "zh-CN"


def keep_one_language(_app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Show a Chinese page among Chinese ones, and an English page among English ones."""
    sections = re.split(r'(?=<p class="caption)', context.get("furo_navigation_tree", ""))
    captions = [re.sub("<[^>]+>", "", section.partition("</p>")[0]) for section in sections]
    chinese = [bool(re.search("[\u4e00-\u9fff]", caption)) for caption in captions]
    kept = [section for section, own in zip(sections, chinese, strict=True) if own == page.startswith("zh/")]
    context["furo_navigation_tree"] = "".join(kept)


def setup(app: Sphinx) -> None:
    """Register the hooks with Sphinx."""
    app.connect("source-read", name_files_outside)
    app.connect("source-read", fold_the_tools)
    app.connect("html-page-context", tell_the_language)
    app.connect("html-page-context", keep_one_language, priority=900)  # after the theme has made its tree
