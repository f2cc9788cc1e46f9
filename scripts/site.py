#!/usr/bin/env python3
"""Builds the documentation site with mdBook: `scripts/site.py OUTPUT [MDBOOK]`.

The pages link to files outside of docs/ (sources, ARCHITECTURE.md). This script copies docs/ to a temporary
folder, adds the project's own pages and the linked files, rewrites the links, and runs mdBook there. It fails
if a link of the built site leads nowhere.
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pages outside of docs/ that become chapters.
PROJECT = {name: f"project/{name.replace('/', '-')}" for name in
           ["README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md"]}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def place(path: Path, linked: set) -> "str | None":
    """Returns the path in the book of a file of the repository, None for a folder."""
    name = path.relative_to(ROOT).as_posix()
    if name in PROJECT:
        return PROJECT[name]
    if path.is_dir():
        return None
    if name.startswith("docs/"):
        return name[len("docs/"):]
    linked.add(path)
    return f"source/{name}" if path.suffix in {".png", ".svg"} else f"source/{name}.txt"


def rewrite(page: Path, there: str, linked: set) -> str:
    """Returns the text of a page with links that are right at its place in the book."""
    def link(found: "re.Match") -> str:
        mark, text, target = found.groups()
        name, _, anchor = target.partition("#")
        if "://" in target or not name:
            return found.group(0)
        new = place(Path(os.path.normpath(page.parent / name)), linked)
        if new is None:
            return text
        # mdBook calls the page of a README.md index.html.
        new = re.sub(r"(^|/)README\.md$", r"\1index.md", new)
        new = os.path.relpath(new, os.path.dirname(there) or ".")
        return f"{mark}[{text}]({new}{'#' + anchor if anchor else ''})"

    # A link's text may go over several lines, so whole stretches between blocks of code are searched.
    parts = re.split(r"(^```.*?^```)", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def copy_sources(folder: Path) -> None:
    """Fills `folder` with book.toml and the pages, and the files that they link."""
    shutil.copy(ROOT / "book.toml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    linked: set = set()
    pages = {page: page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")
             if page.name != "SUMMARY.md"}
    pages |= {ROOT / name: there for name, there in PROJECT.items()}
    for page, there in pages.items():
        new = folder / "docs" / there
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(rewrite(page, there, linked), encoding="utf-8")
    for path in sorted(linked):
        new = folder / "docs" / place(path, set())
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, new)
    with open(folder / "docs/SUMMARY.md", "a", encoding="utf-8") as summary:
        summary.write("\n# Project\n\n")
        summary.writelines(f"- [{name}]({there})\n" for name, there in PROJECT.items())


class Page(html.parser.HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        self.links |= {found[name] for name in ("href", "src") if found.get(name)}


def broken_links(site: Path) -> list:
    """Returns the links of all pages whose file or anchor does not exist."""
    # The page for printing repeats all others; the page for errors has absolute links.
    paths = [path for path in site.rglob("*.html") if path.name not in {"print.html", "404.html", "toc.html"}]
    pages = {path.resolve(): Page(path) for path in paths}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            name, _, anchor = link.partition("#")
            if ":" in name:
                continue
            target = (path.parent / urllib.parse.unquote(name)).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            there = pages.get(target)
            if not target.exists() or (anchor and there and urllib.parse.unquote(anchor) not in there.anchors):
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return sorted(broken)


def main() -> int:
    output = Path(sys.argv[1]).resolve()
    mdbook = sys.argv[2] if len(sys.argv) > 2 else "mdbook"
    with tempfile.TemporaryDirectory() as folder:
        copy_sources(Path(folder))
        subprocess.run([mdbook, "build", folder, "-d", str(output)], check=True)
    broken = broken_links(output)
    for link in broken:
        print(f"broken link in the site: {link}", file=sys.stderr)
    print(f"site: {output / 'index.html'}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
