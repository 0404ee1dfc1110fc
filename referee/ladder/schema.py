"""The tables of `ladder.db`, their version, and how older ones become it."""

SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO counters VALUES ('changes', 0); -- goes up with every change of what the roster says
CREATE TABLE owners (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,        -- the two keys of names that people would take for each other
    drawn TEXT NOT NULL UNIQUE,
    organiser INTEGER NOT NULL,
    joined TEXT NOT NULL,
    last_seen TEXT NOT NULL DEFAULT '',
    blocked TEXT NOT NULL DEFAULT ''    -- why the owner may do nothing
);
CREATE TABLE bots (
    id INTEGER PRIMARY KEY,
    owner_id INTEGER NOT NULL REFERENCES owners (id),
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    drawn TEXT NOT NULL UNIQUE,
    remote INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    chosen_after INTEGER NOT NULL DEFAULT 0, -- a version that qualifies plays if its number is higher
    paused TEXT NOT NULL DEFAULT '',
    paused_by TEXT NOT NULL DEFAULT ''
);
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id INTEGER NOT NULL REFERENCES owners (id),
    digest BLOB NOT NULL UNIQUE,        -- of the secret, which is stored nowhere
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    scope TEXT NOT NULL,
    bot_id INTEGER REFERENCES bots (id),
    created TEXT NOT NULL,
    expires TEXT NOT NULL DEFAULT '',
    last_used TEXT NOT NULL DEFAULT '',
    over TEXT NOT NULL DEFAULT ''       -- 'revoked' or 'expired', for good: a clock may be set back
);
CREATE INDEX tokens_owner ON tokens (owner_id);
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    label TEXT NOT NULL,
    organiser INTEGER NOT NULL,
    created TEXT NOT NULL,
    expires TEXT NOT NULL DEFAULT '',
    uses_left INTEGER NOT NULL
);
CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bot_id INTEGER NOT NULL REFERENCES bots (id),
    number INTEGER NOT NULL,            -- from 1, for each bot
    content TEXT NOT NULL,              -- hash of the files, or of what a remote bot states
    games TEXT NOT NULL DEFAULT '[]',   -- the only ones that its owner wants it to play; [] for all
    status TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',     -- the version that the manifest states
    qualified INTEGER NOT NULL DEFAULT 0,
    activations INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    next_step TEXT NOT NULL DEFAULT '',
    log TEXT NOT NULL DEFAULT '',       -- name of the file
    UNIQUE (bot_id, number),
    UNIQUE (bot_id, content)
);
CREATE INDEX versions_status ON versions (status);
CREATE TABLE steps (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    began TEXT NOT NULL,
    ended TEXT NOT NULL DEFAULT '',
    took_s REAL,
    limit_s REAL,
    detail TEXT NOT NULL DEFAULT '',
    tries INTEGER NOT NULL DEFAULT 1,   -- how often it was begun: the runner may be killed in the middle
    PRIMARY KEY (version_id, name)
) WITHOUT ROWID;
CREATE TABLE qualifications (
    version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    division TEXT NOT NULL,
    state TEXT NOT NULL,                -- 'waiting', 'passed' or 'failed'
    detail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (version_id, division)
) WITHOUT ROWID;
CREATE TABLE playing (
    bot_id INTEGER NOT NULL REFERENCES bots (id),
    division TEXT NOT NULL,
    version_id INTEGER NOT NULL REFERENCES versions (id),
    PRIMARY KEY (bot_id, division)
) WITHOUT ROWID;
CREATE TABLE breaks (
    bot_id INTEGER NOT NULL REFERENCES bots (id),
    division TEXT NOT NULL,
    version_id INTEGER NOT NULL REFERENCES versions (id),
    activation INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (bot_id, division)
) WITHOUT ROWID;
CREATE TABLE keys (
    owner_id INTEGER NOT NULL REFERENCES owners (id),
    key TEXT NOT NULL,
    digest BLOB NOT NULL,               -- of what was sent with it
    version_id INTEGER NOT NULL REFERENCES versions (id),
    created TEXT NOT NULL,
    PRIMARY KEY (owner_id, key)
) WITHOUT ROWID;
"""

MIGRATIONS: dict[int, str] = {}
"""From each older version to the next one."""
