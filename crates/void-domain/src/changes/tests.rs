use serde_json::json;

use super::catalogue::{Base, InvalidCatalogueChange, Sent, change, new_text};
use super::*;
use crate::actors::Actor;
use crate::cards::Card;
use crate::catalogue::{Catalogue, Lockout};
use crate::diffs;
use crate::ids::ProposalCode;
use crate::limits::{CATALOGUE_BYTES_MAX, CHANGE_PATCH_BYTES_MAX};
use crate::proposals::{Joined, Proposal, State};
use crate::taint::Taint;
use crate::time::Timestamp;

const OLD: &str = r#"{
  "hosts": { "home": { "address": "local" } },
  "actions": [
    {
      "id": "restart-caddy",
      "label": "Restart caddy",
      "kind": "service_restart",
      "host": "home",
      "service": "caddy",
      "tier": "risky"
    },
    {
      "id": "restart-ntp",
      "label": "Restart ntp",
      "kind": "service_restart",
      "host": "home",
      "service": "ntp",
      "tier": "safe"
    }
  ]
}
"#;

fn parsed(text: &str) -> Catalogue {
    Catalogue::parse(text, &Lockout::default()).unwrap()
}

fn proposed(old: Option<&str>, sent: &Sent) -> Result<Change, InvalidCatalogueChange> {
    let loaded = parsed(old.unwrap_or(r#"{"hosts":{},"actions":[]}"#));
    let base = Base {
        text: old,
        catalogue: &loaded,
        paths: &["/etc/void/actions.json".into()],
    };
    let home = InstanceName::parse("home").unwrap();
    change(base, sent, &Lockout::default(), &home, ChangeEffect::Commit)
}

fn of_file(new: &str) -> Change {
    proposed(Some(OLD), &Sent::File(new.to_owned())).unwrap()
}

#[test]
fn a_file_and_a_patch_that_mean_the_same_are_the_same_change() {
    let new = OLD.replace("\"risky\"", "\"safe\"");
    let patch = diffs::unified(OLD, &new).unwrap();
    let by_patch = proposed(Some(OLD), &Sent::Patch(patch.clone())).unwrap();
    let by_file = of_file(&new);
    assert_eq!(by_patch, by_file);
    assert_eq!(by_file.patch, patch);
    assert_eq!(new_text(&by_file, Some(OLD)), Some(new));
    assert_eq!(by_file.summary, ["restart-caddy: risky becomes safe"]);
}

#[test]
fn what_widens_is_said_first_and_in_words_of_void() {
    let new = OLD
        .replace(
            "\"tier\": \"safe\"",
            "\"tier\": \"risky\", \"cooldown_s\": 90",
        )
        .replace("restart-caddy", "restart-web")
        .replace("\"risky\"\n    },\n    {", "\"safe\"\n    },\n    {");
    let summary = of_file(&new).summary;
    assert_eq!(
        summary,
        [
            "new: restart-web (safe), restarts caddy on home; it is away for a moment; it runs at once when an agent asks",
            "restart-ntp: safe becomes risky",
            "restart-ntp: cooldown_s was nothing, is 90",
            "gone: restart-caddy",
        ]
    );
    let spaced = of_file(&format!("{OLD}\n"));
    assert_eq!(
        spaced.summary,
        ["nothing that may run changes: only how the file is written"]
    );
    // A label is the patch's own word; it is quoted, and stands in the patch.
    let told = of_file(&OLD.replace("Restart ntp", "gone; approved"));
    assert_eq!(
        told.summary,
        ["restart-ntp: label was \"Restart ntp\", is \"gone; approved\""]
    );
    // Another blank, and a Cyrillic letter: two labels that differ do not look the same.
    let told = of_file(&OLD.replace("Restart ntp", "R\u{435}start\u{a0}ntp"));
    assert_eq!(
        told.summary,
        [
            "restart-ntp: label was \"Restart ntp\", is \"R\\u{435}start\\u{a0}ntp\" (they look the same)"
        ]
    );
    // A word that is wholly of another script is one of another language, unless it looks like what was there.
    let old = OLD.replace("Restart ntp", "ace");
    let cyrillic = OLD.replace("Restart ntp", "\u{430}\u{441}\u{435}");
    let other = OLD.replace("Restart ntp", "\u{441}\u{431}\u{440}\u{43e}\u{441}");
    for (new, is) in [
        (&cyrillic, r#""\u{430}\u{441}\u{435}" (they look the same)"#),
        (&other, "\"\u{441}\u{431}\u{440}\u{43e}\u{441}\""),
    ] {
        let told = proposed(Some(&old), &Sent::File(new.clone())).unwrap();
        let was = if is.ends_with(')') { "\"ace\"" } else { "ace" };
        let line = format!("restart-ntp: label was {was}, is {is}");
        assert_eq!(told.summary, [line]);
    }
}

#[test]
fn the_first_catalogue_has_no_base() {
    let first = proposed(None, &Sent::File(OLD.to_owned())).unwrap();
    assert_eq!((first.op, &first.base), (ChangeOp::Create, &None));
    assert_eq!(new_text(&first, None).as_deref(), Some(OLD));
    assert_eq!(new_text(&first, Some("")), None, "somebody wrote one");
}

#[test]
fn what_would_be_refused_is_not_proposed() {
    let sent = |text: &str| proposed(Some(OLD), &Sent::File(text.to_owned()));
    assert_eq!(sent(OLD), Err(InvalidCatalogueChange::Same));
    let unknown = OLD.replace("\"tier\": \"safe\"", "\"tier\": \"harmless\"");
    assert!(matches!(
        sent(&unknown),
        Err(InvalidCatalogueChange::Refused(_))
    ));
    assert!(matches!(
        sent("no JSON"),
        Err(InvalidCatalogueChange::Refused(_))
    ));
    let huge = format!("{OLD}{}", " ".repeat(CATALOGUE_BYTES_MAX));
    assert_eq!(sent(&huge), Err(InvalidCatalogueChange::FileTooLarge));
    assert_eq!(
        sent(&OLD.replace("\n  \"actions\"", "\r  \"actions\"")),
        Err(InvalidCatalogueChange::Unpatchable)
    );
    let long = format!("{OLD}{}", " ".repeat(CHANGE_PATCH_BYTES_MAX));
    assert_eq!(sent(&long), Err(InvalidCatalogueChange::PatchTooLarge));
    // Its size is told before what it says.
    let garbage = "no JSON".repeat(CHANGE_PATCH_BYTES_MAX / 7 + 1);
    assert_eq!(sent(&garbage), Err(InvalidCatalogueChange::PatchTooLarge));
    let lines = format!("{OLD}{}", "{\n".repeat(CHANGE_PATCH_BYTES_MAX / 20));
    assert_eq!(
        sent(&lines.replace('{', &"{".repeat(20))),
        Err(InvalidCatalogueChange::PatchTooLarge)
    );
    let garbage = Sent::Patch("no diff\n".repeat(CHANGE_PATCH_BYTES_MAX / 8 + 1));
    assert_eq!(
        proposed(Some(OLD), &garbage),
        Err(InvalidCatalogueChange::PatchTooLarge)
    );
    let patch = Sent::Patch("@@ -1 +1 @@\n-nothing\n+of this\n".to_owned());
    assert!(matches!(
        proposed(Some(OLD), &patch),
        Err(InvalidCatalogueChange::Patch(_))
    ));
}

#[test]
fn a_patch_of_another_file_is_refused_with_the_way_out() {
    let hunks = diffs::unified(OLD, &OLD.replace("\"risky\"", "\"safe\"")).unwrap();
    let sent = |name: &str| Sent::Patch(format!("--- a/{name}\n+++ b/{name}\n{hunks}"));
    assert!(proposed(Some(OLD), &sent("void/actions.json")).is_ok());
    let refused = proposed(Some(OLD), &sent("services.json")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the patch cannot be applied to the loaded catalogue: line 1 names another file: a/services.json; name the catalogue \
         on both sides (diff -u --label actions.json --label actions.json), or send the whole file"
    );
}

#[test]
fn the_digest_binds_all_of_a_change() {
    let new = OLD.replace("\"safe\"", "\"risky\"");
    let made = of_file(&new);
    let digest = |change: &Change| {
        let subject = change.clone().into_subject().unwrap();
        assert_eq!(subject.change(), Some(change));
        assert_eq!((subject.tier, subject.risk), (Tier::Risky, Risk::Critical));
        subject.digest
    };
    let edits: [fn(&mut Change); 9] = [
        |change| change.target = ChangeTarget::Topology,
        |change| change.entity = "page".to_owned(),
        |change| change.entity_id = Some("other".to_owned()),
        |change| change.op = ChangeOp::Delete,
        |change| change.base = None,
        |change| change.patch.push(' '),
        |change| change.result = Digest::ZERO,
        |change| change.summary.push("nothing".to_owned()),
        |change| change.effect = ChangeEffect::Beside,
    ];
    for edit in edits {
        let mut other = made.clone();
        edit(&mut other);
        assert_ne!(digest(&other), digest(&made), "{other:?}");
    }
}

#[test]
fn a_change_is_not_applied_to_another_base_or_to_another_end() {
    let new = OLD.replace("\"safe\"", "\"risky\"");
    let made = of_file(&new);
    assert_eq!(new_text(&made, Some(&format!("{OLD}\n"))), None);
    assert_eq!(new_text(&made, None), None);
    let mut edited = made.clone();
    edited.result = Digest::ZERO;
    assert_eq!(new_text(&edited, Some(OLD)), None);
    edited = made;
    edited.patch = edited
        .patch
        .replace("+      \"tier\": \"risky\"", "+      \"tier\": \"safe\" ");
    assert_eq!(new_text(&edited, Some(OLD)), None);
}

#[test]
fn a_definition_that_is_no_change_is_read_as_none() {
    let made = of_file(&OLD.replace("\"safe\"", "\"risky\""));
    let definition = made.definition().unwrap();
    assert_eq!(Change::from_definition(&definition), Some(made));
    for (path, value) in [
        ("target", json!("everything")),
        ("op", json!("replace")),
        ("result", json!("abc")),
        ("summary", json!("words")),
        ("more", json!(1)),
    ] {
        let mut other = definition.clone();
        other["change"][path] = value;
        assert_eq!(Change::from_definition(&other), None, "{path}");
    }
    assert_eq!(Change::from_definition(&json!({"action": {}})), None);
}

#[test]
fn a_card_shows_every_line_of_a_change_and_every_value_that_is_bound() {
    let made = of_file(&OLD.replace("\"safe\"", "\"risky\""));
    let subject = made.clone().into_subject().unwrap();
    let proposal = Proposal {
        id: "0199c0de-0000-7000-8000-000000000001".parse().unwrap(),
        code: ProposalCode::parse("AB12").unwrap(),
        subject,
        requested_by: Actor::System.requester(),
        reason: None,
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: Timestamp::from_ms(0),
        expires_at: Timestamp::from_ms(1),
        state: State::Pending,
    };
    let card = Card::of(&proposal);
    assert_eq!(card.tier, "Risky, changes what is allowed");
    assert!(card.consequence.contains("takes effect at the next start"));
    let change = card.change.unwrap();
    assert_eq!(change.summary, made.summary);
    assert_eq!(change.diff, made.patch);
    let bound = |name: &str| card.bound.iter().find(|bound| bound.name == name);
    for (name, value) in [
        ("change.base", made.base.clone().unwrap()),
        ("change.result", made.result.to_string()),
        ("change.op", "update".to_owned()),
        ("change.entity_id", "home".to_owned()),
        ("change.effect", "commit".to_owned()),
        ("digest", proposal.subject.digest.to_string()),
    ] {
        assert_eq!(
            bound(name).map(|bound| &bound.value),
            Some(&value),
            "{name}"
        );
    }
    assert_eq!(card.action_id, None);
}
