"""A seeded byte mutator: what a careless or hostile writer makes of good input."""

from collections.abc import Sequence
from random import Random

WORDS = (
    b"0", b"-1", b"1e999", b"NaN", b"9223372036854775808", b"18446744073709551615", b"null", b"true", b"[", b"]",
    b"{", b"}", b'"', b"'", b",", b":", b"=", b"\n", b"\r\n", b"\0", b"\\", b"\\u0000", b"\xff", b"\xed\xa0\x80",
    b"\xe2\x80\xae", b"(", b")", b"[" * 400, b"9" * 5000, b"\x80" * 10 + b"\x01", b"\x08\xff\xff\xff\xff\x0f", b"",
)  # fmt: skip
MAX_BYTES = 1 << 16


def mutate(data: bytes, corpus: Sequence[bytes], random: Random) -> bytes:
    """`data` after one to four changes."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 4))):
        data = _change(data, corpus, random)
    return data[:MAX_BYTES]


def _change(data: bytes, corpus: Sequence[bytes], random: Random) -> bytes:
    at = random.randint(0, len(data))
    end = min(len(data), at + random.choice((1, 1, 2, 4, 8, 64)))
    match random.randrange(9):
        case 0 if data:
            at = random.randrange(len(data))
            return data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
        case 1:
            return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
        case 2:
            return data[:at] + data[end:]
        case 3:
            return data[:at] + random.choice(WORDS) + data[random.choice((at, end)) :]
        case 4:
            return data[:end] + data[at:end] * random.choice((1, 2, 30)) + data[end:]
        case 5:
            other = random.choice(corpus)
            return data[:at] + other[random.randint(0, len(other)) :]
        case 6:
            return data[:at]
        case 7:
            lines = data.split(b"\n")
            one, other_line = random.randrange(len(lines)), random.randrange(len(lines))
            lines[one], lines[other_line] = lines[other_line], lines[one]
            return b"\n".join(lines)
    digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if not digits:
        return data + bytes([random.randrange(256)])
    at = random.choice(digits)
    return data[:at] + bytes([48 + random.randrange(10)]) + data[at + 1 :]
