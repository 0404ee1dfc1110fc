"""How actions are numbered: blocks of numbers, one for each kind of action."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

WAIT = 0
"""The action of a seat that is not asked."""
PACKED = "i"
"""Type of a packed number, as modules `array` and `memoryview` name it."""
PACKED_BYTES = array(PACKED).itemsize


def packed(numbers: Sequence[int]) -> bytes:
    """Numbers of actions, one after another, in the order of bytes of this machine."""
    return array(PACKED, numbers).tobytes()


def unpacked(numbers: bytes) -> list[int]:
    """What was packed."""
    return array(PACKED, numbers).tolist()


@dataclass(frozen=True, slots=True)
class Block:
    """The numbers of one kind of action: one for each combination of its factors, the last factor counting fastest."""

    kind: str
    meaning: str
    factors: tuple[tuple[str, int], ...] = ()
    """Name and number of values of each."""

    @property
    def size(self) -> int:
        return prod(values for _, values in self.factors)


@dataclass(frozen=True, slots=True)
class ActionSpace:
    """All numbers of a game's actions. `WAIT` comes first."""

    blocks: tuple[Block, ...]

    @property
    def size(self) -> int:
        """The number of action numbers, which start at 0."""
        return 1 + sum(block.size for block in self.blocks)

    def starts(self) -> dict[str, int]:
        """By kind, the first number."""
        return {block.kind: start for block, start in self.placed()}

    def placed(self) -> Iterator[tuple[Block, int]]:
        """Each block with its first number."""
        at = WAIT + 1
        for block in self.blocks:
            yield block, at
            at += block.size

    def factors_of(self, number: int) -> tuple[str, tuple[int, ...]]:
        """The kind of action with this number, and the values of its factors. ValueError if the number has none."""
        for block, start in self.placed():
            if start <= number < start + block.size:
                rest, found = number - start, []
                for _, values in reversed(block.factors):
                    rest, value = divmod(rest, values)
                    found.append(value)
                return block.kind, tuple(reversed(found))
        raise ValueError(f"no action has the number {number}; the numbers are {WAIT + 1} to {self.size - 1}")
