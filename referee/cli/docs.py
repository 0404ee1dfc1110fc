"""`crosstown docs`: the pages of the documentation, which an installed Crosstown brings along."""

import json
import shlex
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

import referee
from referee.errors import UsageError

_SUFFIXES = (".md", ".json")


@dataclass(frozen=True, slots=True)
class Page:
    """`name` is what the command takes: a page's path in the folder without .md, a schema's with .json."""

    name: str
    title: str
    path: str


def docs(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of a page, such as sandbox.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list of pages as JSON.")] = False,
) -> None:
    """Print a page of the documentation. Without NAME, list all pages and print their folder.

    Example: crosstown docs sandbox
    """
    from referee.cli.output import console, print_json, print_table, print_text, table

    pages = find_pages(docs_folder())
    if name is not None:
        text = Path(_page(pages, name).path).read_text(encoding="utf-8")
        out = console()
        if out.is_terminal and not name.endswith(".json"):
            from rich.markdown import Markdown

            out.print(Markdown(text))
        else:
            print_text(text.rstrip("\n"))
    elif as_json:
        print_json([asdict(page) for page in pages])
    else:
        made = table([("page", "left"), ("title", "left")])
        for page in pages:
            made.add_row(page.name, page.title)
        print_table(console(), made)
        print_text(f"They lie in {docs_folder()}; to read one: crosstown docs NAME")


def docs_folder() -> Path:
    """In the installed package, or in the checkout it runs from."""
    package = Path(referee.__file__).parent
    installed = package / "docs"
    return installed if installed.is_dir() else package.parent / "docs"


def find_pages(folder: Path) -> list[Page]:
    """All pages of the documentation, by name."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in _SUFFIXES)
    return [Page(path.relative_to(folder).as_posix().removesuffix(".md"), _title(path), str(path)) for path in paths]


def _title(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return str(json.loads(text)["title"]) if path.suffix == ".json" else text.partition("\n")[0].lstrip("# ")


def _page(pages: list[Page], name: str) -> Page:
    """By its name, also as the file is called in a checkout. UsageError."""
    wanted = name.removeprefix("./").removeprefix("docs/").removesuffix(".md")
    found = {page.name: page for page in pages}
    if wanted not in found:
        near = get_close_matches(wanted, found, n=1)
        step = f"did you mean: crosstown docs {shlex.quote(near[0])}" if near else "see: crosstown docs"
        raise UsageError(f"there is no page '{name}'", step)
    return found[wanted]
