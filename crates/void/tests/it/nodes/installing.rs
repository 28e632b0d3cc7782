//! The scripts that set a machine up and undo it, run in a folder of their own, and what `void provision node` says.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::stand::{Stand, catalogue};
use crate::lab::{VOID, word};

fn tree(root: &Path) -> Vec<String> {
    let listed = Command::new("find")
        .arg(root)
        .arg("-mindepth")
        .arg("1")
        .output()
        .unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let mut paths: Vec<String> = text
        .lines()
        .map(|line| line.replace(root.to_str().unwrap(), ""))
        .collect();
    paths.sort();
    paths
}

/// Runs what a command prints; `useradd` and `userdel` leave a line instead of an account.
fn piped_to_shell(stand: &Stand, command: &str, root: &Path) -> String {
    let script = stand.lab.void(&["node", command]);
    assert!(script.status.success());
    let tools = stand.lab.path("tools");
    fs::create_dir_all(&tools).unwrap();
    for tool in ["useradd", "userdel", "id"] {
        let text = match tool {
            // Nobody is called voidnode here, and everybody is root.
            "id" => "#!/bin/sh\n[ \"$2\" != voidnode ] && echo 0\n".to_owned(),
            _ => format!(
                "#!/bin/sh\necho {tool} \"$@\" >> {}\n",
                stand.lab.path("accounts").display()
            ),
        };
        fs::write(tools.join(tool), text).unwrap();
        Command::new("chmod")
            .arg("755")
            .arg(tools.join(tool))
            .status()
            .unwrap();
    }
    let mut shell = Command::new("/bin/sh")
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", tools.display()))
        .env("DESTDIR", root)
        .env("VOID_PROGRAM", VOID)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    shell
        .stdin
        .take()
        .unwrap()
        .write_all(&script.stdout)
        .unwrap();
    let ended = shell.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned()
        + &String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{said}");
    said
}

#[test]
fn uninstalling_removes_exactly_what_installing_made() {
    let stand = Stand::new();
    let root = stand.lab.path("root");
    for folder in ["etc/systemd/system", "var/lib", "usr/local/bin"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("etc/systemd/system/other.service"), "").unwrap();
    let before = tree(&root);
    piped_to_shell(&stand, "install", &root);
    let unit = fs::read_to_string(root.join("etc/systemd/system/void-node.service")).unwrap();
    assert!(
        unit.contains("ExecStart=/usr/local/bin/void node run"),
        "{unit}"
    );
    let installed = tree(&root);
    // A second time changes nothing, and what the machine made since goes too.
    piped_to_shell(&stand, "install", &root);
    assert_eq!(tree(&root), installed);
    fs::write(root.join("var/lib/void-node/secret"), "x").unwrap();
    piped_to_shell(&stand, "uninstall", &root);
    assert_eq!(tree(&root), before);
    let accounts = fs::read_to_string(stand.lab.path("accounts")).unwrap();
    assert!(
        accounts
            .lines()
            .last()
            .unwrap()
            .starts_with("userdel voidnode"),
        "{accounts}"
    );
    // What was there before is left alone.
    fs::write(root.join("usr/local/bin/void"), "mine").unwrap();
    piped_to_shell(&stand, "install", &root);
    piped_to_shell(&stand, "uninstall", &root);
    assert_eq!(
        fs::read_to_string(root.join("usr/local/bin/void")).unwrap(),
        "mine"
    );
}

#[test]
fn the_printed_list_is_one_that_the_executor_takes() {
    let stand = Stand::new();
    fs::write(stand.lab.path("actions.json"), catalogue().to_string()).unwrap();
    let plan = stand.lab.json(&["provision", "node", "n1"], 0);
    let list = plan["list"].to_string();
    let parsed = void_act::List::parse(list.as_bytes()).unwrap();
    assert_eq!(parsed.entries.len(), 5);
    let entry = |id: &str| {
        plan["list"]["entries"]
            .as_array()
            .unwrap()
            .iter()
            .find(|entry| word(entry, "id") == id)
            .unwrap()
            .clone()
    };
    assert_eq!(
        entry("rollback-web")["argv"],
        json!(["/usr/local/lib/void-node/rollback", "web", {"recorded": "deploy-web"}])
    );
    assert_eq!(
        entry("deploy-web")["record"]["argv"],
        json!(["/usr/local/lib/void-node/current", "web"])
    );
    let unknown = stand.lab.json(&["provision", "node", "n3"], 5);
    assert_eq!(unknown["error"]["code"], json!("not_found"));
}
