"""What a bot printed: the head and the tail of each stream, and how much between them was dropped."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """Bytes as printed. `head + tail` is the whole stream exactly when `dropped` (bytes) is 0.

    Of a bot that has played before it is what was printed since its match began; `earlier_bytes` came before that.
    """

    stdout_head: bytes = b""
    stdout_tail: bytes = b""
    stdout_dropped: int = 0
    stderr_head: bytes = b""
    stderr_tail: bytes = b""
    stderr_dropped: int = 0
    earlier_bytes: int = 0

    def stdout_text(self) -> str:
        """For people: undecodable bytes escaped, the gap marked."""
        return joined(self.stdout_head, self.stdout_tail, self.stdout_dropped)

    def stderr_text(self) -> str:
        """For people: undecodable bytes escaped, the gap marked."""
        return joined(self.stderr_head, self.stderr_tail, self.stderr_dropped)


def joined(head: bytes, tail: bytes, dropped: int) -> str:
    """One text of both; `dropped` are the bytes that are missing between them."""
    if not dropped:
        return (head + tail).decode(errors="backslashreplace")
    gap = f"\n[... {dropped} bytes dropped ...]\n"
    return head.decode(errors="backslashreplace") + gap + tail.decode(errors="backslashreplace")


class Capture:
    """Keeps at most `max_bytes` of a stream, in memory that does not grow after that: head first, then a ring."""

    def __init__(self, max_bytes: int) -> None:
        self._head_room = max_bytes - max_bytes // 2
        self._head = bytearray()
        self._ring_size = max_bytes // 2
        self._ring = bytearray()
        self._ring_at = 0
        self.total_bytes = 0
        self.earlier_bytes = 0
        """Of the parts before this one."""
        self.copy: Capture | None = None
        """Is fed as well."""

    def begin_part(self) -> None:
        """What comes from now on is kept, in place of what has come."""
        self.earlier_bytes += self.total_bytes
        self.total_bytes = self._ring_at = 0
        self._head.clear()
        self._ring.clear()
        self.copy = None

    def feed(self, chunk: bytes) -> None:
        """The next bytes of the stream, any amount."""
        self.total_bytes += len(chunk)
        if self.copy is not None:
            self.copy.feed(chunk)
        room = self._head_room - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        chunk = chunk[-self._ring_size :] if self._ring_size else b""
        growth = self._ring_size - len(self._ring)
        if growth > 0:
            self._ring += chunk[:growth]
            chunk = chunk[growth:]
        while chunk:
            part = chunk[: self._ring_size - self._ring_at]
            self._ring[self._ring_at : self._ring_at + len(part)] = part
            self._ring_at = (self._ring_at + len(part)) % self._ring_size
            chunk = chunk[len(part) :]

    @property
    def head(self) -> bytes:
        return bytes(self._head)

    @property
    def tail(self) -> bytes:
        return bytes(self._ring[self._ring_at :] + self._ring[: self._ring_at])

    @property
    def dropped_bytes(self) -> int:
        return self.total_bytes - len(self._head) - len(self._ring)
