//! One statement for many: the same statement with other values as one with arrays of values.
//!
//! Made from the statement's own text, so there is one text for a use case alone, on SQLite and in a flight. A
//! form that cannot be told with certainty is none, and its statements are sent one by one.

/// The statement for many, and how it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrayForm {
    pub sql: &'static str,
    pub answers: Answers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// Rows, each with the number of its values in [`NUMBER`].
    Rows,
    /// A row for each row that was changed, with the number of its values in [`NUMBER`].
    Changed,
    /// Each set of values made one row, or nothing was done at all.
    Inserted,
}

/// The column that says whose answer a row is; counted from one.
pub(crate) const NUMBER: &str = "values_number";

/// `types`: of the statement's parameters, in order. `None`: there is no such form.
pub(crate) fn array_form(sql: &str, types: &[&'static str]) -> Option<ArrayForm> {
    let numbered = numbered(sql, types.len())?;
    let from = source(types);
    let (sql, answers) = if numbered.starts_with("SELECT ") && !numbered.contains(" FOR UPDATE") {
        let sql =
            format!("SELECT q.*, u.{NUMBER} FROM {from} CROSS JOIN LATERAL ({numbered}) AS q");
        (sql, Answers::Rows)
    } else if numbered.starts_with("UPDATE ") && !has(&numbered, &[" FROM ", "RETURNING"]) {
        let (set, filter) = only_one(&numbered, " WHERE ")?;
        let sql = format!("{set} FROM {from} WHERE {filter} RETURNING u.{NUMBER}");
        (sql, Answers::Changed)
    } else if numbered.starts_with("INSERT ") && !has(&numbered, &["SELECT", " ON CONFLICT"]) {
        let (into, row) = only_one(&numbered, " VALUES (")?;
        let row = row.strip_suffix(')')?;
        let sql = format!("{into} SELECT {row} FROM {from} ORDER BY u.{NUMBER}");
        (sql, Answers::Inserted)
    } else {
        return None;
    };
    // Once for each text of a statement, of which there is a bounded number.
    let sql = Box::leak(sql.into_boxed_str());
    Some(ArrayForm { sql, answers })
}

fn has(sql: &str, words: &[&str]) -> bool {
    words.iter().any(|word| sql.contains(word))
}

fn only_one<'a>(sql: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let (before, after) = sql.split_once(word)?;
    (!after.contains(word)).then_some((before, after))
}

/// The values: a row for each set, numbered.
fn source(types: &[&'static str]) -> String {
    let arrays = (1..).zip(types).map(|(n, kind)| format!("${n}::{kind}[]"));
    let names = (1..).zip(types).map(|(n, _)| format!("v{n}, "));
    format!(
        "unnest({}) WITH ORDINALITY AS u({}{NUMBER})",
        arrays.collect::<Vec<_>>().join(", "),
        names.collect::<String>()
    )
}

/// `$1` becomes `u.v1`. `None`: it does not have just so many parameters.
fn numbered(sql: &str, count: usize) -> Option<String> {
    let mut parts = sql.split('$');
    let mut text = parts.next()?.to_owned();
    let mut seen = vec![false; count];
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let (number, rest) = part.split_at(end.unwrap_or(part.len()));
        let number: usize = number.parse().ok()?;
        *seen.get_mut(number.checked_sub(1)?)? = true;
        text.push_str("u.v");
        text.push_str(&number.to_string());
        text.push_str(rest);
    }
    (count > 0 && seen.iter().all(|seen| *seen)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(sql: &str, types: &[&'static str]) -> (&'static str, Answers) {
        let form = array_form(sql, types).unwrap();
        (form.sql, form.answers)
    }

    #[test]
    fn a_query_an_update_and_an_insert_have_a_form_for_many() {
        assert_eq!(
            form(
                "SELECT a FROM t WHERE b = $2 AND c = $1 LIMIT 1",
                &["text", "bigint"]
            ),
            (
                "SELECT q.*, u.values_number FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS \
                 u(v1, v2, values_number) CROSS JOIN LATERAL (SELECT a FROM t WHERE b = u.v2 AND c = u.v1 LIMIT 1) AS q",
                Answers::Rows
            )
        );
        assert_eq!(
            form("UPDATE t SET a = $2 WHERE id = $1", &["text", "bigint"]),
            (
                "UPDATE t SET a = u.v2 FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS u(v1, v2, values_number) \
                 WHERE id = u.v1 RETURNING u.values_number",
                Answers::Changed
            )
        );
        assert_eq!(
            form("INSERT INTO t (a, b) VALUES ($1, 0)", &["text"]),
            (
                "INSERT INTO t (a, b) SELECT u.v1, 0 FROM unnest($1::text[]) WITH ORDINALITY AS u(v1, values_number) \
                 ORDER BY u.values_number",
                Answers::Inserted
            )
        );
    }

    #[test]
    fn what_is_not_certain_has_none() {
        for sql in [
            "SELECT 1",
            "SELECT a FROM t WHERE b = $2",
            "SELECT a FROM t WHERE b = $1 FOR UPDATE",
            "UPDATE t SET a = 1 WHERE b IN (SELECT c FROM d WHERE e = $1)",
            "UPDATE t SET a = $1",
            "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO NOTHING",
            "INSERT INTO t (a) SELECT b FROM c WHERE d = $1",
            "DELETE FROM t WHERE a = $1",
        ] {
            assert_eq!(array_form(sql, &["text"]), None, "{sql}");
        }
    }
}
