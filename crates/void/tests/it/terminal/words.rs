//! What may cut the owner off is approved with four words, typed at a real terminal.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use super::{err, out};
use crate::lab::{Lab, VOID, word};

/// The words as the terminal shows them.
fn words(lab: &Lab, code: &str) -> String {
    let shown = out(&lab.void(&["inbox", "show", code]));
    let line = shown
        .lines()
        .find_map(|line| line.strip_prefix("  words        "));
    let line = line.unwrap_or_else(|| panic!("{shown}"));
    line.split("   ").next().unwrap().to_owned()
}

#[test]
fn four_words_stand_for_the_digest_and_no_others_do() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "critical-one"], 7);
    let code = word(&queued["row"], "code").to_owned();
    let right = words(&lab, &code);
    let parts: Vec<&str> = right.split(' ').collect();
    assert_eq!(parts.len(), 4, "{right}");
    // Without a terminal the way is named, in words that can be copied.
    let refused = lab.void(&["inbox", "approve", &code]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        err(&refused).contains(&format!("--digest {}", parts.join("-"))),
        "{}",
        err(&refused)
    );
    for wrong in [
        parts[..3].join(" "),
        format!("{right} {}", parts[0]),
        [parts[1], parts[0], parts[2], parts[3]].join(" "),
        format!("{} {} {} yes", parts[0], parts[1], parts[2]),
    ] {
        let told = lab.json(&["inbox", "approve", &code, "--digest", &wrong], 6);
        assert_eq!(told["error"]["code"], json!("changed"), "{wrong}");
    }
    assert_eq!(lab.effects(), Vec::<String>::new());
    let hyphens = parts.join("-").to_uppercase();
    let ran = lab.json(&["inbox", "approve", &code, "--digest", &hyphens], 9);
    assert_eq!(ran["status"], json!("executed"));
    assert_eq!(
        ran["digest"], queued["row"]["digest"],
        "the server got all of it"
    );
    assert_eq!(lab.effects(), ["critical-one"]);
    // The words of one are not those of another.
    let other = lab.json(&["run", "risky-one"], 7);
    let other = word(&other["row"], "code").to_owned();
    lab.json(&["inbox", "approve", &other, "--digest", &right], 6);
    assert_eq!(lab.effects(), ["critical-one"]);
}

/// Types into a terminal that a program of util-linux makes.
fn typed(lab: &Lab, args: &str, keys: &str) -> Output {
    let environment: Vec<_> = lab
        .command()
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    let mut child = Command::new("script")
        .args(["-qefc", &format!("{VOID} {args}"), "/dev/null"])
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(keys.as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    drop(stdin);
    ended
}

#[test]
fn they_are_asked_for_at_a_terminal_after_what_happens_was_said() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let queued = lab.json(&["run", "critical-one"], 7);
    let code = word(&queued["row"], "code").to_owned();
    let right = words(&lab, &code);
    for wrong in [
        "y",
        "yes",
        "",
        &right.replace(' ', ""),
        word(&queued["row"], "digest"),
    ] {
        let told = typed(
            &lab,
            &format!("inbox approve {code}"),
            &format!("{wrong}\n"),
        );
        let said = out(&told);
        assert_eq!(told.status.code(), Some(130), "{wrong}: {said}");
        assert!(said.contains("nothing was approved"), "{said}");
        let (yes, ask) = (said.find("if yes"), said.find("Type these four words"));
        assert!(yes.is_some() && yes < ask, "{said}");
    }
    assert_eq!(lab.effects(), Vec::<String>::new());
    let told = typed(
        &lab,
        &format!("inbox approve {code}"),
        &format!("{right}\n"),
    );
    assert_eq!(told.status.code(), Some(9), "{}", out(&told));
    assert_eq!(lab.effects(), ["critical-one"]);
}

#[test]
fn a_risky_one_is_asked_for_after_what_happens_was_said() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let code = word(&lab.json(&["run", "risky-one"], 7)["row"], "code").to_owned();
    let told = typed(&lab, &format!("inbox approve {code}"), "n\n");
    let said = out(&told);
    let (yes, ask) = (said.find("if yes"), said.find("Run it now?"));
    assert!(yes.is_some() && yes < ask, "{said}");
    assert_eq!(lab.effects(), Vec::<String>::new());
    let told = typed(&lab, &format!("inbox approve {code}"), "y\n");
    assert_eq!(told.status.code(), Some(9), "{}", out(&told));
    assert_eq!(lab.effects(), ["risky-one"]);
}
