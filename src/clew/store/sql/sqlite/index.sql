-- Both indexes hold the words of one message under its row's id, and scope marks beside them. They keep no text
-- (content='') and no places within it (detail=none): phrases are confirmed on the message itself.
-- name: words
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
  scope, body, content='', detail=none, tokenize='unicode61 remove_diacritics 2'
);

-- name: grams
CREATE VIRTUAL TABLE IF NOT EXISTS grams USING fts5 (
  lineage, role, tool, body, content='', detail=none, tokenize='trigram'
);
