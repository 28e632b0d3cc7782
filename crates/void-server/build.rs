//! Packs the web page into the program: every file of `ui/`, as it is and compressed, under one version
//! that is the hash of all of them.

#![expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script by its environment"
)]

#[path = "src/assets/pack.rs"]
mod pack;

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

const VERSION_DIGITS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("ui");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=src/assets/pack.rs");
    // A debug build reads the files from the source tree at every request.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if is_release {
        println!("cargo::rerun-if-changed={}", root.display());
    }
    let strings = root.join("strings.js");
    println!("cargo::rerun-if-changed={}", strings.display());
    fs::write(
        out.join("link_words.rs"),
        link_words(&fs::read_to_string(strings)?)?,
    )?;
    let files = pack::pack(&root)?;
    let mut hash = Sha256::new();
    let mut table = String::from("pub(super) static FILES: &[File] = &[\n");
    for (index, file) in files.iter().enumerate() {
        hash.update(file.name.as_bytes());
        hash.update([0]);
        hash.update(&file.bytes);
        let plain = out.join(format!("{index}.plain"));
        let packed = out.join(format!("{index}.gz"));
        fs::write(&plain, &file.bytes)?;
        fs::write(&packed, compressed(&file.bytes)?)?;
        let name = &file.name;
        writeln!(
            table,
            "    File {{ name: {name:?}, plain: include_bytes!({plain:?}), packed: include_bytes!({packed:?}) }},"
        )?;
    }
    let mut version = String::new();
    for byte in hash.finalize() {
        write!(version, "{byte:02x}")?;
    }
    version.truncate(VERSION_DIGITS);
    writeln!(table, "];\npub(crate) const VERSION: &str = {version:?};")?;
    fs::write(out.join("assets.rs"), table)?;
    Ok(())
}

/// The sentences that the server writes itself, as constants: `"link.why": "Why",` is `WHY`. Both languages
/// write such a text the same way. A long one is on the line below its name.
fn link_words(strings: &str) -> Result<String, std::fmt::Error> {
    let mut words = String::new();
    let mut lines = strings.lines();
    while let Some(line) = lines.next() {
        let entry = line.trim().strip_prefix("\"link.");
        if let Some((key, text)) = entry.and_then(|entry| entry.split_once("\":")) {
            let text = match text.trim() {
                "" => lines.next().unwrap_or_default().trim(),
                text => text,
            };
            let (name, text) = (key.to_uppercase(), text.trim_end_matches(','));
            writeln!(words, "pub(super) const {name}: &str = {text};")?;
        }
    }
    Ok(words)
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
