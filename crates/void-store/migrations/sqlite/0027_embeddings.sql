-- Vectors of what entities are found by. A document's number goes with its text, so these rows go with it. They can all be made
-- again from the texts.
CREATE TABLE embedding_models (
  slot INTEGER PRIMARY KEY NOT NULL CHECK (slot = 1),
  identity TEXT NOT NULL,
  coding INTEGER NOT NULL CHECK (coding > 0),
  centre BLOB NOT NULL,
  centred_on INTEGER NOT NULL CHECK (centred_on >= 0)
) STRICT;
-- A document whose vectors are all there, with their codes one after the other.
CREATE TABLE embedding_documents (
  number INTEGER PRIMARY KEY NOT NULL REFERENCES search_documents (number) ON DELETE CASCADE,
  coding INTEGER NOT NULL CHECK (coding > 0),
  chunk_count INTEGER NOT NULL CHECK (chunk_count > 0),
  codes BLOB NOT NULL
) STRICT;
-- The id is the number of the document times 2048, and the number of the chunk in it.
CREATE TABLE embedding_chunks (
  id INTEGER PRIMARY KEY NOT NULL,
  number INTEGER NOT NULL REFERENCES search_documents (number) ON DELETE CASCADE,
  vector BLOB NOT NULL
) STRICT;
CREATE INDEX embedding_chunks_by_document ON embedding_chunks (number);
