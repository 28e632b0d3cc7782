//! The JSON files of a zip archive, and nothing else of it. Every name in it is judged, also of files that are
//! not read: an archive with one bad name is refused as a whole.
//!
//! Only the plain form is read: one disk, no 64-bit sizes, stored or deflated. Sizes are believed as little as
//! names: what unpacks to more than was announced, or to more than the bounds, ends there.

use std::collections::BTreeSet;
use std::io::Read as _;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::limits::{ARCHIVE_BYTES_MAX, ARCHIVE_ENTRIES_MAX, ARCHIVE_RATIO_MAX};
use crate::reports::ArchiveFault;

const FILE_MARK: &[u8] = b"PK\x03\x04";
const EMPTY_MARK: &[u8] = b"PK\x05\x06";
const CENTRAL_MARK: &[u8] = b"PK\x01\x02";
const END_BYTES: usize = 22;
const COMMENT_BYTES_MAX: usize = 65_535;
const CENTRAL_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
const NAME_BYTES_MAX: usize = 255;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;
/// Of the mode of a Unix file: what kind it is.
const MODE_KIND: u32 = 0o170_000;
const MODE_FILE: u32 = 0o100_000;
const MODE_FOLDER: u32 = 0o040_000;
/// Smaller ones may repeat themselves as they like.
const RATIO_FROM_BYTES: usize = 1024 * 1024;
const ARCHIVES: [&str; 12] = [
    ".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".zst", ".7z", ".rar", ".jar", ".lz4", ".br",
];

struct Entry<'a> {
    name: &'a str,
    method: u16,
    crc: u32,
    packed: usize,
    unpacked: usize,
    offset: usize,
}

pub(crate) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(FILE_MARK) || bytes.starts_with(EMPTY_MARK)
}

pub(crate) fn json_files(bytes: &[u8]) -> Result<Vec<Vec<u8>>, ArchiveFault> {
    let mut files = Vec::new();
    let mut total = 0_usize;
    for entry in entries(bytes)? {
        if !entry.name.to_ascii_lowercase().ends_with(".json") {
            continue;
        }
        let room = ARCHIVE_BYTES_MAX.saturating_sub(total);
        let file = unpack(bytes, &entry, room)?;
        if is_archive(&file) {
            return Err(ArchiveFault::Nested);
        }
        total += file.len();
        files.push(file);
    }
    Ok(files)
}

fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, ArchiveFault> {
    let end = end_record(bytes).ok_or(ArchiveFault::Broken)?;
    let here = [u16_at(end, 4), u16_at(end, 6)];
    let (count, all) = (u16_at(end, 8), u16_at(end, 10));
    if here != [Some(0), Some(0)] || count != all {
        return Err(ArchiveFault::Broken);
    }
    let count = usize::from(count.ok_or(ArchiveFault::Broken)?);
    if count > ARCHIVE_ENTRIES_MAX {
        return Err(ArchiveFault::Entries);
    }
    let mut at = size_at(end, 16)?;
    let mut names = BTreeSet::new();
    let mut found = Vec::with_capacity(count);
    for _ in 0..count {
        let (entry, next) = central_entry(bytes, at)?;
        // Two files of one name: which of them counts depends on who reads.
        if !names.insert(entry.name.to_ascii_lowercase()) {
            return Err(ArchiveFault::Path);
        }
        found.push(entry);
        at = next;
    }
    Ok(found)
}

/// The last record, whose comment reaches exactly to the end.
fn end_record(bytes: &[u8]) -> Option<&[u8]> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(COMMENT_BYTES_MAX);
    (first..=last).rev().find_map(|at| {
        let record = bytes.get(at..)?;
        let comment = usize::from(u16_at(record, 20)?);
        let ends = record.starts_with(EMPTY_MARK) && record.len() == END_BYTES + comment;
        ends.then_some(record)
    })
}

fn central_entry(bytes: &[u8], at: usize) -> Result<(Entry<'_>, usize), ArchiveFault> {
    let broken = ArchiveFault::Broken;
    let record = bytes.get(at..).ok_or(broken)?;
    if !record.starts_with(CENTRAL_MARK) {
        return Err(broken);
    }
    let half = |at| u16_at(record, at).ok_or(broken);
    let (name_bytes, extra) = (usize::from(half(28)?), usize::from(half(30)?));
    let comment = usize::from(half(32)?);
    let name_end = CENTRAL_BYTES + name_bytes;
    let name = record.get(CENTRAL_BYTES..name_end).ok_or(broken)?;
    let name = std::str::from_utf8(name).map_err(|_| ArchiveFault::Path)?;
    if half(8)? & ENCRYPTED != 0 {
        return Err(ArchiveFault::Locked);
    }
    let mode = u32_at(record, 38).ok_or(broken)? >> 16;
    judge_mode(mode)?;
    judge_name(name)?;
    let entry = Entry {
        name,
        method: half(10)?,
        crc: u32_at(record, 16).ok_or(broken)?,
        packed: size_at(record, 20)?,
        unpacked: size_at(record, 24)?,
        offset: size_at(record, 42)?,
    };
    Ok((entry, at + name_end + extra + comment))
}

fn judge_mode(mode: u32) -> Result<(), ArchiveFault> {
    // Zero: written by a system that knows no modes.
    match mode & MODE_KIND {
        0 | MODE_FILE | MODE_FOLDER => Ok(()),
        _ => Err(ArchiveFault::Link),
    }
}

fn judge_name(name: &str) -> Result<(), ArchiveFault> {
    let inside = name.strip_suffix('/').unwrap_or(name);
    let leads_out = |part: &str| part.is_empty() || part == "." || part == "..";
    let is_strange = |c: char| c.is_control() || matches!(c, '\\' | ':');
    if name.len() > NAME_BYTES_MAX || name.contains(is_strange) || inside.split('/').any(leads_out)
    {
        return Err(ArchiveFault::Path);
    }
    let lower = name.to_ascii_lowercase();
    if ARCHIVES.iter().any(|ending| lower.ends_with(ending)) {
        return Err(ArchiveFault::Nested);
    }
    Ok(())
}

fn unpack(bytes: &[u8], entry: &Entry<'_>, room: usize) -> Result<Vec<u8>, ArchiveFault> {
    if entry.unpacked > room || is_bomb(entry.packed, entry.unpacked) {
        return Err(ArchiveFault::Size);
    }
    let packed = packed_bytes(bytes, entry).ok_or(ArchiveFault::Broken)?;
    let mut unpacked = Vec::new();
    // One byte more than announced shows that the announcement was a lie.
    let most = u64::try_from(entry.unpacked)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let read = match entry.method {
        STORED => packed.take(most).read_to_end(&mut unpacked),
        DEFLATED => DeflateDecoder::new(packed)
            .take(most)
            .read_to_end(&mut unpacked),
        _ => return Err(ArchiveFault::Broken),
    };
    let mut crc = Crc::new();
    crc.update(&unpacked);
    if read.is_err() || unpacked.len() != entry.unpacked || crc.sum() != entry.crc {
        return Err(ArchiveFault::Broken);
    }
    Ok(unpacked)
}

fn is_bomb(packed: usize, unpacked: usize) -> bool {
    unpacked > RATIO_FROM_BYTES && unpacked / ARCHIVE_RATIO_MAX > packed
}

/// The bytes behind the entry's second head, which has to be about the same file.
fn packed_bytes<'a>(bytes: &'a [u8], entry: &Entry<'_>) -> Option<&'a [u8]> {
    let record = bytes.get(entry.offset..)?;
    let name_end = LOCAL_BYTES.checked_add(usize::from(u16_at(record, 26)?))?;
    let same = record.starts_with(FILE_MARK)
        && u16_at(record, 8)? == entry.method
        && record.get(LOCAL_BYTES..name_end)? == entry.name.as_bytes();
    let begin = name_end.checked_add(usize::from(u16_at(record, 28)?))?;
    let end = begin.checked_add(entry.packed)?;
    if same { record.get(begin..end) } else { None }
}

fn u16_at(record: &[u8], at: usize) -> Option<u16> {
    let bytes = record.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_le_bytes(*bytes))
}

fn u32_at(record: &[u8], at: usize) -> Option<u32> {
    let bytes = record.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes))
}

/// A size or an offset. All bits set means that it stands elsewhere, in 64 bits.
fn size_at(record: &[u8], at: usize) -> Result<usize, ArchiveFault> {
    let size = u32_at(record, at).ok_or(ArchiveFault::Broken)?;
    if size == u32::MAX {
        return Err(ArchiveFault::Broken);
    }
    usize::try_from(size).map_err(|_| ArchiveFault::Broken)
}

#[cfg(test)]
mod tests;
