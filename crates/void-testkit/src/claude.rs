//! A `claude` program that does what a test tells it to: a real process that prints the real lines.
//!
//! Steps of a run: `says` (pieces of a message), `line`, `raw`, `fills` (so many bytes), `stderr`,
//! `result` (changes to a good one), `asks` (the gateway), `calls` (a tool of the MCP server), `child`
//! (a shell line in the background), `shell` (goes on as a shell), `stalls`, `exits`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::Value;

use crate::programs;

pub struct ScriptedClaude {
    folder: tempfile::TempDir,
}

impl ScriptedClaude {
    /// One list of steps for each time that it is started.
    pub fn new(runs: &Value) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("script.json"), runs.to_string()).expect("a script");
        symlink(programs::scripted_claude(), folder.path().join("claude")).expect("a link");
        Self { folder }
    }

    pub fn program(&self) -> PathBuf {
        self.folder.path().join("claude")
    }

    /// A folder of its own, for whatever a test needs beside it.
    pub fn path(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// What the nth run was started with: `{"argv", "env", "stdin", "cwd", "heard"}`.
    pub fn run(&self, nth: usize) -> Option<Value> {
        let text = fs::read(self.folder.path().join(format!("run-{nth}"))).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// What the nth run has heard so far of its newest question to the gateway.
    pub fn answer(&self, nth: usize) -> Option<String> {
        fs::read_to_string(self.folder.path().join(format!("answer-{nth}"))).ok()
    }

    pub fn pid(&self, nth: usize) -> Option<u32> {
        let text = fs::read_to_string(self.folder.path().join(format!("pid-{nth}"))).ok()?;
        text.parse().ok()
    }
}
