"""The documentation site builds without a warning or a broken link, and says what the code says."""

import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import click
import pytest

from autograder.cli import main
from autograder.config import Config
from autograder.contract.scenarios import scenarios
from autograder.reporting.gradebook import COLUMNS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINKS = ROOT / "ci" / "links.py"
PAIRED = sorted({path.name for path in (DOCS / "zh").glob("*.md")} - {"index.md"})
LANGUAGES = ("", "zh")


def page(name: str, folder: str = "") -> str:
    return (DOCS / folder / name).read_text(encoding="utf-8")


def check_links(site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, LINKS, site], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", DOCS, site]
    return site, subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_site_builds_without_a_warning(build):
    _, done = build
    assert (done.returncode, done.stderr) == (0, "")


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_outside(build):
    site, _ = build
    done = check_links(site)
    assert (done.returncode, done.stderr) == (0, "")


def test_both_lessons_and_both_languages_are_in_the_site(build):
    site, _ = build
    for name, lang in (("lesson.html", "en"), ("zh/lesson.html", "zh-CN")):
        html = (site / name).read_text(encoding="utf-8")
        assert f'lang="{lang}"' in html
        assert "allocate_for_prefill" in html


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html"),
        ('<a href="#nowhere">x</a>', "links to #nowhere"),
        ('<img src="gone.svg">', "links to gone.svg"),
        ('<script src="https://example.org/x.js"></script>', "from outside"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "from outside"),
    ],
)
def test_a_broken_or_foreign_link_is_found(tmp_path, html, complaint):
    (tmp_path / "index.html").write_text(f'<p id="here">{html}<a href="#here">y</a></p>', encoding="utf-8")
    done = check_links(tmp_path)
    assert done.returncode == 1
    assert [complaint in line for line in done.stderr.splitlines()] == [True]


def shape(text: str) -> list[str]:
    """Return a page's headings, table rows, list items and blocks of code, in order, without their words."""
    parts: list[str] = []
    for number, block in enumerate(text.split("```")):
        parts += ["code"] if number % 2 else re.findall(r"^(#+ |\| |- |\d+\. )", block, re.MULTILINE)
    return parts


@pytest.mark.parametrize("name", PAIRED)
def test_a_chinese_page_has_the_headings_tables_and_code_of_its_english_partner(name):
    assert shape(page(name, "zh")) == shape(page(name))


@pytest.mark.parametrize("folder", LANGUAGES)
def test_the_reference_names_every_command_and_option(folder):
    sections = re.split(r"^### autograder ", page("reference.md", folder), flags=re.MULTILINE)[1:]
    told = {section.split()[0]: section for section in sections}
    assert set(told) == set(main.commands)
    for name, command in main.commands.items():
        for option in (p for p in command.params if isinstance(p, click.Option)):
            for spelling in option.opts:
                assert f"`{spelling}`" in told[name], f"{name} {spelling}"


@pytest.mark.parametrize("folder", LANGUAGES)
def test_the_reference_names_every_column_and_every_key(folder):
    text = page("reference.md", folder)
    schema = (ROOT / "autograder" / "reporting" / "results.schema.json").read_text(encoding="utf-8")
    assert ",".join(COLUMNS) in text
    for key in json.loads(schema)["properties"]:
        assert f"`{key}`" in text


@pytest.mark.parametrize("folder", LANGUAGES)
def test_every_setting_is_told_of_in_the_one_table(folder):
    told = re.findall(r"^\| `(\w+)`", page("course.md", folder), re.MULTILINE)
    assert sorted(told) == sorted(field.name for field in fields(Config))


@pytest.mark.parametrize("folder", LANGUAGES)
def test_the_specification_gives_the_points_of_the_hidden_tests(folder):
    rows = re.findall(r"^\| ([qg]\d) \|.*\| (\d+) \|$", page("specification.md", folder), re.MULTILINE)
    points = {question: int(number) for question, number in rows}
    files = sorted((ROOT / "autograder" / "hidden_tests").glob("*.py"))
    cases = re.findall(r'name="(\w+)\.\w+", points=(\d+)', "".join(f.read_text(encoding="utf-8") for f in files))
    assert points == {question: sum(int(p) for q, p in cases if q == question) for question in dict(cases)}
    assert {s.question for s in scenarios().values()} < set(points)


@pytest.mark.parametrize("folder", LANGUAGES)
def test_the_design_gives_a_reason_for_every_dependency(folder):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in (re.match(r"[\w-]+", line)[0] for line in project["dependencies"]):
        assert f"`{name}`" in page("design.md", folder)


@pytest.mark.parametrize("folder", LANGUAGES)
def test_the_design_names_every_part_of_the_package(folder):
    text = page("design.md", folder)
    for path in (ROOT / "autograder").iterdir():
        if path.is_dir() and (path / "__init__.py").exists():
            assert f"| `{path.name}/` |" in text


@pytest.mark.parametrize("folder", LANGUAGES)
def test_every_sentence_in_the_faq_is_one_that_the_program_says(folder):
    sources = [*(ROOT / "autograder").rglob("*.py"), *(ROOT / "autograder").rglob("*.toml"), ROOT / "ci" / "setup"]
    said = re.sub(r'"\n\s*f?"', "", "".join(path.read_text(encoding="utf-8") for path in sources))
    sentences = re.findall("^\\| “(.+?)” \\|", page("faq.md", folder), re.MULTILINE)
    assert len(sentences) >= 18
    assert [sentence for sentence in sentences if sentence not in said] == []


def test_a_page_stands_among_pages_of_its_language(build):
    site, _ = build
    for name, own, other in (("term.html", "I grade", "我要评分"), ("zh/term.html", "我要评分", "I grade")):
        html = (site / name).read_text(encoding="utf-8")
        assert own in html
        assert other not in html
