//! `deploy/Dockerfile` and `deploy/compose.yaml`: what they copy, start and ask is there, and the question of the health
//! check is asked of a real server. Building an image takes an engine and the network: `scripts/test-container`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab::{Lab, VOID};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The instructions, lines that go on put together, comments left out.
fn instructions() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("deploy/Dockerfile")).unwrap();
    let text: String = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            line.strip_suffix('\\')
                .map_or(format!("{line}\n"), str::to_owned)
        })
        .collect();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let lines = lines.map(|(word, rest)| (word.to_owned(), rest.trim().to_owned()));
    lines.collect()
}

/// Of the last stage.
fn last(word: &str) -> String {
    let found = instructions()
        .into_iter()
        .rev()
        .find(|(one, _)| one == word);
    found.unwrap_or_else(|| panic!("{word}")).1
}

fn words(list: &str) -> Vec<String> {
    serde_json::from_str(list).unwrap_or_else(|_| panic!("{list}"))
}

#[test]
fn the_image_has_the_programs_that_are_built_for_it() {
    let build = instructions()
        .into_iter()
        .find(|(_, rest)| rest.starts_with("cargo build"));
    let build = build.unwrap().1;
    let built: Vec<&str> = build.split(" -p ").skip(1).collect();
    let copied = last("COPY");
    let (from, to) = copied.rsplit_once(' ').unwrap();
    let from = from.strip_prefix("--from=build ").unwrap();
    assert_eq!(to, "/usr/bin/");
    let copied: Vec<&str> = from
        .split(' ')
        .map(|path| path.strip_prefix("/src/target/release/").unwrap())
        .collect();
    assert_eq!(built, copied);
    for program in built {
        assert!(
            root()
                .join("crates")
                .join(program)
                .join("Cargo.toml")
                .exists(),
            "{program}"
        );
    }
    // What the server starts, and what no image of this kind has by itself.
    let (_, installed) = instructions()
        .into_iter()
        .find(|(_, rest)| rest.starts_with("apt-get"))
        .unwrap();
    for package in ["ca-certificates", "git", "openssh-client", "poppler-utils"] {
        assert!(installed.contains(package), "{package}");
    }
    // The account, its folder and what is kept over an upgrade are the same.
    let user = last("USER");
    let data = last("VOLUME");
    assert!(installed.contains(&format!("--home-dir {data}")) && installed.contains("--uid 10001"));
    assert!(installed.contains(&format!("install -d -o {user} -g {user} -m 0700 {data}")));
    assert!(last("ENV").contains(&format!("VOID_DATA={data}")));
}

#[test]
fn the_health_check_of_the_image_tells_a_server_that_answers_from_none() {
    let lab = Lab::new();
    let listens = last("ENV");
    let listens = listens
        .split(' ')
        .find_map(|one| one.strip_prefix("VOID_LISTEN="));
    let port = last("EXPOSE");
    assert_eq!(listens, Some(&*format!("0.0.0.0:{port}")));
    let entry = words(&last("ENTRYPOINT"));
    assert_eq!(
        (entry, words(&last("CMD"))),
        (vec!["void".to_owned()], vec!["serve".to_owned()])
    );
    let check = last("HEALTHCHECK");
    let check = words(check.split_once("CMD ").unwrap().1);
    assert_eq!(check[0], "void");
    let own = format!(":{}", lab.address.port());
    let asks = || {
        // As the engine does: in the container, with its variables and as its account.
        let mut command: Command = lab.command();
        let words = check.iter().skip(1);
        let words = words.map(|word| word.replace(&format!(":{port}"), &own));
        command.args(words).output().unwrap()
    };
    assert!(Path::new(VOID).exists());
    assert!(!asks().status.success(), "nobody answers yet");
    let everywhere = format!("0.0.0.0{own}");
    let named = format!("http://localhost{own}");
    let mut server = lab.serve(&[("VOID_LISTEN", &everywhere), ("VOID_PUBLIC_URL", &named)]);
    let asked = asks();
    assert!(asked.status.success(), "{asked:?}");
    assert!(server.terminate().success());
    assert!(!asks().status.success());
}

/// What the compose file names is there, and what it says about the container is what the image says.
#[test]
fn the_compose_file_fits_the_image() {
    let text = fs::read_to_string(root().join("deploy/compose.yaml")).unwrap();
    let value = |name: &str| {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("{name}")).to_owned()
    };
    let context = root().join("deploy").join(value("context"));
    assert!(context.join(value("dockerfile")).exists());
    assert!(context.join("Cargo.lock").exists());
    let port = last("EXPOSE");
    assert_eq!(words(&value("ports")), [format!("127.0.0.1:{port}:{port}")]);
    assert_eq!(
        words(&value("volumes")),
        [format!("data:{}", last("VOLUME"))]
    );
    assert!(
        text.lines().any(|line| line == "volumes:") && text.lines().any(|line| line == "  data:")
    );
    for (name, expected) in [
        ("init", "true"),
        ("read_only", "true"),
        ("cap_drop", "[ALL]"),
        ("security_opt", "[\"no-new-privileges:true\"]"),
        // As long as the unit gives running actions to end.
        ("stop_grace_period", "3m"),
    ] {
        assert_eq!(value(name), expected);
    }
}
