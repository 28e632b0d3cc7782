//! Power cuts (I26): what was acknowledged is there afterwards, and what was not is cleanly absent.
//!
//! The data folder lies on a small file system of its own. A cut is a copy of its backing device while
//! the server stands still: it holds what was flushed, and nothing of what only the page cache knew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::lab::{Lab, word};

/// An ext4 file system in a file, mounted at a folder.
struct Disk {
    image: PathBuf,
    folder: PathBuf,
}

impl Disk {
    fn make(image: &Path, folder: &Path) -> Self {
        run("truncate", &["-s", "48M", text(image)]);
        run("mkfs.ext4", &["-q", "-m", "0", text(image)]);
        Self::mount(image, folder)
    }

    fn mount(image: &Path, folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        run("mount", &["-o", "loop", text(image), text(folder)]);
        Self {
            image: image.to_owned(),
            folder: folder.to_owned(),
        }
    }

    /// What the device holds at this moment.
    fn cut(&self, to: &Path) {
        run("cp", &["--sparse=always", text(&self.image), text(to)]);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.folder).status();
    }
}

fn run(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What a client was told, by row: the state that must be found again, or a later one.
type Told = BTreeMap<String, &'static str>;

#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    let cuts = if cfg!(feature = "deep") { 400 } else { 40 };
    let mut lab = Lab::new();
    let disk = Disk::make(&lab.path("disk.img"), &lab.path("disk"));
    let settings = fs::read_to_string(lab.data().join("void.toml")).unwrap();
    fs::create_dir(lab.path("disk/data")).unwrap();
    fs::write(lab.path("disk/data/void.toml"), settings).unwrap();
    lab.environment = vec![(
        "VOID_DATA".into(),
        lab.path("disk/data").display().to_string(),
    )];
    let server = lab.serve(&[]);
    let mut told = Told::new();
    let mut remembered: Vec<(PathBuf, Told)> = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    for n in 0..cuts {
        // A mixture: safe runs, queued ones, rejections.
        match n % 4 {
            0 | 2 => {
                let (_, ran) = server.call("POST", "/api/actions/safe-one/run", None);
                told.insert(word(&ran, "action_row_id").to_owned(), "executed");
            }
            1 => {
                let (_, queued) = server.call("POST", "/api/actions/risky-one/run", None);
                waiting.push(word(&queued, "action_row_id").to_owned());
                told.insert(word(&queued, "action_row_id").to_owned(), "pending");
            }
            _ => {
                if let Some(id) = waiting.pop() {
                    let (status, _) =
                        server.call("POST", &format!("/api/actions/pending/{id}/reject"), None);
                    assert_eq!(status, 200);
                    told.insert(id, "rejected");
                }
            }
        }
        let pid = server.pid().to_string();
        run("kill", &["-STOP", &pid]);
        let image = lab.path(&format!("cut-{n}.img"));
        disk.cut(&image);
        run("kill", &["-CONT", &pid]);
        remembered.push((image, told.clone()));
    }
    drop(server);
    drop(disk);
    for (n, (image, told)) in remembered.iter().enumerate() {
        check(&mut lab, n, image, told);
        fs::remove_file(image).unwrap();
    }
}

fn check(lab: &mut Lab, n: usize, image: &Path, told: &Told) {
    let disk = Disk::mount(image, &lab.path(&format!("after-{n}")));
    lab.environment = vec![(
        "VOID_DATA".into(),
        disk.folder.join("data").display().to_string(),
    )];
    let mut server = lab.serve(&[]);
    assert!(
        server.has_ended().is_none(),
        "cut {n}: it does not start: {}",
        lab.log()
    );
    let rows: BTreeMap<String, String> = server
        .proposals()
        .iter()
        .map(|row| (word(row, "id").to_owned(), word(row, "status").to_owned()))
        .collect();
    for (id, status) in told {
        assert_eq!(
            rows.get(id).map(String::as_str),
            Some(*status),
            "cut {n}: {id} was acknowledged as {status}"
        );
    }
    assert_eq!(
        lab.json(&["audit", "verify"], 0)["intact"],
        json!(true),
        "cut {n}"
    );
    assert!(server.terminate().success());
}
