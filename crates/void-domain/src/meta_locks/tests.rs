use super::*;
use crate::changes::Change;
use crate::changes::meta_inputs::{InvalidInputsChange, WantedInputs, change, new_inputs};
use crate::instances::InstanceName;

fn input(url: &str, digit: char) -> PinnedInput {
    PinnedInput {
        kind: InputKind::PersonaPack,
        url: InputUrl::parse(url).unwrap(),
        commit: CommitId::parse(&digit.to_string().repeat(40)).unwrap(),
    }
}

fn proposed(
    old: &PinnedInputs,
    wanted: &[(&str, Option<PinnedInput>)],
    schemes: InputSchemes,
) -> Result<Change, InvalidInputsChange> {
    let home = InstanceName::parse("home").unwrap();
    let wanted: WantedInputs = (wanted.iter())
        .map(|(name, input)| ((*name).to_owned(), input.clone()))
        .collect();
    change(&home, old, &wanted, schemes)
}

#[test]
fn addresses_are_of_three_forms_that_git_cannot_misread() {
    for good in [
        "https://git.example/team/pack.git",
        "https://git.example:8443/pack",
        "ssh://git@git.example/team/pack",
        "ssh://git.example:22/pack",
        "file:///srv/packs/one",
    ] {
        assert!(InputUrl::parse(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "git.example:pack",
        "http://git.example/pack",
        "git://git.example/pack",
        "ext::sh -c touch% /tmp/x",
        "https://user:secret@git.example/pack",
        "https://git.example",
        "https://git.example/",
        "https:///pack",
        "https://git.example/a//b",
        "https://git.example/../x",
        "https://git.example/pack?x=1",
        "https://git.example/pack#x",
        "https://git.example:0/pack",
        "ssh://-oProxyCommand=x/pack",
        "ssh://-x@git.example/pack",
        "ssh://git@-oProxyCommand/pack",
        "file://host/pack",
        "--upload-pack=x",
        "https://git.example/a b",
        "https://git.example/\u{430}",
    ] {
        assert!(InputUrl::parse(bad).is_err(), "{bad}");
    }
    let long = format!("https://git.example/{}", "a".repeat(URL_BYTES_MAX));
    assert!(InputUrl::parse(&long).is_err());
}

#[test]
fn a_lock_is_read_strictly_and_written_one_way() {
    let mut lock = MetaLock::default();
    lock.inputs
        .insert("pack".to_owned(), input("https://git.example/p", 'a'));
    let bob = "bob".parse().unwrap();
    lock.agents
        .insert(bob, input("https://git.example/p", 'b').commit);
    assert_eq!(MetaLock::parse(&lock.to_json()), Ok(lock.clone()));
    assert_eq!(
        MetaLock::parse(&MetaLock::default().to_json()),
        Ok(MetaLock::default())
    );
    let text = lock.to_json();
    for (old, new) in [
        ("\"agents\"", "\"agentz\""),
        ("\"bob\"", "\"Bob\""),
        ("\"pack\"", "\"../pack\""),
        ("persona_pack", "everything"),
        ("https://", "http://"),
        ("\"commit\"", "\"branch\""),
        ("aaaa", "main"),
    ] {
        assert!(
            MetaLock::parse(&text.replacen(old, new, 1)).is_err(),
            "{old}"
        );
    }
    assert!(MetaLock::parse("").is_err());
}

#[test]
fn the_owner_sees_from_which_commit_to_which() {
    let url = "https://git.example/p";
    let old: PinnedInputs = [
        ("gone".to_owned(), input(url, 'a')),
        ("moves".to_owned(), input(url, 'a')),
        ("stays".to_owned(), input(url, 'a')),
    ]
    .into();
    let elsewhere = input("https://other.example/p", 'b');
    let change = proposed(
        &old,
        &[
            ("gone", None),
            ("moves", Some(elsewhere)),
            ("new", Some(input(url, 'c'))),
        ],
        InputSchemes::Remote,
    )
    .unwrap();
    let (a, b, c) = ("a".repeat(40), "b".repeat(40), "c".repeat(40));
    assert_eq!(
        change.summary,
        [
            format!("moves comes from https://other.example/p instead of {url}"),
            format!("pins new: the persona_pack {url} at commit {c}"),
            format!("moves (persona_pack): from commit {a} to {b}"),
            "gone is pinned no longer".to_owned(),
        ]
    );
    let new = new_inputs(&change, &old).unwrap();
    assert_eq!(new.keys().collect::<Vec<_>>(), ["moves", "new", "stays"]);
    // Another base, or another end, and nothing comes of it.
    assert_eq!(new_inputs(&change, &new), None);
    let mut edited = change.clone();
    edited.patch = edited.patch.replace(&c, &b);
    assert_eq!(new_inputs(&edited, &old), None);
}

#[test]
fn what_may_not_be_pinned_is_refused() {
    let file = input("file:///srv/pack", 'a');
    let none = PinnedInputs::new();
    let refused = proposed(&none, &[("x", Some(file.clone()))], InputSchemes::Remote);
    assert!(matches!(refused, Err(InvalidInputsChange::Url(..))));
    assert!(proposed(&none, &[("x", Some(file.clone()))], InputSchemes::AndFiles).is_ok());
    for (wanted, why) in [
        (("../x", Some(file.clone())), InvalidInputsChange::Name),
        (("x", None), InvalidInputsChange::Unknown("x".to_owned())),
    ] {
        assert_eq!(proposed(&none, &[wanted], InputSchemes::AndFiles), Err(why));
    }
    let same = [("x".to_owned(), file.clone())].into();
    assert_eq!(
        proposed(&same, &[("x", Some(file.clone()))], InputSchemes::AndFiles),
        Err(InvalidInputsChange::Same)
    );
    let names: Vec<String> = (0..=INPUTS_MAX).map(|n| format!("x{n}")).collect();
    let many: Vec<(&str, Option<PinnedInput>)> = names
        .iter()
        .map(|name| (name.as_str(), Some(file.clone())))
        .collect();
    assert_eq!(
        proposed(&none, &many, InputSchemes::AndFiles),
        Err(InvalidInputsChange::TooMany)
    );
}
