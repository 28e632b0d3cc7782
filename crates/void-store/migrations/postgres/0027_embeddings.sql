-- Vectors of what entities are found by. A document's number goes with its text, so these rows go with it. They can all be made
-- again from the texts.
CREATE TABLE embedding_models (
  slot BIGINT PRIMARY KEY NOT NULL CHECK (slot = 1),
  identity TEXT COLLATE "C" NOT NULL,
  coding BIGINT NOT NULL CHECK (coding > 0),
  centre BYTEA NOT NULL,
  centred_on BIGINT NOT NULL CHECK (centred_on >= 0)
);
-- A document whose vectors are all there, with their codes one after the other.
CREATE TABLE embedding_documents (
  number BIGINT PRIMARY KEY NOT NULL REFERENCES search_documents (number) ON DELETE CASCADE,
  coding BIGINT NOT NULL CHECK (coding > 0),
  chunk_count BIGINT NOT NULL CHECK (chunk_count > 0),
  codes BYTEA NOT NULL
);
-- The id is the number of the document times 2048, and the number of the chunk in it.
CREATE TABLE embedding_chunks (
  id BIGINT PRIMARY KEY NOT NULL,
  number BIGINT NOT NULL REFERENCES search_documents (number) ON DELETE CASCADE,
  vector BYTEA NOT NULL
);
CREATE INDEX embedding_chunks_by_document ON embedding_chunks (number);
