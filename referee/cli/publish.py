"""`crosstown publish`: runs as a folder of pages that need no server of ours."""

import os
from pathlib import Path
from typing import Annotated

import typer


def publish(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Run folder, or a folder that contains run folders.", show_default=False),
    ],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder to write. One that this command wrote before is replaced.",
            show_default=False,
        ),
    ],
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="NUMBER", help="Processes that draw matches.", min=1, max=256)
    ] = 1,
    url: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address of the site, such as https://games.example/cup. The links of the feeds begin with it.",
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Write runs as a static site: tables, brackets, plots, bots, and a replay of each match. Any web server can show
    it, at any address, and a browser can open index.html from the disk. For each run, embed.html has its tables for a
    frame on another page, and results.atom is a feed of its last results.

    The pages show what the pages of crosstown web --hide-live show: no match of a block that is not complete. A match
    that has not changed since the last time is not drawn again.

    Example: crosstown publish runs/cup site
    """
    from leaderboard.web.site import publish as write
    from referee.cli.output import console, print_json, print_text
    from referee.errors import UsageError
    from referee.run.folder import RunFolder
    from referee.texts import one_line, plural

    if not os.path.isdir(run):  # noqa: PTH112 - which says no to any text
        raise UsageError(f"{run} is not a folder", "give a run folder, such as runs/cup")
    if url and not url.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is not the address of a site", "begin it with https://")
    run = run.resolve()
    is_one = RunFolder(run).records.exists
    with console(stderr=True).status("") as shown:
        made = write(
            run.parent if is_one else run,
            target.absolute(),
            (run.name,) if is_one else (),
            jobs=jobs,
            url=url,
            report=lambda done, all_: shown.update(f"{done} of {all_} matches"),
        )
    if as_json:
        values = {"pages": made.pages, "replays": made.replays, "kept": made.kept, "unreadable": made.unreadable}
        left_out = {one_line(path): why for path, why in made.left_out.items()}
        print_json({**values, "left_out": left_out, "index": str(target / "index.html")})
        return
    for path, why in made.left_out.items():
        print_text(f"left out: {one_line(path)}: {why}, so it has no address; rename the folder")
    for name in made.unreadable:
        print_text(f"left out, its record cannot be read: {one_line(name)}")
    print_text(f"{plural(made.pages, 'page')} and {plural(made.replays, 'replay')} ({made.kept} as before)")
    print_text(str(target / "index.html"))
