"""Who is answered, and who may change something.

A site elsewhere can point a name of its own here (DNS rebinding): its scripts would then read every page as if it were
theirs. So only names of ours are answered. An address is none that a site could have pointed here.
"""

import hmac
import ipaddress
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from referee.texts import one_line

MOST_BYTES = 65536
"""Of a request's body."""

MOST_FIELDS = 200
"""Of a form."""

SENT_IN = "x-crosstown-token"


class KnownNames:
    """Middleware that answers under addresses, `localhost` and `names` alone; 403 under any other name."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app = app
        self.names = frozenset(name.lower() for name in names) | {"localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self.app
        if scope["type"] == "http" and not self._is_ours(host := Headers(scope=scope).get("host", "")):
            app = PlainTextResponse(
                f"This server does not answer to the name {one_line(host)}. Use the address that it printed, or let "
                "it answer to this name, too: crosstown web --name NAME\n",
                403,
            )
        await app(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self.names or bool(ipaddress.ip_address(name))
        except ValueError:
            return False


@dataclass(frozen=True, slots=True)
class Guard:
    """Lets only our own pages change something."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def token(self, session: str) -> str:
        """What stands in the forms of the pages of a session, '' for a visitor's. Nobody else's page has the same."""
        return hmac.new(self.key, session.encode("utf-8", "surrogatepass"), "sha256").hexdigest()

    def check(self, request: Request, token: str, session: str) -> None:
        """403 unless a page of ours, of this session, asks for it."""
        own = f"{request.url.scheme}://{request.url.netloc}"
        headers = request.headers
        if headers.get("origin") != own or headers.get("sec-fetch-site", "same-origin") != "same-origin":
            raise HTTPException(403, "Only the pages of this server may ask for that.")
        if not secrets.compare_digest(token.encode("utf-8", "surrogatepass"), self.token(session).encode()):
            raise HTTPException(
                403, "The server was restarted, or you signed in or out, after this page was loaded: reload it."
            )


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form of ours; 400 and 413 for what is none."""
    text = (await body_of(request)).decode(errors="replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise HTTPException(400, f"This is not a form of this server: it has more than {MOST_FIELDS} fields.") from None


async def body_of(request: Request) -> bytes:
    """The body; 413 if it is too long to be one of ours."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > MOST_BYTES:
            raise HTTPException(413, "The request is too long.")
    return bytes(data)
