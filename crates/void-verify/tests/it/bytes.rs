//! No byte of an export can change without a problem.

use crate::logs::{Random, check, export, head_of, log};

fn flip_every_byte(seed: u64, count: usize) {
    let mut bytes = export(&log(&mut Random(seed), count));
    assert!(check(&bytes, None).is_intact());
    for at in 0..bytes.len() {
        let bit = 1 << (at % 8);
        bytes[at] ^= bit;
        assert!(!check(&bytes, None).is_intact(), "byte {at}");
        bytes[at] ^= bit;
    }
}

#[test]
fn every_byte_of_twenty_entries_flipped() {
    flip_every_byte(20, 20);
}

/// The bar of I28: ten minutes, in release.
#[test]
#[cfg_attr(not(feature = "deep"), ignore = "deep run")]
fn every_byte_of_a_thousand_entries_flipped() {
    flip_every_byte(23, 1000);
}

#[test]
fn every_byte_of_an_entry_replaced_by_every_other() {
    let mut random = Random(21);
    let mut entries = log(&mut random, 1);
    entries[0]["detail"] = serde_json::json!({"a\u{1f}": [-10, 0, "\n\u{b}\"\\é😀/"], "b": true});
    crate::logs::seal_from(&mut entries, 0);
    let bytes = export(&entries);
    assert!(check(&bytes, None).is_intact());
    for at in 0..bytes.len() {
        for mask in 1..=255 {
            let mut changed = bytes.clone();
            changed[at] ^= mask;
            assert!(!check(&changed, None).is_intact(), "byte {at} ^ {mask}");
        }
    }
}

#[test]
fn every_prefix_is_cut_or_lacks_the_head() {
    let entries = log(&mut Random(22), 5);
    let bytes = export(&entries);
    for end in 0..bytes.len() {
        let prefix = &bytes[..end];
        assert!(!check(prefix, Some(head_of(&entries))).is_intact(), "{end}");
        let ends_between_lines = prefix.ends_with(b"\n");
        assert_eq!(check(prefix, None).is_intact(), ends_between_lines, "{end}");
    }
}
