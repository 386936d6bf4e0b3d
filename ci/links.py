"""Check a built site without a network: every link inside it leads somewhere, and nothing is loaded from outside."""

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
OUTSIDE = ("http", "https")


@dataclass
class Page(HTMLParser):
    """What one page links to, what it loads, and which places in it can be linked to."""

    anchors: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one tag."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        if LOADED.get(tag) in values:
            self.loads.add(values[LOADED[tag]])


def problems(site: Path) -> list[str]:
    """Return one sentence per broken link and per thing loaded from outside, sorted."""
    pages = {path.resolve(): _read(path) for path in site.rglob("*.html")}
    if not pages:
        return [f"{site} holds no page; build the site first."]
    found = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        found += [f"{where} loads {url} from outside." for url in page.loads if _is_outside(url)]
        broken = [url for url in page.links | page.loads if _is_broken(path, url, pages)]
        found += [f"{where} links to {url}, which is not there." for url in broken]
    return sorted(found)


def _read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _is_outside(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in OUTSIDE or bool(parts.netloc)


def _is_broken(path: Path, url: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(url)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return True
    anchor = unquote(parts.fragment)
    return bool(anchor) and target in pages and anchor not in pages[target].anchors


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Name the folder of the built site: ci/links.py FOLDER")
    broken = problems(Path(sys.argv[1]))
    print("\n".join(broken), file=sys.stderr, end="\n" if broken else "")
    sys.exit(bool(broken))
