-- Contents and positions stand apart: a message that travels often is kept once, a position costs some sixty bytes.
-- Times are whole milliseconds. Bodies begin with one byte that says how they are packed.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- Short words that rows share: wire formats, roles, tools.
CREATE TABLE names (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);

-- What zstd was trained on from this store's own contents.
CREATE TABLE dictionaries (
  id   INTEGER PRIMARY KEY,
  body BLOB NOT NULL
);

CREATE TABLE sessions (
  no         INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  source     TEXT NOT NULL,
  model      TEXT NOT NULL,
  title      TEXT NOT NULL,
  goal       TEXT NOT NULL,
  workspace  TEXT NOT NULL,
  kind       TEXT NOT NULL,
  parent     INTEGER REFERENCES sessions (no),
  shared     INTEGER NOT NULL,
  inherited  INTEGER NOT NULL,
  root       INTEGER NOT NULL,
  created    INTEGER NOT NULL,
  updated    INTEGER NOT NULL,
  length     INTEGER NOT NULL,
  chain      TEXT NOT NULL,
  end_reason TEXT NOT NULL,
  ended      INTEGER NOT NULL,
  open_calls TEXT NOT NULL,
  extra      TEXT NOT NULL
);
CREATE INDEX sessions_by_root ON sessions (root);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_update ON sessions (updated);

-- A message's bytes under its content address, or a text under its own (wire ''). Messages that are equal but for
-- spacing or cache marks share an address and have a row each. `masked` says that a leaked value was taken out since.
CREATE TABLE contents (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  address BLOB NOT NULL,
  wire    INTEGER NOT NULL,
  masked  INTEGER NOT NULL DEFAULT 0,
  body    BLOB NOT NULL
);
CREATE INDEX contents_by_address ON contents (substr(address, 1, 8));

-- `id` never comes again, so what an index still holds of a deleted row can't point at another.
CREATE TABLE messages (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  session  INTEGER NOT NULL,
  position INTEGER NOT NULL,
  content  INTEGER NOT NULL,
  role     INTEGER NOT NULL,
  tool     INTEGER,
  time     INTEGER NOT NULL,
  chain    BLOB NOT NULL,
  meta     TEXT
);
CREATE UNIQUE INDEX messages_by_position ON messages (session, position);

CREATE TABLE events (
  session  INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  time     INTEGER NOT NULL,
  body     BLOB NOT NULL,
  PRIMARY KEY (session, sequence)
) WITHOUT ROWID;

CREATE TABLE epochs (
  session    INTEGER NOT NULL,
  number     INTEGER NOT NULL,
  base_chain TEXT NOT NULL,
  position   INTEGER NOT NULL,
  time       INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (session, number)
) WITHOUT ROWID;

-- The row outlives the lease: its token only grows.
CREATE TABLE leases (
  session INTEGER PRIMARY KEY,
  holder  TEXT NOT NULL,
  token   INTEGER NOT NULL,
  length  INTEGER NOT NULL,
  expires INTEGER NOT NULL
);

-- `part` is the part of the message `content` that is meant, -1 where `content` is the text itself.
CREATE TABLE originals (
  session  INTEGER NOT NULL,
  address  BLOB NOT NULL,
  content  INTEGER NOT NULL,
  position INTEGER NOT NULL,
  part     INTEGER NOT NULL,
  PRIMARY KEY (session, address)
) WITHOUT ROWID;
CREATE INDEX originals_by_address ON originals (substr(address, 1, 8));

CREATE TABLE states (
  session  INTEGER NOT NULL,
  key      TEXT NOT NULL,
  position INTEGER NOT NULL,
  body     BLOB NOT NULL,
  PRIMARY KEY (session, key, position)
) WITHOUT ROWID;

CREATE TABLE usage (
  session INTEGER NOT NULL,
  model   TEXT NOT NULL,
  name    TEXT NOT NULL,
  value   REAL NOT NULL,
  PRIMARY KEY (session, model, name)
) WITHOUT ROWID;
