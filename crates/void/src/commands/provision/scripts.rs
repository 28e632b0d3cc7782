//! Scripts that root runs on a machine: they stop at the first thing that fails, replace files only when they are
//! whole, and end with a line that says whether everything is done.
//!
//! All of it is in one subshell, so that it can also be pasted without ending the shell it is pasted into.
//! Here-documents are quoted: nothing in them expands.

use std::path::Path;

use void_act::List;

use crate::commands::quoted;

pub(super) const SUDOERS_FOLDER: &str = "/etc/sudoers.d";

pub(super) struct Script(String);

impl Script {
    /// `about` becomes the comment at its head.
    pub(super) fn new(about: &str) -> Self {
        Self(format!(
            "# {about}
(
set -eu
umask 022
step='beginning'
trap 'code=$?; [ \"$code\" -eq 0 ] || echo \"NOT done: it failed while $step (exit code $code). Nothing after that was changed.\" >&2' EXIT
[ \"$(id -u)\" -eq 0 ] || {{ step='looking who runs it: it has to be root'; exit 1; }}
"
        ))
    }

    /// What follows, in words for the line at the end; `what` is our own text.
    pub(super) fn step(&mut self, what: &str) {
        self.0.push_str(&format!("\nstep={}\n", quoted(what)));
    }

    pub(super) fn line(&mut self, command: impl AsRef<str>) {
        self.0.push_str(command.as_ref());
        self.0.push('\n');
    }

    /// A file of root's, whole or as it was before.
    pub(super) fn file(&mut self, path: &Path, mode: &str, text: &str) {
        self.written(path, mode, |new| {
            format!("cat > {new} <<'VOID'\n{text}\nVOID")
        });
    }

    /// The same, of what a command prints.
    pub(super) fn file_from(&mut self, path: &Path, mode: &str, command: &str) {
        self.written(path, mode, |new| format!("{command} > {new}"));
    }

    fn written(&mut self, path: &Path, mode: &str, write: impl FnOnce(&str) -> String) {
        let path = path.display().to_string();
        let (new, path) = (quoted(&format!("{path}.new")), quoted(&path));
        self.line(write(&new));
        self.line(format!("chown root:root {new}; chmod {mode} {new}"));
        self.line(format!("mv -f {new} {path}"));
    }

    pub(super) fn list(&mut self, path: &Path, list: &List) {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let folder = quoted(&folder.display().to_string());
        self.line(format!("install -d -m 0755 -o root -g root {folder}"));
        let text = serde_json::to_string_pretty(list).unwrap_or_default();
        self.file(path, "0644", &text);
    }

    /// sudo does not read names with a dot, so the new file counts only once visudo has accepted it.
    pub(super) fn sudoers(&mut self, name: &str, lines: &[String]) {
        let path = format!("{SUDOERS_FOLDER}/{name}");
        if lines.is_empty() {
            self.line(format!("rm -f {path}"));
            return;
        }
        self.line(
            "command -v visudo >/dev/null || { echo 'sudo is not installed here' >&2; exit 1; }",
        );
        self.line(format!(
            "install -d -m 0750 -o root -g root {SUDOERS_FOLDER}"
        ));
        self.line(format!(
            "cat > {path}.new <<'VOID'\n{}\nVOID",
            lines.join("\n")
        ));
        self.line(format!("chown root:root {path}.new; chmod 0440 {path}.new"));
        self.line(format!("visudo -cqf {path}.new"));
        self.line(format!("mv -f {path}.new {path}"));
    }

    pub(super) fn done(mut self, sentence: &str) -> String {
        self.0.push_str(&format!("\necho {}\n)", quoted(sentence)));
        self.0
    }
}
