//! Words, names and paths that somebody would read as more than they are (SECURITY R-S1, R-S9).

use std::path::Path;

use serde_json::{Value, json};
use void_act::{Reason, Ticket};
use void_channels::SshConfig;
use void_domain::catalogue::{Catalogue, Lockout};
use void_domain::ids::ActionId;

use crate::lab::{Lab, Random, channels_with, is_refused, local_config, ssh_config, usual};

fn hostile_words() -> Vec<String> {
    let text = include_str!("../../../../docs/vectors/action-ids.json");
    let vectors: Value = serde_json::from_str(text).unwrap();
    let refused: Vec<String> = serde_json::from_value(vectors["refuse"].clone()).unwrap();
    let more = [
        "-oProxyCommand=touch /tmp/void-r-s1",
        "-F/etc/passwd",
        "-E/tmp/void-r-s1",
        "-S/tmp/void-r-s1",
        "-Lx:y:z",
        "-w0:0",
        "-N",
        "-f",
        "-G",
        "-V",
        "-Q",
        "-1",
        "-20",
        "--",
        "--help",
        "--version",
        "--list",
        "--check",
        "-c",
        "-o",
        "stop-it --list /etc/passwd",
        "--trust-own-list",
        "stop-it;touch /tmp/void-r-s1",
        "stop-it && id",
        "stop-it\nid",
        "$(stop-it)",
        "`stop-it`",
        "stop-it v1.",
        "stop-it v2.AAAA",
        "stop-it v1.AAAA v1.AAAA",
        "stop-it  v1.AAAA",
        " stop-it",
        "stop-it ",
        "STOP-IT",
        "stop_it",
        "../stop-it",
        "stop-it\u{1b}[31m",
        "stöp-it",
        "%n",
        "{}",
        "*",
        "~",
        "/bin/sh",
        "sh -c id",
        "exec stop-it",
        "SSH_ORIGINAL_COMMAND=start-it",
        "void-",
        "void-lists",
    ];
    let words = refused.into_iter().chain(more.map(str::to_owned));
    // No argument of a program can hold a NUL.
    words.filter(|word| !word.contains('\0')).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn r_s1_words_that_look_like_options_reach_the_host_and_are_refused() {
    let lab = Lab::new(&usual());
    let words = hostile_words();
    assert!(words.len() >= 90, "{}", words.len());
    for word in &words {
        assert!(ActionId::parse(word).is_err(), "{word:?}");
        let output = lab.say(word);
        // `ssh` sends an empty word as no command at all, which asks for a shell.
        let reason = is_refused(&output);
        let expected = [Reason::BadCommand, Reason::BadTicket, Reason::UnknownAction];
        assert!(expected.contains(&reason), "{word:?}: {reason:?}");
    }
    // The local `ssh` took none of them for itself.
    assert!(!Path::new("/tmp/void-r-s1").exists());
    assert_eq!(lab.effects(), [""; 0]);
}

/// Words made from a valid command by changes that a seed chooses. None may do anything, except what
/// is a well-formed ticket for this very definition: that is all a host can check without signatures.
#[tokio::test(flavor = "multi_thread")]
async fn r_s1_generated_words_do_nothing() {
    const WORDS: u64 = if cfg!(feature = "deep") { 4_000 } else { 200 };
    let lab = Lab::new(&usual());
    let whole = lab.command("stop-it");
    let def = lab.action("stop-it").exec_digest().to_string();
    let mut random = Random::new(20_261_115);
    let mut sent = 0;
    while sent < WORDS {
        let mut word = whole.clone().into_bytes();
        for _ in 0..=random.below(3) {
            change(&mut word, &mut random);
        }
        let Ok(word) = String::from_utf8(word) else {
            continue;
        };
        let ticket = word.strip_prefix("stop-it ").map(Ticket::decode);
        let could_run = matches!(ticket, Some(Ok(ticket)) if ticket.exec_digest() == def);
        if could_run || word.contains('\0') {
            continue;
        }
        is_refused(&lab.say(&word));
        sent += 1;
    }
    assert_eq!(lab.effects(), [""; 0]);
}

/// Replaces, inserts or removes a byte, or cuts the rest off.
fn change(word: &mut Vec<u8>, random: &mut Random) {
    if word.is_empty() {
        word.push(b'a');
    }
    let at = usize::try_from(random.below(word.len() as u64)).unwrap();
    let special = b" \t\n;|&$`'\"\\-*?~<>(){}[]!#%=\x1b\x7f.AZaz09_";
    let byte = special[usize::try_from(random.below(special.len() as u64)).unwrap()];
    match random.below(8) {
        0..4 => word[at] = byte,
        4..6 => word.insert(at, byte),
        6 => _ = word.remove(at),
        _ => word.truncate(at.max(1)),
    }
}

const NAMES: [&str; 24] = [
    "%h",
    "%n.example.org",
    "a%b",
    "a b",
    "a;id",
    "a|id",
    "a&id",
    "`id`",
    "$(id)",
    "${HOME}",
    "$HOME",
    "a'b",
    "a\"b",
    "a\\b",
    "-oProxyCommand=id",
    "-l",
    "a\nb",
    "a\tb",
    "user@host",
    "a/b",
    "[::1",
    "fe80::1%eth0",
    "ä",
    "",
];

#[test]
fn r_s9_names_that_ssh_would_read_as_more_are_refused_by_the_catalogue() {
    let parse = |host: Value| {
        let text = json!({"hosts": host, "actions": []}).to_string();
        Catalogue::parse(&text, &Lockout::default())
    };
    assert!(parse(json!({"nas": {"address": "nas.lan", "user": "voidact"}})).is_ok());
    for name in NAMES {
        assert!(parse(json!({"nas": name})).is_err(), "{name:?}");
        assert!(
            parse(json!({"nas": {"address": name}})).is_err(),
            "{name:?}"
        );
        assert!(parse(json!({name: "nas.lan"})).is_err(), "{name:?}");
        let user = json!({"nas": {"address": "nas.lan", "user": name}});
        assert!(parse(user).is_err(), "{name:?}");
    }
    for port in [json!(0), json!(65536), json!("22"), json!(-1)] {
        assert!(parse(json!({"nas": {"address": "nas.lan", "port": port}})).is_err());
    }
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    for bad in [
        format!("{key}\nevil ssh-ed25519 AAAA"),
        format!("{key} comment"),
        format!("@cert-authority * {key}"),
        format!("* {key}"),
        "ssh-dss AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAA".to_owned(),
        String::new(),
    ] {
        let host = json!({"nas": {"address": "nas.lan", "host_key": bad}});
        assert!(parse(host).is_err(), "{bad:?}");
    }
}

#[test]
fn r_s9_paths_that_ssh_would_read_as_more_are_refused() {
    let lab = Lab::new(&usual());
    let with = |change: &dyn Fn(&mut SshConfig)| {
        let mut config = ssh_config(&lab.sshd, lab.client.path());
        change(&mut config);
        channels_with(&lab.catalogue, config, local_config(&lab.sshd)).map(|_| ())
    };
    assert!(with(&|_| {}).is_ok());
    let paths = [
        "/a/%h",
        "/a b",
        "/a\tb",
        "/a\nb",
        "/a\"b",
        "/a'b",
        "/a\\b",
        "/a/${HOME}/b",
        "/a\u{a0}b",
        "/a\u{85}b",
        "relative/path",
        "~/key",
        "./x",
        "",
    ];
    for path in paths {
        let error = with(&|config| config.key = Some(path.into())).unwrap_err();
        assert_eq!(error.path, Path::new(path));
        assert!(!error.to_string().is_empty());
        assert!(
            with(&|config| config.known_hosts = path.into()).is_err(),
            "{path:?}"
        );
        assert!(
            with(&|config| config.run_folder = path.into()).is_err(),
            "{path:?}"
        );
    }
    let not_text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"/a\xff");
    assert!(with(&|config| config.key = Some(not_text.into())).is_err());
    // A socket's name has to fit behind it.
    let long = format!("/{}", "a".repeat(75));
    assert!(with(&|config| config.run_folder = long.clone().into()).is_err());
    let fits = format!("/{}", "a".repeat(74));
    assert!(with(&|config| config.run_folder = fits.clone().into()).is_ok());
}
