//! What the documents show is what happens: the examples are read out of them and run.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::bridge::folder::Bridge;
use crate::lab::{Lab, OWNER, word};

fn document(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).unwrap()
}

/// The first block of shell lines after a heading.
fn block(document: &str, heading: &str) -> String {
    let section = document.split(heading).nth(1).unwrap();
    let block = section.split("```sh\n").nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

#[test]
fn the_api_examples_do_what_their_comments_say() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let block = block(&document("docs/api.md"), "## Asking and deciding");
    let ran = Command::new("/bin/sh")
        .args(["-ec", &block])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("URL", format!("http://{}", lab.address))
        .env("TOKEN", OWNER)
        .output()
        .unwrap();
    let mut said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{said}");
    let promised: Vec<&str> = block
        .lines()
        .filter_map(|line| Some(line.rsplit_once("# \"")?.1))
        .collect();
    assert_eq!(promised.len(), 6, "{promised:?}");
    // In this order, each after the one before.
    for words in promised {
        let words = format!("\"{words}");
        let at = said.find(&words);
        let at = at.unwrap_or_else(|| panic!("{words} is not in what is left: {said}"));
        said = said.split_off(at + words.len());
    }
    assert_eq!(lab.effects(), ["safe-one", "risky-one"]);
}

#[test]
fn the_bridges_example_file_becomes_a_proposal() {
    let bridge = Bridge::new();
    let server = bridge.serve();
    let block = block(&document("docs/operations.md"), "**Proposing.**");
    let text = block.split("<<'FILE'\n").nth(1).unwrap();
    let wish: Value = serde_json::from_str(text.split("\nFILE").next().unwrap()).unwrap();
    let mut wish = wish;
    // The example's machine is not in the test's catalogue; everything else is as it is written.
    wish["node"] = "local".into();
    wish["service"] = "safe-one".into();
    bridge.drop_file(&wish);
    let row = bridge.wait_for_row(&server, "safe-one");
    assert_eq!(
        (word(&row, "status"), word(&row, "reason")),
        ("pending", "it answers 502")
    );
}

#[test]
fn the_readme_names_the_proxmox_token_that_is_made() {
    let mut catalogue = crate::lab::catalogue();
    let guest = serde_json::json!({"id": "stop-ct107", "kind": "guest_power", "node": "z", "vmid": 107, "op": "stop", "tier": "risky"});
    catalogue["actions"].as_array_mut().unwrap().push(guest);
    let lab = Lab::with(&catalogue);
    let printed = lab.void(&["provision", "proxmox"]);
    let printed = String::from_utf8(printed.stdout).unwrap();
    let readme = document("README.md");
    let named = readme.split("PROXMOX_API_TOKEN='").nth(1).unwrap();
    let named = named.split('=').next().unwrap();
    let (user, token) = named.split_once('!').unwrap();
    let made = format!("pveum user token add {user} {token}");
    assert!(printed.contains(&made), "{made} is not in:\n{printed}");
}
