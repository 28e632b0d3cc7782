//! Archives made by hand, each wrong in one way.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::*;

struct File {
    name: &'static str,
    content: Vec<u8>,
    method: u16,
    flags: u16,
    mode: u32,
    /// What the central directory says instead of the truth.
    says_unpacked: Option<u32>,
    local_name: Option<&'static str>,
}

fn file(name: &'static str, content: &[u8]) -> File {
    File {
        name,
        content: content.to_vec(),
        method: DEFLATED,
        flags: 0,
        mode: 0,
        says_unpacked: None,
        local_name: None,
    }
}

fn u16s(out: &mut Vec<u8>, values: &[u16]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

fn u32s(out: &mut Vec<u8>, values: &[usize]) {
    let values = values.iter().map(|value| u32::try_from(*value).unwrap());
    out.extend(values.flat_map(u32::to_le_bytes));
}

fn zip(files: &[File]) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for file in files {
        let mut crc = Crc::new();
        crc.update(&file.content);
        let crc = usize::try_from(crc.sum()).unwrap();
        let packed = if file.method == DEFLATED {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&file.content).unwrap();
            encoder.finish().unwrap()
        } else {
            file.content.clone()
        };
        let offset = out.len();
        let unpacked = file
            .says_unpacked
            .map_or(file.content.len(), |it| it as usize);
        let local_name = file.local_name.unwrap_or(file.name);
        out.extend(FILE_MARK);
        u16s(&mut out, &[20, file.flags, file.method, 0, 0]);
        u32s(&mut out, &[crc, packed.len(), unpacked]);
        u16s(&mut out, &[u16::try_from(local_name.len()).unwrap(), 0]);
        out.extend(local_name.as_bytes());
        out.extend(&packed);
        central.extend(CENTRAL_MARK);
        u16s(&mut central, &[0x0314, 20, file.flags, file.method, 0, 0]);
        u32s(&mut central, &[crc, packed.len(), unpacked]);
        u16s(
            &mut central,
            &[u16::try_from(file.name.len()).unwrap(), 0, 0, 0, 0],
        );
        u32s(&mut central, &[(file.mode as usize) << 16, offset]);
        central.extend(file.name.as_bytes());
    }
    let offset = out.len();
    let count = u16::try_from(files.len()).unwrap();
    out.extend(&central);
    out.extend(EMPTY_MARK);
    u16s(&mut out, &[0, 0, count, count]);
    u32s(&mut out, &[central.len(), offset]);
    u16s(&mut out, &[0]);
    out
}

const JSON: &[u8] = br#"{"bookmarks":[]}"#;

#[test]
fn the_json_files_come_out_and_nothing_else() {
    let stored = File {
        method: STORED,
        mode: MODE_FILE | 0o644,
        ..file("backup/b.json", b"{}")
    };
    let folder = File {
        mode: MODE_FOLDER | 0o755,
        ..file("backup/", b"")
    };
    let other = File {
        method: 99,
        ..file("backup/picture.png", b"x")
    };
    let archive = zip(&[folder, file("backup/A.JSON", JSON), stored, other]);
    assert!(is_archive(&archive));
    assert_eq!(
        json_files(&archive).unwrap(),
        [JSON.to_vec(), b"{}".to_vec()]
    );
    assert_eq!(json_files(&zip(&[])).unwrap(), Vec::<Vec<u8>>::new());
}

#[test]
fn one_bad_entry_refuses_the_archive() {
    use ArchiveFault::*;
    let with = |bad: File| json_files(&zip(&[file("a.json", JSON), bad])).unwrap_err();
    for name in [
        "../x.json",
        "a/../../x",
        "/etc/passwd",
        "a//b",
        "./a",
        "a\\b",
        "C:x",
        "",
        "a\nb",
        "a/..",
        "/",
        "A.json",
    ] {
        assert_eq!(with(file(name, b"x")), Path, "{name}");
    }
    for name in ["x.zip", "a/X.TAR", "x.json.gz", "x.7z"] {
        assert_eq!(with(file(name, b"x")), Nested, "{name}");
    }
    for mode in [0o120_777, 0o060_600, 0o020_600, 0o010_600, 0o140_600] {
        let link = File {
            mode,
            ..file("link", b"/etc/passwd")
        };
        assert_eq!(with(link), Link, "{mode:o}");
    }
    let locked = File {
        flags: ENCRYPTED,
        ..file("x.json", b"x")
    };
    assert_eq!(with(locked), Locked);
    let nested = file("x.json", &zip(&[file("a.json", JSON)]));
    assert_eq!(with(nested), Nested);
    let method = File {
        method: 12,
        ..file("x.json", b"x")
    };
    assert_eq!(with(method), Broken);
    let renamed = File {
        local_name: Some("y.json"),
        ..file("x.json", b"x")
    };
    assert_eq!(with(renamed), Broken);
}

#[test]
fn bombs_end_before_they_are_unpacked() {
    use ArchiveFault::*;
    let bomb = file("x.json", &vec![b' '; 8 * 1024 * 1024]);
    assert_eq!(json_files(&zip(&[bomb])), Err(Size));
    // One that says it is small: nothing comes out beyond what it said.
    let liar = File {
        says_unpacked: Some(10),
        ..file("x.json", &vec![b' '; 8 * 1024 * 1024])
    };
    assert_eq!(json_files(&zip(&[liar])), Err(Broken));
    let huge = File {
        says_unpacked: Some(0xffff_fffe),
        ..file("x.json", b"x")
    };
    assert_eq!(json_files(&zip(&[huge])), Err(Size));
    let wide = File {
        says_unpacked: Some(u32::MAX),
        ..file("x.json", b"x")
    };
    assert_eq!(json_files(&zip(&[wide])), Err(Broken));
    // Many that stay under their own bound and together do not.
    let part = || File {
        method: STORED,
        ..file("", &vec![b' '; ARCHIVE_BYTES_MAX / 4])
    };
    let names = ["1.json", "2.json", "3.json", "4.json", "5.json"];
    let parts = |count: usize| -> Vec<File> {
        names
            .iter()
            .take(count)
            .map(|name| File { name, ..part() })
            .collect()
    };
    assert_eq!(json_files(&zip(&parts(4))).map(|files| files.len()), Ok(4));
    assert_eq!(json_files(&zip(&parts(5))), Err(Size));
}

#[test]
fn the_number_of_files_is_bounded() {
    let names: Vec<&'static str> = (0..=ARCHIVE_ENTRIES_MAX)
        .map(|at| &*Box::leak(format!("{at}.txt").into_boxed_str()))
        .collect();
    let files = |count: usize| -> Vec<File> {
        names
            .iter()
            .take(count)
            .map(|name| file(name, b""))
            .collect()
    };
    assert!(json_files(&zip(&files(ARCHIVE_ENTRIES_MAX))).is_ok());
    let more = json_files(&zip(&files(ARCHIVE_ENTRIES_MAX + 1)));
    assert_eq!(more, Err(ArchiveFault::Entries));
}

#[test]
fn damage_anywhere_is_an_error_and_never_a_panic() {
    let whole = zip(&[file("a.json", JSON), file("b.json", b"{\"x\":[1,2,3]}")]);
    for end in 0..whole.len() {
        assert!(json_files(&whole[..end]).is_err(), "cut at {end}");
    }
    for at in 0..whole.len() {
        for value in [0x00, 0xff, whole[at] ^ 0x80] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            // Some bytes mean nothing here; what must not happen is other content than was packed.
            if let Ok(files) = json_files(&damaged) {
                let known = |file: &Vec<u8>| file == JSON || file == b"{\"x\":[1,2,3]}";
                assert!(files.iter().all(known), "byte {at}");
            }
        }
    }
}
