//! How large what grows is and for how long it is kept, in words: for `void status` and `void doctor`.

use serde_json::Value;

const KIB: u64 = 1024;

/// `12.3 MiB, WAL 0.5 MiB`.
pub(super) fn bytes(storage: &Value) -> String {
    let number = |name: &str| storage.get(name).and_then(Value::as_u64);
    let database = in_units(number("database_bytes").unwrap_or(0));
    match number("wal_bytes") {
        None => database,
        Some(log) => format!("{database}, WAL {}", in_units(log)),
    }
}

/// `40 audit, 120 events, …`, largest first.
pub(super) fn rows(storage: &Value) -> String {
    let mut rows = numbers(storage, "rows");
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    joined(rows.iter().map(|(table, count)| {
        let table = table.replace('_', " ");
        format!("{count} {table}")
    }))
}

/// `ended 400 days, events 30 days, …, the audit for ever`.
pub(super) fn kept(storage: &Value) -> String {
    let kinds = numbers(storage, "kept_days");
    let kinds = kinds
        .iter()
        .map(|(kind, days)| format!("{kind} {days} days"));
    joined(kinds.chain(std::iter::once("the audit for ever".to_owned())))
}

fn numbers(storage: &Value, name: &str) -> Vec<(String, u64)> {
    let object = storage.get(name).and_then(Value::as_object);
    let pairs = object.into_iter().flatten();
    pairs
        .filter_map(|(key, value)| Some((key.clone(), value.as_u64()?)))
        .collect()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn in_units(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..KIB => return format!("{bytes} bytes"),
        KIB..0x10_0000 => (KIB, "KiB"),
        0x10_0000..0x4000_0000 => (KIB * KIB, "MiB"),
        _ => (KIB * KIB * KIB, "GiB"),
    };
    let tenths = bytes.saturating_mul(10) / unit;
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sizes_have_a_unit_that_fits() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1.0 KiB"),
            (1_048_575, "1023.9 KiB"),
            (1_048_576, "1.0 MiB"),
            (1_610_612_736, "1.5 GiB"),
        ] {
            assert_eq!(in_units(bytes), text);
        }
    }

    #[test]
    fn everything_is_named_and_what_is_absent_is_not() {
        let storage = json!({
            "database_bytes": 2_097_152, "wal_bytes": null, "rows": {"events": 3, "service_changes": 9},
            "kept_days": {"ended": 400, "events": 30},
        });
        assert_eq!(bytes(&storage), "2.0 MiB");
        assert_eq!(rows(&storage), "9 service changes, 3 events");
        let days = "ended 400 days, events 30 days, the audit for ever";
        assert_eq!(kept(&storage), days);
        let storage = json!({"database_bytes": 0, "wal_bytes": 1});
        assert_eq!(bytes(&storage), "0 bytes, WAL 1 bytes");
    }
}
