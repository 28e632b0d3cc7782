//! Packs the web page into the program: every file of `ui/` as it is and compressed, under one version that
//! is the hash of all of them.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

const VERSION_DIGITS: usize = 12;

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("ui");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    files.sort();
    let mut hash = Sha256::new();
    let mut table = String::from("pub(super) static FILES: &[File] = &[\n");
    for (index, name) in files.iter().enumerate() {
        let bytes = fs::read(root.join(name))?;
        hash.update(name.as_bytes());
        hash.update([0]);
        hash.update(&bytes);
        let packed = out.join(format!("{index}.gz"));
        fs::write(&packed, compressed(&bytes)?)?;
        let plain = root.join(name);
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "    File {{ name: {name:?}, plain: include_bytes!({plain:?}), packed: include_bytes!({packed:?}) }},"
        );
    }
    let version: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let version = version.get(..VERSION_DIGITS).unwrap_or(&version);
    let _ = writeln!(table, "];\npub(super) const VERSION: &str = {version:?};");
    fs::write(out.join("assets.rs"), table)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, files)?;
        } else if let Ok(name) = path.strip_prefix(root) {
            files.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
