"""Room for the codec's memory on values that are sent again and again."""


class Wired:
    """One spare slot, no part of the value: the codec keeps there how the value looks on the wire.

    A base class because a frozen dataclass with slots has room for its fields only.
    """

    __slots__ = ("wire",)

    wire: bytes
