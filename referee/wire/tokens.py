"""The tokens with which bots say who they are."""

from hashlib import sha256


def token_digest(token: str) -> bytes:
    """By which a token is known where the token itself is kept nowhere."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
