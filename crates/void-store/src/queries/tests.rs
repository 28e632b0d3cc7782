use rusqlite::Connection;

use super::*;
use crate::migrations;

/// How SQLite would read a page, step by step.
pub(crate) fn plan(list: Paged<'_>) -> Vec<String> {
    let mut connection = Connection::open_in_memory().unwrap();
    migrations::run_sqlite(&mut connection).unwrap();
    let (sql, _) = list.statement(11).unwrap();
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let mut statement = connection.prepare(&explain).unwrap();
    let steps = statement.raw_query().mapped(|row| row.get("detail"));
    steps.collect::<Result<_, _>>().unwrap()
}

fn list() -> Select<'static> {
    Select::new("proposals", "SELECT id FROM proposals")
}

fn paged(select: Paged<'static>) -> (&'static str, Vec<Value<'static>>) {
    select.statement(11).unwrap()
}

#[test]
fn a_list_without_filters_has_an_order_and_a_limit() {
    let (sql, values) = paged(list().newest_first("id", None::<i64>));
    assert_eq!(sql, "SELECT id FROM proposals ORDER BY id DESC LIMIT $1");
    assert_eq!(values, [Value::from(11)]);
}

#[test]
fn filters_are_numbered_in_their_order_and_what_is_not_asked_for_is_left_out() {
    let select = list()
        .only_with_some("status = ?", Some("pending"))
        .only_with_some("requester_id = ?", None::<&str>)
        .only("verification IS NULL OR tier = 'risky'")
        .only_with("substr(label, 1, length(?)) = ?", "Re")
        .oldest_first("id", Some("01"));
    let (sql, values) = paged(select);
    assert_eq!(
        sql,
        "SELECT id FROM proposals WHERE (status = $1) AND (verification IS NULL OR tier = 'risky') \
         AND (substr(label, 1, length($2)) = $2) AND (id > $3) ORDER BY id LIMIT $4"
    );
    let expected = ["pending", "Re", "01"].map(Value::from);
    assert_eq!(values[..3], expected);
    assert_eq!(values[3..], [Value::from(11)]);
}

#[test]
fn a_condition_with_one_of_two_values_stands_twice() {
    let select = list()
        .only_with_either("label = ?", ["a", "b"])
        .only_with("status = ?", "pending");
    let (sql, values) = paged(select.newest_first("id", None::<i64>));
    assert_eq!(
        sql,
        "SELECT id FROM proposals WHERE ((label = $1) OR (label = $2)) AND (status = $3) ORDER BY id DESC LIMIT $4"
    );
    let expected = ["a", "b", "pending"].map(Value::from);
    assert_eq!(values[..3], expected);
}

#[test]
fn a_condition_without_its_value_and_a_value_without_its_condition_are_refused() {
    for select in [
        list().only("status = ?"),
        list().only("status = $1"),
        list().only_with("status = 'pending'", "pending"),
        list().only_with("status = $1 OR tier = ?", "pending"),
    ] {
        let refused = select.statement(&["id"], 1);
        assert!(
            matches!(refused, Err(StoreError::Internal(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn a_text_is_made_once() {
    let text = || paged(list().only("tier = 'safe'").newest_first("id", Some(3))).0;
    assert!(std::ptr::eq(text(), text()));
}

/// Every way to put up to six parts together: the numbers in the text are those of the values, one after
/// the other, and each stands for what was given with its part.
#[test]
fn placeholders_and_values_always_agree() {
    const PARTS: usize = 5;
    const LENGTH_MAX: u32 = 6;
    for choice in 0..PARTS.pow(LENGTH_MAX) {
        let mut select = list();
        let mut expected = Vec::new();
        for place in 0..LENGTH_MAX {
            let value = i64::from(place) * 10;
            select = match choice / PARTS.pow(place) % PARTS {
                0 => select,
                1 => select.only("tier = 'safe'"),
                2 => select.only_with_some("revision = ?", None::<i64>),
                3 => {
                    expected.push(value);
                    select.only_with("revision > ?", value)
                }
                _ => {
                    expected.push(value);
                    select.only_with_some("epoch < ? OR revision = ?", Some(value))
                }
            };
        }
        let cursor = choice.is_multiple_of(2).then_some(7);
        expected.extend(cursor);
        expected.push(11);
        let (sql, values) = paged(select.newest_first("id", cursor));
        let expected: Vec<Value<'_>> = expected.into_iter().map(Value::from).collect();
        assert_eq!(values, expected, "{sql}");
        assert_eq!(
            numbers(sql),
            (1..=values.len()).collect::<Vec<_>>(),
            "{sql}"
        );
    }
}

/// The numbers behind each `$`, as they stand in the text, those that repeat the one before left out.
fn numbers(sql: &str) -> Vec<usize> {
    let number = |part: &str| {
        let digits = part.find(|c: char| !c.is_ascii_digit());
        part[..digits.unwrap_or(part.len())].parse().unwrap()
    };
    let mut found: Vec<usize> = sql.split('$').skip(1).map(number).collect();
    found.dedup();
    found
}
