"""The tables of the database, their version, and how older ones become it. `docs/database.md` explains them."""

SCHEMA_VERSION = 4

RATING_COLUMNS = (
    "game",
    "players",
    "entry_id",
    "rank",
    "mu",
    "sigma",
    "elo",
    "elo_error",
    "live_mu",
    "live_sigma",
    "played",
)

_RATINGS = """
CREATE TABLE ratings (
    game TEXT NOT NULL,                 -- ratings are never pooled across games
    players INTEGER NOT NULL,           -- nor across numbers of players
    entry_id TEXT NOT NULL REFERENCES entries (entry_id),
    rank INTEGER NOT NULL,              -- by mu - 3 sigma
    mu REAL NOT NULL,                   -- the official table
    sigma REAL NOT NULL,
    elo REAL,                           -- the cross-check, and its standard error
    elo_error REAL,
    live_mu REAL,                       -- the live table
    live_sigma REAL,
    played INTEGER NOT NULL,
    PRIMARY KEY (game, players, entry_id)
) WITHOUT ROWID;
CREATE TABLE snapshots (
    name TEXT PRIMARY KEY,              -- of what was computed
    fingerprint TEXT NOT NULL,          -- of what it was computed from
    content TEXT NOT NULL               -- JSON
);
"""

SCHEMA = (
    """
CREATE TABLE entries (
    entry_id TEXT PRIMARY KEY,          -- hash of the bot's source and options
    name TEXT NOT NULL,
    version TEXT NOT NULL
);
CREATE TABLE matches (
    match_id TEXT PRIMARY KEY,
    tournament TEXT NOT NULL,
    place INTEGER NOT NULL,             -- index in the schedule: the order in which the live table is made
    block INTEGER NOT NULL,             -- matches of one block share a seed
    game TEXT NOT NULL,
    rules_version INTEGER NOT NULL,
    reason TEXT NOT NULL,               -- why it ended
    detail TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    wall_us INTEGER NOT NULL,
    seed TEXT NOT NULL,
    state_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    file_name TEXT NOT NULL,            -- the record in matches/
    file_bytes INTEGER NOT NULL,
    file_mtime_ns INTEGER NOT NULL
);
CREATE INDEX matches_place ON matches (place);
CREATE TABLE seats (
    match_id TEXT NOT NULL REFERENCES matches (match_id) ON DELETE CASCADE,
    seat INTEGER NOT NULL,
    entry_id TEXT NOT NULL REFERENCES entries (entry_id),
    team INTEGER NOT NULL,
    rank INTEGER NOT NULL,              -- 1 is the best, ties share
    points INTEGER,                     -- the game's own; NULL where a fault ended the match
    fault TEXT NOT NULL,                -- reason, or '' for none
    decisions INTEGER NOT NULL,
    total_us INTEGER NOT NULL,
    worst_us INTEGER NOT NULL,
    cpu_us INTEGER NOT NULL,
    times TEXT NOT NULL DEFAULT '',     -- histogram of move times, "bucket:count ..."
    startup_us INTEGER NOT NULL DEFAULT 0, -- until Hello, of a process that was started for this match; else 0
    lag_us INTEGER NOT NULL DEFAULT 0,  -- what was not charged; total_us, worst_us and times are what was
    worst_lag_us INTEGER NOT NULL DEFAULT 0, -- of one decision
    PRIMARY KEY (match_id, seat)
) WITHOUT ROWID;
CREATE INDEX seats_entry ON seats (entry_id);
"""
    + _RATINGS
)

MIGRATIONS = {
    # The rows of version 1 have no move times. With an impossible stamp each is read from its record once more.
    1: f"""
ALTER TABLE seats ADD COLUMN times TEXT NOT NULL DEFAULT '';
UPDATE matches SET file_mtime_ns = -1;
DROP TABLE ratings;
{_RATINGS}
""",  # noqa: S608 - our own text
    # Version 2 has no start-up times.
    2: """
ALTER TABLE seats ADD COLUMN startup_us INTEGER NOT NULL DEFAULT 0;
UPDATE matches SET file_mtime_ns = -1;
""",
    3: """
ALTER TABLE seats ADD COLUMN lag_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE seats ADD COLUMN worst_lag_us INTEGER NOT NULL DEFAULT 0;
UPDATE matches SET file_mtime_ns = -1;
""",
}
"""From each older version to the next one."""
