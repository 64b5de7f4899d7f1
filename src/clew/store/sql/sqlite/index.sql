-- The word index holds one message under its row's id, the trigram index four neighbours under a quarter of it, both with
-- scope marks beside the text. They keep no text (content=''), no places in it (detail=none) and no lengths: what they
-- propose is confirmed on the messages themselves. Words come in one by one; marks (M*) are part of one because some
-- letters of today were marks to SQLite's tables.
-- name: words
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
  scope, body, content='', detail=none, columnsize=0, tokenize="unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

-- name: grams
CREATE VIRTUAL TABLE IF NOT EXISTS grams USING fts5 (
  scope, body, content='', detail=none, columnsize=0, tokenize='trigram'
);
