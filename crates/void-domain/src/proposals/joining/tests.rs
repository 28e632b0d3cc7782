//! I39: whatever joins, nothing that was foreign, riskier or said is lost, and all of it is bounded.

use serde_json::json;

use super::*;
use crate::actors::{Actor, Surface};
use crate::digests::Digest;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::limits::TAINT_SOURCES_MAX;
use crate::proposals::{ProposedAction, Subject, SubjectKind};

const NOW: Timestamp = Timestamp::from_ms(1_000);

fn pending(risk: Risk) -> Proposal {
    Proposal {
        id: ProposalId::new(NOW, [1; 10]),
        code: ProposalCode::from_random(&[1, 2, 3, 4]),
        subject: Subject {
            label: "Stop".into(),
            tier: if risk == Risk::Nominal {
                Tier::Safe
            } else {
                Tier::Risky
            },
            risk,
            target: "guest:z/107".into(),
            digest: Digest::of(b"d"),
            kind: SubjectKind::Action(ProposedAction {
                action_id: ActionId::parse("stop-ct107").unwrap(),
                definition: json!({}),
                execution: None,
                params: json!({}),
                exec_digest: Digest::of(b"e"),
            }),
        },
        requested_by: Actor::Owner {
            surface: Surface::Cli,
        }
        .requester(),
        reason: Some("first".into()),
        diff: Some("+first".into()),
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: Timestamp::from_ms(9_000),
        state: State::Pending,
    }
}

fn twin() -> Twin {
    Twin {
        reason: Some("first".into()),
        diff: Some("+first".into()),
        taint: Taint::clean(),
        risk: Risk::Nominal,
    }
}

#[test]
fn the_same_again_is_only_counted() {
    let silent = Twin {
        reason: None,
        diff: None,
        ..twin()
    };
    let joined = pending(Risk::Guarded).join(twin(), NOW).unwrap();
    let joined = joined.join(silent, NOW).unwrap();
    assert_eq!((joined.count, joined.revision), (3, 0));
    assert!(joined.joined.is_empty() && joined.taint.is_clean());
    assert_eq!(joined.subject.risk, Risk::Guarded);
}

#[test]
fn the_strictest_stays_whichever_came_first() {
    let tainted = Taint::from_sources(vec!["log:web".into()]);
    let strict = Twin {
        taint: tainted.clone(),
        risk: Risk::Critical,
        ..twin()
    };
    let risen = pending(Risk::Nominal).join(strict, NOW).unwrap();
    assert_eq!(
        (risen.subject.tier, risen.subject.risk),
        (Tier::Risky, Risk::Critical)
    );
    assert_eq!((&risen.taint, risen.revision), (&tainted, 1));
    // What comes later and is harmless takes nothing back.
    let stays = risen.join(twin(), NOW).unwrap();
    assert_eq!(
        (stays.subject.tier, stays.subject.risk),
        (Tier::Risky, Risk::Critical)
    );
    assert_eq!((stays.taint, stays.revision), (tainted, 1));
}

#[test]
fn every_other_word_is_kept_once() {
    let other = Twin {
        reason: Some("second".into()),
        diff: Some("+second".into()),
        ..twin()
    };
    let only_reason = Twin {
        reason: Some("third".into()),
        diff: Some("+second".into()),
        ..twin()
    };
    let mut proposal = pending(Risk::Guarded);
    for twin in [&other, &other, &only_reason, &only_reason] {
        proposal = proposal.join(twin.clone(), NOW).unwrap();
    }
    assert_eq!(
        proposal.reasons().collect::<Vec<_>>(),
        ["first", "second", "third"]
    );
    assert_eq!(proposal.diffs().collect::<Vec<_>>(), ["+first", "+second"]);
    assert_eq!((proposal.count, proposal.revision), (5, 2));
}

#[test]
fn what_joins_is_bounded_and_the_card_can_say_so() {
    let saying = |n: usize, bytes: usize| Twin {
        reason: Some(format!("{n:05}{}", "x".repeat(bytes))),
        diff: None,
        taint: Taint::from_sources(vec![format!("log:{n}")]),
        risk: Risk::Guarded,
    };
    let mut proposal = pending(Risk::Guarded);
    for n in 0..1_000 {
        proposal = proposal.join(saying(n, 0), NOW).unwrap();
        let kept = (n + 1).min(JOINED_WORDS_MAX);
        assert_eq!(proposal.joined.words.len(), kept);
        assert_eq!(proposal.joined.left_out, (n + 1 - kept) as u64);
        let sources = (n + 1).min(TAINT_SOURCES_MAX + 1);
        assert_eq!(proposal.taint.sources().len(), sources);
    }
    assert_eq!(
        proposal.taint.sources().last().map(String::as_str),
        Some(Taint::MORE)
    );
    // A flood of words ends in one last change, so that the owner can decide.
    let revision = proposal.revision;
    assert!(revision <= (JOINED_WORDS_MAX + TAINT_SOURCES_MAX + 2) as u64);
    assert_eq!(
        proposal.join(saying(5_000, 0), NOW).unwrap().revision,
        revision
    );
    // At the limit in bytes, and one over it.
    let half = JOINED_BYTES_MAX / 2 - 5;
    let at_limit = pending(Risk::Guarded).join(saying(1, half), NOW).unwrap();
    let at_limit = at_limit.join(saying(2, half), NOW).unwrap();
    assert_eq!(
        (at_limit.joined.words.len(), at_limit.joined.left_out),
        (2, 0)
    );
    let over = pending(Risk::Guarded).join(saying(1, half), NOW).unwrap();
    let over = over.join(saying(2, half + 1), NOW).unwrap();
    assert_eq!((over.joined.words.len(), over.joined.left_out), (1, 1));
    assert_eq!(over.revision, 2);
}

/// Whoever reads what waits has time to answer, whatever its requester goes on saying; what makes it stricter waits for
/// nobody.
#[test]
fn words_wait_for_each_other_and_what_is_stricter_does_not() {
    let saying = |reason: &str| Twin {
        reason: Some(reason.to_owned()),
        ..twin()
    };
    let mut proposal = pending(Risk::Guarded);
    for n in 0..JOINED_WORDS_AT_ONCE {
        let words = saying(&format!("w{n}"));
        assert_eq!(proposal.words_wait_until(&words, NOW), None, "{n}");
        proposal = proposal.join(words, NOW).unwrap();
    }
    let until = NOW.plus(JOINED_WORDS_APART);
    let just_before = Timestamp::from_ms(until.as_ms() - 1);
    for at in [NOW, just_before] {
        assert_eq!(proposal.words_wait_until(&saying("more"), at), Some(until));
        // What was said before says nothing new.
        for known in ["first", "w1"] {
            assert_eq!(proposal.words_wait_until(&saying(known), at), None);
        }
        let tainted = Twin {
            taint: Taint::from_sources(vec!["log:web".into()]),
            ..saying("more")
        };
        let riskier = Twin {
            risk: Risk::Critical,
            ..saying("more")
        };
        for stricter in [tainted, riskier] {
            assert_eq!(proposal.words_wait_until(&stricter, at), None);
            let joined = proposal.clone().join(stricter, at).unwrap();
            assert_eq!(joined.revision, proposal.revision + 1);
            assert!(joined.reasons().any(|reason| reason == "more"));
        }
    }
    assert_eq!(proposal.words_wait_until(&saying("more"), until), None);
    let next = proposal.join(saying("more"), until).unwrap();
    assert!(next.words_wait_until(&saying("and more"), until).is_some());
}

/// Random sequences: the result has all that any of them brought, in any order.
#[test]
fn nothing_is_lost_in_a_thousand_random_sequences() {
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    for _ in 0..1_000 {
        let mut proposal = pending(Risk::ALL[usize::try_from(next(3)).unwrap()]);
        let (mut sources, mut reasons, mut risk) =
            (Vec::new(), vec!["first".to_owned()], proposal.subject.risk);
        for _ in 0..next(7) {
            let twin = Twin {
                reason: (next(2) == 0).then(|| format!("reason {}", next(4))),
                diff: None,
                taint: Taint::from_sources(
                    (0..next(3)).map(|_| format!("log:{}", next(5))).collect(),
                ),
                risk: Risk::ALL[usize::try_from(next(3)).unwrap()],
            };
            sources.extend(twin.taint.sources().to_vec());
            reasons.extend(twin.reason.clone());
            risk = risk.max(twin.risk);
            let before = (
                proposal.revision,
                proposal.taint.clone(),
                proposal.subject.risk,
                proposal.joined.clone(),
            );
            proposal = proposal.join(twin, NOW).unwrap();
            let after = (
                proposal.taint.clone(),
                proposal.subject.risk,
                proposal.joined.clone(),
            );
            let changed = (before.1, before.2, before.3) != after;
            assert_eq!(
                changed,
                proposal.revision > before.0,
                "a change is a revision, and the other way round"
            );
        }
        assert!(
            sources
                .iter()
                .all(|source| proposal.taint.sources().contains(source))
        );
        assert!(
            reasons
                .iter()
                .all(|reason| proposal.reasons().any(|known| known == reason))
        );
        assert_eq!(proposal.subject.risk, risk);
        assert_eq!(proposal.subject.tier == Tier::Risky, risk != Risk::Nominal);
    }
}
