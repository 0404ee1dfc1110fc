"""Who may change something: a page of ours, in a browser that reached us under a name of ours."""

import secrets
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_BYTES = 65536
"""Of a request's body."""

SENT_IN = "x-crosstown-token"


@dataclass(frozen=True, slots=True)
class Guard:
    """`hosts` are the names that a request may be addressed to; None for any (another site that points its own name
    here could then act for whoever visits it, as far as it can read our pages)."""

    hosts: frozenset[str] | None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """Stands in our pages alone: another site cannot read it."""

    def check_host(self, request: Request) -> None:
        """403 for a request under a name that is not ours (DNS rebinding)."""
        name = request.url.hostname or ""
        if self.hosts is not None and name not in self.hosts:
            raise HTTPException(403, "This address is not one of this server's own; use the one it printed.")

    def check(self, request: Request, token: str) -> None:
        """403 unless a page of ours asks for it."""
        self.check_host(request)
        own = f"{request.url.scheme}://{request.url.netloc}"
        headers = request.headers
        if headers.get("origin") != own or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise HTTPException(403, "Only the pages of this server may ask for that.")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            raise HTTPException(403, "The page is from before the server was started again: load it anew.")


async def body_of(request: Request) -> bytes:
    """The body; 413 if it is too long to be one of ours."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MOST_BYTES:
            raise HTTPException(413, "This is longer than anything that is asked for here.")
    return bytes(data)
