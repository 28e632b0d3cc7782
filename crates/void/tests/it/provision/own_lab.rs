//! The README's part about one's own lab, followed line by line by an ordinary user in an empty home.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use void_testkit::free_port;

use super::machines::Machine;
use crate::lab::VOID;

/// The commands of a block of the README's part, each with what its comment says.
fn lines(number: usize) -> Vec<(String, String)> {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let part = readme.split("## Your own lab").nth(1).unwrap();
    let part = part.split("\n## ").next().unwrap();
    let block = part.split("```sh\n").nth(number).unwrap();
    let block = block.split("```").next().unwrap();
    let line = |line: &str| {
        let (command, words) = line.split_once("# ").unwrap_or_else(|| panic!("{line}"));
        (command.trim().to_owned(), words.trim().to_owned())
    };
    block.lines().map(line).collect()
}

/// A newcomer and the server that they started: a fresh account, an empty home, nothing set but where it listens.
const OLIVIA: &str = r#"
useradd -M -d "$W/home" olivia
install -d -o olivia -m 0755 "$W/home" "$W/home/bin"
ln -s "$W/void" "$W/home/bin/void"
cd "$W/home"
olivia="setpriv --reuid=olivia --regid=olivia --clear-groups env -i PATH=$W/home/bin:/usr/bin:/bin HOME=$W/home \
  VOID_LISTEN=127.0.0.1:$PORT"
as() { $olivia sh -c "$1"; }
$olivia void serve >"$W/log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server' EXIT
for i in $(seq 300); do as "void status" >/dev/null 2>&1 && break; sleep 0.1; done
"#;

#[test]
fn the_readmes_own_lab_is_what_happens() {
    let machine = Machine::new();
    machine.copy(Path::new(VOID), "void");
    // The reader's service: something that answers.
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = service.local_addr().unwrap().port().to_string();
    let (first, daily) = (lines(2), lines(3));
    assert!(first.len() >= 8 && daily.len() >= 6, "{first:?} {daily:?}");
    let mut script = format!("PORT={}\n{OLIVIA}\n", free_port());
    for (number, (command, _)) in first.iter().chain(&daily).enumerate() {
        let command = command
            .replace("SERVICE", "caddy")
            .replace("PORT", &port)
            .replace("approve CODE", "approve $code --yes");
        // Nobody can type a password here; the script itself is root.
        let run = match command.strip_prefix("sudo ") {
            Some(command) => command.to_owned(),
            None => format!("as \"{}\"", command.replace('"', "\\\"")),
        };
        script.push_str(&format!(
            "{run} >\"$W/{number}\" 2>&1; echo \"exit $?\" >>\"$W/{number}\"\n\
             code=$(sed -n 's/.*inbox approve \\([0-9A-Z]*\\).*/\\1/p' \"$W/{number}\" | head -1); code=${{code:-$kept}}; kept=$code\n"
        ));
    }
    let ended = machine.run(&script);
    let errors = String::from_utf8_lossy(&ended.stderr).into_owned() + &machine.read("log");
    for (number, (command, words)) in first.iter().chain(&daily).enumerate() {
        let said = machine.read(&number.to_string());
        let status = if words.contains("exit code 7") { 7 } else { 0 };
        assert!(
            said.ends_with(&format!("exit {status}\n")),
            "{command}\n{said}\n{errors}"
        );
        // What a comment says in so many words is seen.
        let is_promise = ["lint", "reload", "sudo sh", "check", "approve"];
        if is_promise.iter().any(|word| command.contains(word)) {
            assert!(said.contains(words), "{command}\n{said}\n{errors}");
        }
    }
    assert_eq!(machine.read("told"), "root: restart caddy\n");
    // A start told where to put what, and the list came to be without a word of the reader's own.
    let log = machine.read("log");
    assert!(log.contains("actions example SERVICE > "), "{log}");
}
