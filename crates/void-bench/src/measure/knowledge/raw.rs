//! The same pages in FTS5 and nothing else, and a durable commit of a text and nothing else, in a file of its own.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::Outcome;

pub(super) struct Raw(Connection);

impl Raw {
    pub(super) fn filled(folder: &Path, pages: &[(String, String)]) -> Outcome<Self> {
        let mut connection = Connection::open(folder.join("raw.db"))?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
             CREATE VIRTUAL TABLE pages USING fts5 (title, body); \
             CREATE TABLE texts (id INTEGER PRIMARY KEY, body TEXT NOT NULL);",
        )?;
        let filling = connection.transaction()?;
        for (title, body) in pages {
            let sql = "INSERT INTO pages (title, body) VALUES (?1, ?2)";
            filling.prepare_cached(sql)?.execute(params![title, body])?;
        }
        filling.commit()?;
        Ok(Self(connection))
    }

    /// The best by BM25, with their titles and snippets.
    pub(super) fn search(&self, query: &str, limit: u32) -> Outcome<usize> {
        let sql = "SELECT rowid, title, snippet(pages, 1, '[', ']', '…', 32) FROM pages WHERE pages MATCH ?1 \
            ORDER BY bm25(pages, 3.0, 1.0) LIMIT ?2";
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query(params![query, limit])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            bytes += row.get_ref(1)?.as_str()?.len() + row.get_ref(2)?.as_str()?.len();
        }
        Ok(bytes)
    }

    pub(super) fn commit(&self, body: &str) -> Outcome<()> {
        let sql = "INSERT INTO texts (body) VALUES (?1)";
        self.0.prepare_cached(sql)?.execute(params![body])?;
        Ok(())
    }
}
