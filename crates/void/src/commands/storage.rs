//! How large what grows is and for how long it is kept, in words: for `void status` and `void doctor`.

use void_api::status::StorageResponse;

const KIB: u64 = 1024;

/// `12.3 MiB, attachments 4.0 MiB, WAL 0.5 MiB`.
pub(super) fn bytes(storage: &StorageResponse) -> String {
    let mut parts = vec![in_units(storage.database_bytes)];
    if storage.attachment_bytes > 0 {
        parts.push(format!(
            "attachments {}",
            in_units(storage.attachment_bytes)
        ));
    }
    if let Some(log) = storage.wal_bytes {
        parts.push(format!("WAL {}", in_units(log)));
    }
    parts.join(", ")
}

/// `40 facts, 12 messages, …`, largest first.
pub(super) fn rows(storage: &StorageResponse) -> String {
    let mut rows: Vec<_> = storage.rows.iter().collect();
    rows.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    joined(rows.iter().map(|(table, count)| {
        let table = table.replace('_', " ");
        let table = match count {
            1 => table.strip_suffix('s').unwrap_or(&table),
            _ => &table,
        };
        format!("{count} {table}")
    }))
}

/// `ended 400 days, events 30 days, …, the audit, revisions and attachments for ever`.
pub(super) fn kept(storage: &StorageResponse) -> String {
    let kinds = (storage.kept_days.iter()).map(|(kind, days)| format!("{kind} {days} days"));
    joined(kinds.chain(std::iter::once(
        "the audit, revisions and attachments for ever".to_owned(),
    )))
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

pub(super) fn in_units(bytes: u64) -> String {
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
        let read = |sent| serde_json::from_value::<StorageResponse>(sent).unwrap();
        let storage = read(json!({
            "database_bytes": 2_097_152, "wal_bytes": null, "rows": {"events": 3, "service_changes": 9, "alerts": 1},
            "kept_days": {"ended": 400, "events": 30},
        }));
        assert_eq!(bytes(&storage), "2.0 MiB");
        assert_eq!(rows(&storage), "9 service changes, 3 events, 1 alert");
        let days = "ended 400 days, events 30 days, the audit, revisions and attachments for ever";
        assert_eq!(kept(&storage), days);
        let storage = read(json!({
            "database_bytes": 0, "wal_bytes": 1, "rows": {}, "kept_days": {},
        }));
        assert_eq!(bytes(&storage), "0 bytes, WAL 1 bytes");
    }
}
