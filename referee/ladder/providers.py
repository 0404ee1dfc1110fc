"""Signing in with an account elsewhere: OpenID Connect (GitLab, a school's own server) and GitHub's OAuth 2.

Each sign-in has a state, a PKCE verifier and, with OpenID Connect, a nonce of its own. Only the subject is read from
the provider's answer, because a provider never gives it to another account. E-mail addresses are not read, because they
prove nothing.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from leaderboard.web.hand_ins import HandInRefused, Refusal
from referee.ladder.config import ProviderConfig, is_safe

TIMEOUT_S: Final = 10.0
METADATA_S: Final = 3600.0
"""How long a provider's description and keys are kept."""

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that are accepted: none with a shared secret, and not `none`."""

_LEEWAY_S: Final = 60
_MOST_SUBJECT: Final = 255


class ProviderClient:
    """Speaks to one provider. Methods wait for it; any may be called from any thread."""

    def __init__(self, config: ProviderConfig) -> None:
        self.config = config
        self._kept: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def start(self, back: str, state: str, verifier: str, nonce: str) -> str:
        """The provider's address to which the browser is sent. UNAVAILABLE."""
        with _calling(self.config):
            more = {"nonce": nonce} if self.config.kind == "oidc" else {}
            url, _ = self._session(back).create_authorization_url(
                self._authorize_url(), state=state, code_verifier=verifier, **more
            )
            return str(url)

    def subject(self, back: str, code: str, verifier: str, nonce: str) -> str:
        """Who signed in there. UNAUTHENTICATED if the provider does not say so, UNAVAILABLE."""
        with _calling(self.config), self._session(back) as session:
            token = session.fetch_token(
                self._token_url(), code=code, code_verifier=verifier, headers={"Accept": "application/json"},
                timeout=TIMEOUT_S,
            )  # fmt: skip
            found = self._from_github(session) if self.config.kind == "github" else self._from_id_token(token, nonce)
        if not found or len(found) > _MOST_SUBJECT or not found.isprintable():
            raise _no(self.config, "it does not say who signed in")
        return found

    def _session(self, back: str) -> Any:
        oidc = self.config.kind == "oidc"
        session = OAuth2Session(
            self.config.client_id,
            self.config.secret,
            scope="openid" if oidc else "",
            redirect_uri=back,
            code_challenge_method="S256",
        )
        session.trust_env = False  # no password from a .netrc, no proxy that nobody has configured here
        return session

    def _authorize_url(self) -> str:
        if self.config.kind == "github":
            return f"{self.config.server}/login/oauth/authorize"
        return self._endpoint("authorization_endpoint")

    def _token_url(self) -> str:
        if self.config.kind == "github":
            return f"{self.config.server}/login/oauth/access_token"
        return self._endpoint("token_endpoint")

    def _from_github(self, session: Any) -> str:
        answer = session.get(f"{self.config.api}/user", timeout=TIMEOUT_S, allow_redirects=False)
        answer.raise_for_status()
        number = answer.json().get("id")
        return str(number) if type(number) is int else ""

    def _from_id_token(self, token: Mapping[str, Any], nonce: str) -> str:
        text = token.get("id_token")
        if not isinstance(text, str):
            raise _no(self.config, "it sent no ID token")
        try:
            decoded = self._decoded(text, self._keys())
        except (JoseError, ValueError):  # the keys may be others since
            self._kept.pop("keys", None)
            decoded = self._decoded(text, self._keys())
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": self.config.server},
                "aud": {"essential": True, "value": self.config.client_id},
            },
            {"nonce": nonce, "client_id": self.config.client_id, "access_token": token.get("access_token")},
        )
        claims.validate(leeway=_LEEWAY_S)
        return str(claims["sub"])

    def _decoded(self, text: str, keys: KeySet) -> Any:
        return jwt.decode(text, keys, registry=JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False))

    def _keys(self) -> KeySet:
        return KeySet.import_key_set(self._fetched("keys", self._endpoint("jwks_uri")))  # type: ignore[arg-type]

    def _endpoint(self, name: str) -> str:
        """UNAVAILABLE unless the provider names an address that nobody can listen to."""
        described = self._fetched("metadata", f"{self.config.server.rstrip('/')}/.well-known/openid-configuration")
        if described.get("issuer") != self.config.server:
            raise _trouble(self.config, f"it calls itself {described.get('issuer')!r}")
        found = described.get(name)
        if not isinstance(found, str) or not is_safe(found):
            raise _trouble(self.config, f"its {name} is {found!r}")
        return found

    def _fetched(self, name: str, address: str) -> Mapping[str, Any]:
        kept = self._kept.get(name)
        if kept is None or time.monotonic() - kept[0] > METADATA_S:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.get(address, timeout=TIMEOUT_S, allow_redirects=False)
                answer.raise_for_status()
                kept = time.monotonic(), dict(answer.json())
            self._kept[name] = kept
        return kept[1]


class _calling:  # noqa: N801 - a context manager, used as a word
    """Errors of a provider as refusals."""

    def __init__(self, config: ProviderConfig) -> None:
        self._config = config

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, HandInRefused) or error is None:
            return
        if isinstance(error, AuthlibBaseError | JoseError | KeyError):
            raise _no(self._config, _words(error)) from None
        if isinstance(error, requests.RequestException | ValueError | TypeError | AttributeError):
            raise _trouble(self._config, _words(error)) from None


def _words(error: BaseException) -> str:
    """What it says, without the codes and tokens that an address may have in it."""
    words = type(error).__name__
    with suppress(AttributeError):
        words = str(error.description or error.error or words)  # type: ignore[attr-defined]
    return words[:200]


def _no(config: ProviderConfig, why: str) -> HandInRefused:
    return HandInRefused(
        Refusal.UNAUTHENTICATED, f"the sign-in at {config.title} failed ({why})", "sign in again from the beginning"
    )


def _trouble(config: ProviderConfig, why: str) -> HandInRefused:
    return HandInRefused(
        Refusal.UNAVAILABLE,
        f"{config.title} cannot be asked now ({why})",
        "try again in a minute, or sign in with a password or a token",
        retry_after_s=60,
    )
