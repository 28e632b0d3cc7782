use super::*;
use crate::ids::AgentId;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn frozen(by: &str, until: Option<i64>) -> Frozen {
    Frozen {
        by: by.into(),
        at: at(10),
        reason: Some("smoke".into()),
        until: until.map(at),
    }
}

fn agent(name: &str) -> Actor {
    Actor::Agent {
        id: AgentId::new(at(1), [7; 10]),
        name: name.parse().unwrap(),
    }
}

#[test]
fn a_freeze_holds_until_its_end() {
    let frozen = |until| Freeze::Frozen(frozen("owner-cli", until));
    let now = at(100);
    assert!(!Freeze::Thawed.holds_at(now));
    assert!(frozen(None).holds_at(now));
    assert!(frozen(Some(101)).holds_at(now));
    assert!(!frozen(Some(100)).holds_at(now));
}

/// Every authority against every pair of ends: nobody but the proved owner makes a freeze end sooner.
#[test]
fn only_a_fresh_proof_shortens_or_replaces_a_freeze() {
    let now = at(100);
    let ends = [Some(101), Some(500), Some(9_000), None];
    for authority in [Authority::Replace, Authority::Lengthen, Authority::Keep] {
        for held_end in ends {
            for wanted_end in ends {
                let held = frozen("owner-cli", held_end);
                let wanted = Frozen {
                    reason: Some("other".into()),
                    ..frozen("owner-web", wanted_end)
                };
                let current = Freeze::Frozen(held.clone());
                let verdict = judge(&current, wanted.clone(), authority, now);
                let later = wanted_end
                    .unwrap_or(i64::MAX)
                    .cmp(&held_end.unwrap_or(i64::MAX));
                let expected = match (authority, later) {
                    (Authority::Replace, _) => FreezeVerdict::Set(wanted),
                    (Authority::Keep, _) | (Authority::Lengthen, std::cmp::Ordering::Equal) => {
                        FreezeVerdict::Stays(held)
                    }
                    (Authority::Lengthen, std::cmp::Ordering::Greater) => {
                        FreezeVerdict::Lengthened(Frozen {
                            until: wanted_end.map(at),
                            ..held
                        })
                    }
                    (Authority::Lengthen, std::cmp::Ordering::Less) => FreezeVerdict::ProofNeeded,
                };
                assert_eq!(
                    verdict, expected,
                    "{authority:?} {held_end:?} {wanted_end:?}"
                );
            }
        }
        // Where nothing holds, everybody who may freeze does, at any time.
        for over in [
            Freeze::Thawed,
            Freeze::Frozen(frozen("owner-cli", Some(100))),
        ] {
            let wanted = frozen("agent-blue", None);
            let verdict = judge(&over, wanted.clone(), authority, now);
            assert_eq!(verdict, FreezeVerdict::Set(wanted));
        }
    }
}

#[test]
fn authority_comes_from_the_proof_and_not_from_the_name() {
    let fresh = Some(Duration::from_secs(5 * 60));
    let stale = Some(Duration::from_millis(5 * 60 * 1_000 + 1));
    let owner = |surface| Actor::Owner { surface };
    let telegram = Surface::Telegram {
        user: 1,
        may_approve: true,
    };
    for (actor, ago, expected) in [
        (owner(Surface::Cli), None, Authority::Replace),
        (owner(Surface::Api), None, Authority::Replace),
        (owner(Surface::Web), fresh, Authority::Replace),
        (owner(Surface::Web), stale, Authority::Lengthen),
        (owner(Surface::Web), None, Authority::Lengthen),
        (owner(telegram), None, Authority::Lengthen),
        (
            owner(Surface::Ntfy { may_approve: true }),
            None,
            Authority::Lengthen,
        ),
        (owner(Surface::File), None, Authority::Lengthen),
        (agent("owner"), fresh, Authority::Keep),
        (Actor::System, None, Authority::Keep),
    ] {
        assert_eq!(Authority::of(&actor, ago), expected, "{actor}");
    }
}

#[test]
fn an_agents_words_are_for_people_and_for_itself() {
    let owner = Actor::Owner {
        surface: Surface::Web,
    };
    let by_agent = frozen("agent-blue", None);
    assert_eq!(by_agent.reason_for(&owner), Some("smoke"));
    assert_eq!(by_agent.reason_for(&agent("blue")), Some("smoke"));
    for other in ["red", "owner", "blue-2", "system"] {
        assert_eq!(by_agent.reason_for(&agent(other)), None, "{other}");
    }
    assert_eq!(by_agent.reason_for_everyone(), None);
    for told in ["owner-cli", "owner-telegram-12", "system"] {
        let frozen = frozen(told, None);
        assert_eq!(frozen.reason_for(&agent("red")), Some("smoke"), "{told}");
        assert_eq!(frozen.reason_for_everyone(), Some("smoke"), "{told}");
    }
    // An agent whose name begins like the owner's is an agent.
    assert_eq!(frozen("agent-owner-cli", None).reason_for_everyone(), None);
}

#[test]
fn a_claim_from_before_a_freeze_stays_stopped_after_a_thaw() {
    let freeze_switch = FreezeSwitch::default();
    let (before, unpinned) = (freeze_switch.pinned(), freeze_switch.clone());
    assert!(!before.is_pulled() && !unpinned.is_pulled());
    freeze_switch.pull();
    assert!(before.is_pulled() && unpinned.is_pulled());
    freeze_switch.release();
    assert!(before.is_pulled(), "it was claimed before the freeze");
    assert!(!unpinned.is_pulled() && !freeze_switch.pinned().is_pulled());
}

#[test]
fn a_release_decided_before_a_pull_does_not_undo_it() {
    let freeze_switch = FreezeSwitch::default();
    // A sweep reads "thawed" …
    let read = freeze_switch.generation();
    // … somebody freezes …
    freeze_switch.pull();
    // … and the sweep goes on.
    assert!(!freeze_switch.release_if(read));
    assert!(freeze_switch.is_pulled());
    // Also when it was pulled before, as with a freeze whose end has come.
    let read = freeze_switch.generation();
    freeze_switch.pull();
    assert!(!freeze_switch.release_if(read));
    assert!(freeze_switch.is_pulled());
    assert!(freeze_switch.release_if(freeze_switch.generation()));
    assert!(!freeze_switch.is_pulled());
    assert!(
        freeze_switch.release_if(freeze_switch.generation()),
        "twice is the same"
    );
    freeze_switch.hold();
    let held = freeze_switch.generation();
    freeze_switch.hold();
    assert_eq!(
        freeze_switch.generation(),
        held,
        "what is held is not pulled anew"
    );
}
