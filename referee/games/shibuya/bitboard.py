"""The 8x8 fields as bits of one integer.

Field (x, y), x left to right and y bottom to top, has the index x + 8*y and the bit 1 << (x + 9*y): the empty
ninth column keeps shifts from running over the edge. Slot (X, Y), two fields wide and high, has the index X + 4*Y.
"""

SIDE = 8
FIELDS = SIDE * SIDE
SLOTS_PER_SIDE = 4
SLOTS = SLOTS_PER_SIDE * SLOTS_PER_SIDE
STRIDE = SIDE + 1
BOARD_BITS = STRIDE * SIDE
"""Number of the first bit above the board."""

FIELD_BITS = tuple(1 << (i % SIDE + STRIDE * (i // SIDE)) for i in range(FIELDS))
"""Field index to bit."""
FIELD_OF_BIT = {bit: i for i, bit in enumerate(FIELD_BITS)}
"""Bit to field index."""

CORNER_OFFSETS = ((0, 1), (1, 1), (1, 0), (0, 0))
"""(dx, dy) of a tile's fields within its slot, clockwise from the top left corner."""
CORNER_BITS = tuple(1 << (dx + STRIDE * dy) for dx, dy in CORNER_OFFSETS)
SLOT_SHIFTS = tuple(2 * (s % SLOTS_PER_SIDE) + STRIDE * 2 * (s // SLOTS_PER_SIDE) for s in range(SLOTS))
"""How far a pattern of `CORNER_BITS` is shifted to lie on a slot."""
SLOT_MASKS = tuple(sum(CORNER_BITS) << shift for shift in SLOT_SHIFTS)
SLOT_FIELDS = tuple(tuple(FIELD_OF_BIT[bit << shift] for bit in CORNER_BITS) for shift in SLOT_SHIFTS)
"""Per slot its four field indices, clockwise from the top left corner."""
SLOT_OF_FIELD = tuple(i % SIDE // 2 + SLOTS_PER_SIDE * (i // SIDE // 2) for i in range(FIELDS))
BIT_AT = (0, *(1 << number for number in range(BOARD_BITS)))
"""`mask.bit_length()` to the highest bit of a mask."""
FIELD_AT = tuple(FIELD_OF_BIT.get(bit, -1) for bit in BIT_AT)
"""`mask.bit_length()` to the index of its highest field."""
TILE_AT = tuple(SLOT_MASKS[SLOT_OF_FIELD[i]] if i >= 0 else 0 for i in FIELD_AT)
"""`mask.bit_length()` to the mask of the four fields on the tile of its highest field."""

_SLOT_CORNERS = sum(1 << shift for shift in SLOT_SHIFTS)
_WHOLE_TILE = sum(CORNER_BITS)


def mask_of(fields: tuple[int, ...] | list[int]) -> int:
    """The mask of these field indices."""
    return sum(FIELD_BITS[i] for i in fields)


def fields_of(mask: int) -> tuple[int, ...]:
    """The field indices of a mask, ascending."""
    found = []
    while mask:
        length = mask.bit_length()
        mask ^= BIT_AT[length]
        found.append(FIELD_AT[length])
    found.reverse()
    return tuple(found)


def tiles_of(mask: int) -> int:
    """All fields of the slots on which `mask` has a field."""
    mask |= mask >> 1
    mask |= mask >> STRIDE
    return (mask & _SLOT_CORNERS) * _WHOLE_TILE


def neighbours_of(mask: int) -> int:
    """The fields orthogonally next to `mask`; bits off the board may be set too."""
    return mask << 1 | mask >> 1 | mask << STRIDE | mask >> STRIDE


_NEXT = {bit: neighbours_of(bit) for bit in FIELD_BITS}


def flood(seed: int, region: int) -> int:
    """`seed`, one bit, and every field of `region` connected to it orthogonally through `region`, without `seed`."""
    reached = seed
    edge = _NEXT[seed] & region
    while edge:
        reached |= edge
        region ^= edge
        edge = (edge << 1 | edge >> 1 | edge << STRIDE | edge >> STRIDE) & region
    return reached
