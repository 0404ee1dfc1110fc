"""The tables of `ladder.db`, their version, and how older ones become it."""

SCHEMA_VERSION = 3

_V1 = """
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

_V2 = """
ALTER TABLE owners ADD COLUMN public_id TEXT NOT NULL DEFAULT ''; -- what journals have instead of the name
ALTER TABLE owners ADD COLUMN seen_as TEXT NOT NULL DEFAULT '';   -- the name as people read it
ALTER TABLE owners ADD COLUMN password TEXT NOT NULL DEFAULT '';  -- argon2id with its salt; '' for none
ALTER TABLE owners ADD COLUMN approved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE owners ADD COLUMN deleted TEXT NOT NULL DEFAULT '';   -- when; the row stays, so that nobody gets its bots
UPDATE owners SET approved = 1, public_id = 'o' || lower(hex(randomblob(8))), seen_as = seen_as(name);
CREATE UNIQUE INDEX owners_public_id ON owners (public_id);
CREATE INDEX owners_seen_as ON owners (seen_as);
ALTER TABLE bots ADD COLUMN seen_as TEXT NOT NULL DEFAULT '';
UPDATE bots SET seen_as = seen_as(name);
CREATE INDEX bots_seen_as ON bots (seen_as);
ALTER TABLE versions ADD COLUMN code TEXT NOT NULL DEFAULT '';    -- hash of the files without bot.toml
CREATE INDEX versions_code ON versions (code);
CREATE TABLE identities (
    provider TEXT NOT NULL,             -- issuer of OpenID Connect, or 'github:' and its server
    subject TEXT NOT NULL,              -- what the provider calls the person for good
    owner_id INTEGER NOT NULL REFERENCES owners (id),
    created TEXT NOT NULL,
    PRIMARY KEY (provider, subject)
) WITHOUT ROWID;
CREATE TABLE sign_ins (
    digest BLOB PRIMARY KEY,            -- of the state that is on its way to a provider and back
    provider TEXT NOT NULL,
    browser BLOB NOT NULL,              -- of the secret in the browser that began it
    verifier TEXT NOT NULL,
    nonce TEXT NOT NULL,
    owner_id INTEGER REFERENCES owners (id), -- to whose account the identity is added
    subject TEXT NOT NULL DEFAULT '',   -- once the provider has said it, until the person has chosen a name
    expires TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE resets (
    digest BLOB PRIMARY KEY,
    owner_id INTEGER NOT NULL REFERENCES owners (id),
    expires TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE sent (
    id INTEGER PRIMARY KEY,
    owner_id INTEGER NOT NULL REFERENCES owners (id),
    at TEXT NOT NULL
);
CREATE INDEX sent_owner ON sent (owner_id, at);
CREATE TABLE acts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT NOT NULL,                  -- public id of the organiser, '' for the machine's shell
    what TEXT NOT NULL,
    subject TEXT NOT NULL,              -- public id of an owner, name of a bot or of a division
    reason TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}',  -- JSON: what the process that plays needs to carry it out
    done TEXT NOT NULL DEFAULT ''       -- 'yes', or why it was not carried out; '' while it waits
);
CREATE TABLE switches (
    name TEXT PRIMARY KEY,              -- 'notice', 'drain', or 'pause:' and a division
    value TEXT NOT NULL
) WITHOUT ROWID;
"""

_V3 = """
ALTER TABLE tokens ADD COLUMN signed_in_with INTEGER REFERENCES tokens (id); -- the token that ends this one, too
"""

SCHEMA = _V1 + _V2 + _V3

MIGRATIONS: dict[int, str] = {1: _V2, 2: _V3}
"""From each older version to the next one. `seen_as` is a function that `database` gives to SQLite."""
