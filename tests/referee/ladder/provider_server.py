"""A provider of sign-ins for tests: OpenID Connect and GitHub's OAuth 2, on a port of this machine, with real keys.

It checks what a careful provider checks: client, secret, address to go back to, PKCE; each code works once. `lies`
change what it says, so that a test can see that a lie is noticed.
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from referee.ladder.config import ProviderConfig

CLIENT, SECRET = "crosstown", "a secret between the two"
KEY = RSAKey.generate_key(2048, {"kid": "one"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "one"})


@dataclass
class ProviderServer:
    """`person` is who is signed in there. `asked` are the requests that came from the ladder, not from browsers."""

    address: str = ""
    person: str = "1001"
    email: str = "ann@school.example"
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    lies: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def oidc(self) -> ProviderConfig:
        return ProviderConfig("school", "School", "oidc", self.address, CLIENT, SECRET)

    @property
    def github(self) -> ProviderConfig:
        return ProviderConfig("github", "GitHub", "github", self.address, CLIENT, SECRET, self.address)

    def sign_in(self, url: str) -> dict[str, str]:
        """What the person's browser brings back from this address of the provider: state and code."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = f"code{len(self.codes)}"
        self.codes[code] = asked
        return {"state": asked["state"], "code": code}

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        asked = self.codes.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if authorization != f"Basic {basic}" or asked is None or form.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if challenge.rstrip(b"=").decode() != asked["code_challenge"]:
            return 400, {"error": "invalid_grant", "error_description": "the verifier is wrong"}
        answer: dict[str, Any] = {"access_token": "access", "token_type": "bearer"}
        if "openid" in asked.get("scope", ""):
            answer["id_token"] = self.id_token(asked)
        return 200, answer

    def id_token(self, asked: dict[str, str]) -> str:
        now = int(time.time())
        claims = {"iss": self.address, "sub": self.person, "aud": CLIENT, "exp": now + 300, "iat": now,
                  "nonce": asked["nonce"], "email": self.email, "email_verified": True}  # fmt: skip
        claims |= self.lies.get("claims", {})
        if self.lies.get("alg") == "none":
            return ".".join([_text({"alg": "none"}), _text(claims), ""])
        if self.lies.get("alg") == "HS256":  # signed with the public key, which everybody has
            text = f"{_text({'alg': 'HS256', 'kid': 'one'})}.{_text(claims)}"
            made = hmac.digest(KEY.as_pem(private=False), text.encode(), "sha256")
            return f"{text}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"
        key = OTHER_KEY if self.lies.get("key") else KEY
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, key)

    def described(self) -> dict[str, Any]:
        made = {"issuer": self.address, "authorization_endpoint": f"{self.address}/authorize",
                "token_endpoint": f"{self.address}/token", "jwks_uri": f"{self.address}/keys"}  # fmt: skip
        return made | self.lies.get("described", {})


def _text(values: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).rstrip(b"=").decode()


@contextmanager
def provider_server() -> Iterator[ProviderServer]:
    """A provider that runs until the end of the block."""
    made = ProviderServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            made.asked.append(path)
            answers: dict[str, Callable[[], Any]] = {
                "/.well-known/openid-configuration": made.described,
                "/keys": lambda: {"keys": [KEY.as_dict(private=False)]},
                "/user": lambda: (
                    {"id": int(made.person), "login": "ann", "email": made.email} | made.lies.get("user", {})
                ),
            }
            if path == "/authorize":
                url = f"{made.address}{self.path}"
                back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
                self.send_response(302)
                self.send_header("Location", f"{back}?{urlencode(made.sign_in(url))}")
                self.end_headers()
                return
            if path == "/user" and self.headers.get("Authorization") != "Bearer access":
                self._send(401, {})
                return
            self._send(200 if path in answers else 404, answers.get(path, dict)())

        def do_POST(self) -> None:
            made.asked.append(self.path)
            text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(text).items()}
            self._send(*made.token(form, self.headers.get("Authorization", "")))

        def _send(self, status: int, values: Any) -> None:
            data = json.dumps(values).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
