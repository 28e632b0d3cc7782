-- What entities are found by. The words are folded and made into lexemes by Void (`search_documents.rs` of the domain), so
-- this index makes none of its own: it takes what stands between blanks. It holds no text.
CREATE TABLE search_documents (
  number INTEGER PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  entity_id TEXT NOT NULL CHECK (length(entity_id) = 36),
  space_id TEXT NOT NULL,
  title TEXT NOT NULL,
  word_count INTEGER NOT NULL CHECK (word_count >= 0),
  words BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX search_documents_by_entity ON search_documents (entity_id, kind);
CREATE VIRTUAL TABLE search_index USING fts5 (
  lexemes, content = '', contentless_delete = 1, detail = none, prefix = '2 3', tokenize = "ascii tokenchars '=#%@-_/'"
);
