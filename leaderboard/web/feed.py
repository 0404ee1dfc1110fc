"""The last results of a run as an Atom feed, and its table as a page for a frame on another site."""

from collections.abc import Sequence
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import Response

from leaderboard.records import MatchRow
from leaderboard.results import result_words
from leaderboard.titles import game_title, in_words, match_label
from leaderboard.web.pages import page, wanted_run
from leaderboard.web.security import FRAMED_POLICY
from leaderboard.web.tables import tables_of
from referee.texts import one_line

MOST = 50
"""Results in a feed."""

_BEGUN = "1970-01-01T00:00:00Z"


def feed(request: Request) -> Response:
    """The matches of a run that may be looked at, the last first."""
    place = wanted_run(request)
    tables = tables_of(request, place)
    here = f"{request.url.scheme}://{request.url.netloc}/runs/{quote(place.name, safe='')}"
    text = atom(tables.facts.title or place.name, here, tables.listed[: -MOST - 1 : -1])
    return Response(text, media_type="application/atom+xml; charset=utf-8")


def atom(title: str, here: str, rows: Sequence[MatchRow]) -> str:
    """A feed of these matches of the run whose page is at `here`."""
    updated = max((row.created_at for row in rows if row.created_at), default=_BEGUN)
    name = here.rpartition("/runs/")[2]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(title)}</title>",
        f"<id>urn:crosstown:run:{escape(name)}</id>",
        f"<updated>{escape(updated)}</updated>",
        "<author><name>Crosstown</name></author>",
        f"<link href={quoteattr(here)}/>",
        f'<link rel="self" href={quoteattr(f"{here}/results.atom")}/>',
    ]
    for row in rows:
        address = f"{here}/matches/{quote(row.match_id, safe='')}"
        which = f"{game_title(row.game)}, {match_label(row).lower()}"
        lines += [
            "<entry>",
            f"<title>{_text(result_words(row))}</title>",
            f"<id>urn:crosstown:match:{escape(name)}:{escape(quote(row.match_id, safe=''))}</id>",
            f"<updated>{escape(row.created_at or _BEGUN)}</updated>",
            f"<link href={quoteattr(address)}/>",
            f"<summary>{_text(f'{which}: {in_words(row.reason)}')}</summary>",
            "</entry>",
        ]
    return "\n".join([*lines, "</feed>", ""])


def embedded(request: Request) -> Response:
    """The tables of a run alone. Any site may show this page in a frame: it has no forms, and knows no account."""
    place = wanted_run(request)
    tables = tables_of(request, place)
    answer = page(request, "embed.html", run=place, tables=tables, warnings=tables.warnings)
    answer.headers["Content-Security-Policy"] = FRAMED_POLICY
    return answer


def _text(text: str) -> str:
    """For XML, which has no control characters."""
    return escape("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in one_line(text)))
