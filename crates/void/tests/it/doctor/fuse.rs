//! A data folder on a real FUSE mount, the one file system of this sort that needs no other machine.
//! The program behind it is a thread here, with an empty folder of mode 0700 and nothing else.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::pve::set;
use super::{amiss, report};
use crate::lab::{Lab, word};

struct Fuse(PathBuf);

impl Fuse {
    fn mount(folder: &Path) -> Self {
        fs::create_dir(folder).unwrap();
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/fuse")
            .unwrap();
        let options = "fd=0,rootmode=40000,user_id=0,group_id=0";
        let mounted = Command::new("mount")
            .args(["-i", "-t", "fuse", "-o", options, "void"])
            .arg(folder)
            .stdin(Stdio::from(device.try_clone().unwrap()))
            .status()
            .unwrap();
        assert!(mounted.success());
        std::thread::spawn(move || answer(device));
        Self(folder.to_owned())
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Until it is unmounted. Numbers and layouts are those of linux/fuse.h, version 7.31.
fn answer(mut device: File) {
    let mut request = vec![0_u8; 1 << 20];
    while let Ok(length) = device.read(&mut request) {
        let number = |at: usize| u32::from_ne_bytes(request[at..at + 4].try_into().unwrap());
        let unique = &request[8..16];
        assert!(length >= 40);
        let (error, body) = match number(4) {
            // LOOKUP: there is nothing.
            1 => (-2, Vec::new()),
            // FORGET has no answer.
            2 | 42 => continue,
            // GETATTR: 16 bytes of how long it is good for, then inode, size, times, mode.
            3 => {
                let mut body = vec![0_u8; 104];
                body[16] = 1;
                body[76..80].copy_from_slice(&0o40700_u32.to_ne_bytes());
                body[80] = 2;
                (0, body)
            }
            // STATFS: blocks, free, available, then their size.
            17 => {
                let mut body = vec![0_u8; 80];
                for at in [0, 8, 16] {
                    body[at..at + 8].copy_from_slice(&1_000_000_u64.to_ne_bytes());
                }
                for at in [40, 48] {
                    body[at..at + 4].copy_from_slice(&4096_u32.to_ne_bytes());
                }
                (0, body)
            }
            // INIT: our version, no features.
            26 => {
                let mut body = vec![0_u8; 64];
                body[..4].copy_from_slice(&7_u32.to_ne_bytes());
                body[4..8].copy_from_slice(&31_u32.to_ne_bytes());
                body[20..24].copy_from_slice(&4096_u32.to_ne_bytes());
                (0, body)
            }
            _ => (-38, Vec::new()),
        };
        let length = u32::try_from(16 + body.len()).unwrap();
        let head = [&length.to_ne_bytes()[..], &i32::to_ne_bytes(error), unique].concat();
        let _ = device.write(&[head, body].concat());
    }
}

#[test]
fn a_data_folder_on_fuse_is_named() {
    if !Path::new("/dev/fuse").exists() {
        eprintln!("this machine has no FUSE; the table of magic numbers is tested without");
        return;
    }
    let mut lab = Lab::new();
    let folder = lab.path("fuse");
    let _mounted = Fuse::mount(&folder);
    set(&mut lab, "VOID_DATA", folder.to_str().unwrap());
    let found = amiss(&report(&lab), "data");
    let [finding] = &found[..] else {
        panic!("{found:?}")
    };
    assert!(word(finding, "message").contains("is on FUSE"), "{finding}");
    assert!(word(finding, "next").contains("VOID_DATA"), "{finding}");
}
