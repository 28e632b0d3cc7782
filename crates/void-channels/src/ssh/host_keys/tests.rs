use super::*;

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
/// As `ssh-keygen -lf` prints it.
const FINGERPRINT: &str = "SHA256:T7SvZ2cslqpPj6nKzitCBHHlpVF3r3MvLwmFL0fk0IE";

fn host(name: &str) -> HostName {
    HostName::parse(name).unwrap()
}

#[test]
fn a_fingerprint_is_what_ssh_keygen_prints() {
    let key = HostKey::parse(KEY).unwrap();
    assert_eq!(key.fingerprint, FINGERPRINT);
    assert_eq!(HostKey::parse_fingerprint(FINGERPRINT), Ok(FINGERPRINT));
    for bad in [
        "",
        "SHA256:",
        &FINGERPRINT[7..],
        &FINGERPRINT[..49],
        &format!("{FINGERPRINT}="),
        &format!(" {FINGERPRINT}"),
        "MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
        "sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    ] {
        assert!(HostKey::parse_fingerprint(bad).is_err(), "{bad}");
    }
}

#[test]
fn only_plain_lines_of_the_very_name_are_keys() {
    let of_lab = |text: &str| Managed(text.to_owned()).keys_of(&host("lab")).len();
    for (text, count) in [
        (format!("lab {KEY}\n"), 1),
        (format!("lab {KEY} comment\nlab {KEY}"), 2),
        (format!("  lab\t{KEY}\r\n"), 1),
        (format!("@cert-authority lab {KEY}\n"), 0),
        (format!("lab,other {KEY}\n*lab {KEY}\nlab* {KEY}\n"), 0),
        (format!("other {KEY}\n# lab {KEY}\n#lab {KEY}\n"), 0),
        (
            "lab ssh-ed25519\nlab\n\nlab ssh-ed25519 %%%%\n".to_owned(),
            0,
        ),
    ] {
        assert_eq!(of_lab(&text), count, "{text}");
    }
}

#[test]
fn a_revocation_counts_for_its_key_whatever_its_pattern() {
    let key = HostKey::parse(KEY).unwrap();
    for (text, revoked) in [
        (format!("@revoked * {KEY}\n"), true),
        (format!("lab {KEY}\n@revoked elsewhere {KEY} why\n"), true),
        (format!("revoked * {KEY}\n# @revoked * {KEY}\n"), false),
        (format!("@revoked {KEY}\n"), true),
        (
            format!("@revoked * {}\n", KEY.replace("AIJd", "AIJe")),
            false,
        ),
    ] {
        assert_eq!(Managed(text.clone()).revokes(&key), revoked, "{text}");
    }
}
