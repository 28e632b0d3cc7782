//! Files larger than a block: the same verdict on any number of threads, in memory that does not grow.

use std::fs;
use std::io::{self, Read, Write};
use std::process::{ChildStdout, Stdio};

use void_verify::{Hash, Options, entry_hash, verify, write_hash};

use crate::command::verifier;
use crate::logs::words;

const ENTRIES: u64 = 200_000;

/// Writes the log line by line as it is read, so the whole never exists.
struct Endless {
    seq: u64,
    prev: Hash,
    line: Vec<u8>,
    /// This entry's verb is changed after it was sealed.
    edited: u64,
}

impl Endless {
    fn new(edited: u64) -> Self {
        Endless {
            seq: 0,
            prev: [0; 32],
            line: Vec::new(),
            edited,
        }
    }

    fn write_line(&mut self) {
        self.seq += 1;
        let (seq, digest) = (self.seq, "c4".repeat(32));
        let before = format!(
            r#"{{"actor":"agent:brain","at":"2026-03-01T00:00:00.000Z","catalogue":"{digest}","detail":{{"action":"restart","host":"z","params":{{"image":"caddy:2.{seq}"}}}}"#
        );
        let after = format!(
            r#","request_id":"req-{seq:020}","seq":{seq},"subject":"proposal:{seq}","verb":"proposal.created"}}"#
        );
        let hash = entry_hash(&self.prev, (before.clone() + &after).as_bytes());
        let after = if seq == self.edited {
            after.replace("created", "decided")
        } else {
            after
        };
        let (prev, sealed) = (write_hash(&self.prev), write_hash(&hash));
        self.line =
            format!("{before},\"hash\":\"{sealed}\",\"prev\":\"{prev}\"{after}\n").into_bytes();
        self.prev = hash;
    }
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() && self.seq < ENTRIES {
            self.write_line();
        }
        let count = self.line.as_slice().read(buffer)?;
        self.line.drain(..count);
        Ok(count)
    }
}

#[test]
fn threads_and_block_borders_do_not_change_the_report() {
    let edited = 123_456;
    let reports = [1, 3].map(|threads| {
        verify(
            Endless::new(edited),
            &Options {
                head: None,
                threads,
            },
        )
        .unwrap()
    });
    assert_eq!(reports[0].entries, ENTRIES);
    assert_eq!(words(&reports[0]), ["edited"]);
    assert_eq!(
        (reports[0].problems[0].line, reports[0].problems[0].seq),
        (edited, Some(edited))
    );
    assert!(reports.iter().all(|report| *report == reports[0]));
}

#[test]
fn rubbish_is_one_problem_across_blocks_and_pieces() {
    let lines = 100_000;
    let rubbish = (["rubbish"; 14].join(" ") + "\n")
        .repeat(lines)
        .into_bytes();
    assert!(rubbish.len() > 8 << 20);
    for threads in [1, 3] {
        let report = verify(
            rubbish.as_slice(),
            &Options {
                head: None,
                threads,
            },
        )
        .unwrap();
        assert_eq!(report.problems_total, 1);
        let said = format!("{lines} lines from here are not entries\n");
        assert!(report.to_string().ends_with(&said), "{report}");
    }
}

/// The binary has read some 84 MB when its peak is looked at, and has held a few blocks of it.
#[test]
fn memory_does_not_grow_with_the_file() {
    let mut child = verifier()
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = io::copy(&mut Endless::new(0), &mut stdin).unwrap();
    stdin.flush().unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let peak_kib: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    drop(stdin);
    let mut said = String::new();
    child
        .stdout
        .take()
        .map(|mut out: ChildStdout| out.read_to_string(&mut said))
        .unwrap()
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(
        said.starts_with("200,000 entries, 1 to 200000, chain intact."),
        "{said}"
    );
    assert!(
        bytes > 75_000_000 && peak_kib < 40_000,
        "{bytes} bytes, peak {peak_kib} KiB"
    );
}
