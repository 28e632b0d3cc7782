//! What was refused says what comes next, and what says no hears how one says no.

use serde_json::{Map, Value, json};

use super::{hers, lab, owners, play, play_after};

const NOW: &str = "2026-11-16T20:00:00.000Z";

/// The lab where `propose_action` answers this.
fn answered(answer: Value) -> impl Fn(&str, &Map<String, Value>) -> Value {
    move |tool, arguments| match tool {
        "propose_action" => answer.clone(),
        "list_actions" => {
            let mut listed = lab(tool, arguments);
            listed["at"] = json!(NOW);
            listed
        }
        _ => lab(tool, arguments),
    }
}

fn refused(reason: &str, besides: &Value) -> Value {
    let mut answer = json!({"outcome": "refused", "display_state": "refused", "code": "AAAA",
        "reason": reason, "meaning": "It was refused and nothing ran. Why: it is so."});
    for (name, value) in besides.as_object().unwrap() {
        answer[name] = value.clone();
    }
    answer
}

#[test]
fn a_freeze_is_told_with_whose_it_is_when_it_ends_and_what_ends_it() {
    let forever = answered(refused("frozen", &json!({"frozen_by": "owner (web)"})));
    let (_, text) = play("stop iventoy", true, forever);
    assert!(
        text.ends_with(
            "It did not run: everything is frozen by owner (web), until you thaw it. `void thaw` lets go; say it again then."
        ),
        "{text}"
    );
    let besides = json!({"frozen_by": "nightly", "until": "2026-11-16T23:00:00.000Z"});
    let (_, text) = play("stop iventoy", true, answered(refused("frozen", &besides)));
    assert!(
        text.contains("frozen by nightly, until 2026-11-16T23:00:00Z. `void thaw`"),
        "{text}"
    );
}

#[test]
fn the_same_in_other_words_names_what_waits_and_when_more_is_taken() {
    let besides = json!({"waits_as": "7F3K", "until": "2026-11-16T20:00:40.000Z"});
    let too_soon = refused("rate_limited", &besides);
    let (_, text) = play("stop iventoy", true, answered(too_soon.clone()));
    assert!(
        text.contains("the same waits for your yes already: **7F3K**"),
        "{text}"
    );
    assert!(text.contains("taken again in 40 s"), "{text}");
    // A yes to that is told where it is given.
    let told = [owners("stop iventoy"), hers(&text)];
    let (calls, text) = play_after(&told, "yes", true, answered(too_soon));
    assert_eq!(calls, ["proposal_status"], "{text}");
}

#[test]
fn every_other_refusal_says_why() {
    let (_, text) = play(
        "restart caddy",
        true,
        answered(refused("cap_reached", &json!({}))),
    );
    assert!(
        text.ends_with("It did not run (cap reached): it is so."),
        "{text}"
    );
}

/// What waits in the lab is nightly's: it is the owner's to reject, by its name or by its code.
#[test]
fn who_says_no_hears_how_one_says_no_and_never_how_one_says_yes() {
    for said in [
        "withdraw the stop of iventoy",
        "reject the stop of iventoy",
        "deny the iventoy request",
        "decline the iventoy stop please",
        "lehne den Stopp von iventoy ab",
        "kannst du den stopp von iventoy ablehnen",
        "zieh den stopp von iventoy zurück",
        "I was going to stop iventoy but changed my mind",
        "ich wollte iventoy stoppen, hab es mir aber anders überlegt",
        "no, reject stop-ct107",
        "reject 7f3k",
    ] {
        let (calls, text) = play(said, true, lab);
        assert!(
            text.contains("`void inbox reject 7F3K` says no"),
            "{said}: {text}"
        );
        assert!(!text.contains("approve"), "{said}: {text}");
        let acts = ["withdraw_proposal", "propose_action"];
        let acted = calls
            .iter()
            .any(|call| acts.iter().any(|act| call.starts_with(act)));
        assert!(!acted, "{said}: {calls:?}");
    }
    // Another operation of the same guest does not wait.
    let (_, text) = play("reject the start of iventoy", true, lab);
    assert!(!text.contains("7F3K"), "{text}");
}

#[test]
fn what_waits_already_is_named_with_both_answers() {
    let (_, text) = play("should I stop iventoy?", true, lab);
    assert!(
        text.contains("`void inbox approve 7F3K` says yes, `void inbox reject 7F3K` no"),
        "{text}"
    );
}
