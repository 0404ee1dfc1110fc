"""The words of the box and their numbers inside the engine."""

ENERGY, ATTACK, DESTRUCTION, HEART, CELEBRITY, OUCH = range(6)
FACES = ("energy", "attack", "destruction", "heart", "celebrity", "ouch")
FACE_NUMBER = {name: number for number, name in enumerate(FACES)}

MANHATTAN, BROOKLYN, QUEENS, BRONX, STATEN_ISLAND = range(5)
BOROUGHS = ("manhattan", "brooklyn", "queens", "bronx", "staten_island")
BOROUGH_NUMBER = {name: number for number, name in enumerate(BOROUGHS)}
OUTER = (BROOKLYN, QUEENS, BRONX, STATEN_ISLAND)
NOWHERE = 5
"""The borough of a monster that is not on the board."""

ZONES = ("lower", "midtown", "upper")
ZONE_COUNT = len(ZONES)
NO_BERTH = 6
"""A space in Manhattan is `zone` on the track 2-4 and `zone + 3` on the track 5-6; this is none."""

UNITS = ("infantry", "jet", "tank")
UNIT_NUMBER = {name: number for number, name in enumerate(UNITS)}
UNIT_KINDS = len(UNITS)

STACKS_PER_BOROUGH = 3
TILES_PER_STACK = 3
STACKS = STACKS_PER_BOROUGH * len(BOROUGHS)
TILES = STACKS * TILES_PER_STACK
NO_TILE = 0
"""What lies on top of a used-up stack; tile kinds are numbered from 1."""

NOBODY = 7
"""In place of a seat."""
MARKET_SLOTS = 3
NO_CARD = 64
"""In an empty slot of the market; cards are numbered from 0 in the order of the data."""
MAX_CARDS = 64

GOALS = ("superstar", "statue_of_liberty")
TOKENS = ("web", "jinx", "carapace", "souvenir")

MONSTERS = ("Captain Fish", "Drakonis", "Kong", "Mantis", "Rob", "Sheriff")
"""By seat; they differ in name only."""
