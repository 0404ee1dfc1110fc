"""The tokens with which bots say who they are."""

from hashlib import sha256

MOST_TOKEN = 4096
"""Characters. A longer one is nobody's, and is not worth a hash."""


def token_digest(token: str) -> bytes:
    """By which a token is known where the token itself is kept nowhere."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
