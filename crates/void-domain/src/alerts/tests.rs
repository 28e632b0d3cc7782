use serde_json::json;

use super::*;
use crate::actors::{Actor, Surface};
use crate::catalogue::{Risk, Tier};
use crate::digests::Digest;
use crate::failures::FailureCode;
use crate::ids::{ActionId, ProposalCode, ProposalId};
use crate::proposals::{
    Approval, Cancellation, Failure, Joined, ProposedAction, Run, Subject, SubjectKind,
    Verification, VerificationOutcome,
};
use crate::services::Services;
use crate::taint::Taint;

const NOW: Timestamp = Timestamp::from_ms(1_762_000_000_000);
const SECOND: Duration = Duration::from_secs(1);

fn id(n: u8) -> AlertId {
    AlertId::new(NOW, [n; 10])
}

fn ago(duration: Duration) -> Timestamp {
    NOW.minus(duration)
}

fn host() -> Scope {
    Scope::Host("ct100".to_owned())
}

#[test]
fn services_share_a_host_or_a_node_and_otherwise_nothing() {
    let services = Services::parse(
        r#"{"services": [
        {"id": "caddy", "host": "ct100", "check": {"kind": "tcp", "address": "h:1"}},
        {"id": "nas", "node": "z", "vmid": 107, "check": {"kind": "guest"}},
        {"id": "web", "check": {"kind": "tcp", "address": "h:1"}}
    ]}"#,
    )
    .unwrap();
    let scopes: Vec<String> = services
        .iter()
        .map(|service| Scope::of(service).to_string())
        .collect();
    assert_eq!(scopes, ["host:ct100", "node:z", "service:web"]);
    for text in scopes.iter().map(String::as_str).chain(["many"]) {
        assert_eq!(Scope::parse(text).unwrap().to_string(), text);
    }
    for bad in ["", "host:", "node:", "service:", "service:A B", "guest:1"] {
        assert_eq!(Scope::parse(bad), None, "{bad}");
    }
}

#[test]
fn what_goes_down_together_on_a_host_is_one_alert() {
    for (opened, count, expected) in [
        (Some(Duration::ZERO), 1, Telling::Join(id(1))),
        (Some(GATHERS_FOR), 1, Telling::Join(id(1))),
        // Later it is news of its own, with a sound.
        (Some(GATHERS_FOR + SECOND), 1, Telling::Open(host())),
        (None, 1, Telling::Open(host())),
        // Also where there are many already.
        (Some(GATHERS_FOR), OPEN_MAX, Telling::Join(id(1))),
        (None, OPEN_MAX - 1, Telling::Open(host())),
        (None, OPEN_MAX, Telling::Open(Scope::Many)),
        (None, u64::MAX, Telling::Open(Scope::Many)),
    ] {
        let open = OpenAlerts {
            here: opened.map(|opened| (id(1), ago(opened))),
            many: None,
            count,
        };
        let told = telling(host(), NOW, None, &open, NOW);
        assert_eq!(told, expected, "{opened:?} {count}");
    }
    let open = OpenAlerts {
        many: Some(id(9)),
        count: OPEN_MAX,
        ..OpenAlerts::default()
    };
    assert_eq!(telling(host(), NOW, None, &open, NOW), Telling::Join(id(9)));
    let few = OpenAlerts { count: 5, ..open };
    let told = telling(host(), NOW, None, &few, NOW);
    assert_eq!(told, Telling::Open(host()));
}

#[test]
fn what_is_down_again_soon_goes_on_with_its_alert() {
    for (up, opened, flaps) in [
        (Duration::ZERO, Duration::ZERO, true),
        (REOPENS_WITHIN, REOPENS_WITHIN, true),
        (REOPENS_WITHIN + SECOND, REOPENS_WITHIN, false),
        (SECOND, GOES_ON_FOR, true),
        // What flaps for days is told once a day.
        (SECOND, GOES_ON_FOR + SECOND, false),
    ] {
        let last = LastAlert {
            id: id(3),
            opened_at: ago(opened),
            up_at: ago(up),
        };
        // Also before it joins what is open on its host.
        let open = OpenAlerts {
            here: Some((id(1), NOW)),
            many: None,
            count: 1,
        };
        let expected = if flaps {
            Telling::Reopen(id(3))
        } else {
            Telling::Join(id(1))
        };
        let told = telling(host(), NOW, Some(last), &open, NOW);
        assert_eq!(told, expected, "{up:?} {opened:?}");
    }
    // What counts is when it went down, not when it may be told.
    let last = LastAlert {
        id: id(3),
        opened_at: ago(60 * 60 * SECOND),
        up_at: ago(40 * 60 * SECOND),
    };
    let told = |down_at| telling(host(), down_at, Some(last), &OpenAlerts::default(), NOW);
    assert_eq!(told(ago(30 * 60 * SECOND)), Telling::Reopen(id(3)));
    assert_eq!(told(NOW), Telling::Open(host()));
}

fn alert(scope: Scope, services: &[&str]) -> Alert {
    let one = |service: &&str| Alerted {
        service: ServiceId::parse(service).unwrap(),
        label: (*service).to_owned(),
        host: None,
        urgent: false,
        first_at: NOW,
        down_at: NOW,
        ended: None,
        downs: 1,
        reason: None,
    };
    Alert {
        id: id(1),
        scope,
        opened_at: NOW,
        ended_at: None,
        revision: 0,
        total: services.len() as u64,
        down: services.len() as u64,
        downs_max: 1,
        first_at: NOW,
        named: services.iter().map(one).collect(),
    }
}

#[test]
fn a_button_mutes_what_its_message_is_about() {
    let muted = |scope, services: &[&str]| {
        let muted = alert(scope, services).to_mute();
        muted.map(|muted| muted.to_string())
    };
    let node = || Scope::Node("z".to_owned());
    let web = || Scope::Service(ServiceId::parse("web").unwrap());
    for (scope, services, expected) in [
        (web(), &["web"] as &[&str], Some("service:web")),
        (host(), &["caddy"], Some("service:caddy")),
        (host(), &["caddy", "smb"], Some("host:ct100")),
        (node(), &["caddy", "smb"], Some("host:z")),
        (Scope::Many, &["caddy", "smb"], None),
        (Scope::Many, &["caddy"], Some("service:caddy")),
    ] {
        assert_eq!(muted(scope, services).as_deref(), expected, "{services:?}");
    }
    // Named is one, and there are more.
    let mut cut = alert(Scope::Many, &["caddy"]);
    cut.total = 2;
    assert_eq!(cut.to_mute(), None);
}

#[test]
fn an_alert_is_muted_when_everything_that_is_down_in_it_is() {
    let mute = |subject: &str| Mute {
        id: crate::ids::MuteId::new(NOW, [1; 10]),
        subject: Muted::parse(subject).unwrap(),
        reason: "x".to_owned(),
        by: "owner-cli".to_owned(),
        at: NOW,
        until: NOW,
    };
    let mut two = alert(host(), &["caddy", "smb"]);
    for one in &mut two.named {
        one.host = Some("ct100".to_owned());
    }
    let (caddy, smb) = (mute("service:caddy"), mute("service:smb"));
    assert!(!two.is_muted_by(&[]));
    assert!(!two.is_muted_by(std::slice::from_ref(&caddy)));
    assert!(two.is_muted_by(&[caddy.clone(), smb]));
    assert!(two.is_muted_by(&[mute("host:ct100")]));
    // What is up again counts no more, and what is not named is not known to be muted.
    two.named[1].ended = Some(Ended::Up(NOW));
    two.down = 1;
    assert!(two.is_muted_by(std::slice::from_ref(&caddy)));
    two.down = 2;
    assert!(!two.is_muted_by(&[mute("host:ct100")]));
}

#[test]
fn the_more_it_flaps_the_less_is_said() {
    let mut flapping = alert(host(), &["caddy"]);
    let mut before = Duration::ZERO;
    for downs in [1, 2, 3, 9, 10, 1_000_000] {
        flapping.downs_max = downs;
        assert!(flapping.said_every() >= before, "{downs}");
        before = flapping.said_every();
    }
    // An hour of flapping is a handful of edits at most.
    let per_hour = Duration::from_secs(3_600).as_secs() / before.as_secs();
    assert!(per_hour <= 12, "{per_hour}");
}

fn proposal(state: State) -> Proposal {
    let owner = Actor::Owner {
        surface: Surface::Cli,
    };
    Proposal {
        id: ProposalId::new(NOW, [1; 10]),
        code: ProposalCode::from_random(&[1, 2, 3, 4]),
        subject: Subject {
            label: "Restart".into(),
            tier: Tier::Safe,
            risk: Risk::Nominal,
            target: "service:ct100/caddy".into(),
            digest: Digest::of(b"d"),
            kind: SubjectKind::Action(ProposedAction {
                action_id: ActionId::parse("restart-caddy").unwrap(),
                definition: json!({}),
                execution: None,
                params: json!({}),
                exec_digest: Digest::of(b"e"),
            }),
        },
        requested_by: owner.requester(),
        reason: None,
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: NOW,
        expires_at: NOW,
        state,
    }
}

/// What is down is silent for as long as a run works on it and a moment longer, and then it is told.
#[test]
fn a_run_explains_for_a_while_and_what_never_ran_explains_nothing() {
    const CHECKED_WITHIN: Duration = Duration::from_secs(120);
    let approval = || Approval {
        by: "owner-cli".to_owned(),
        at: NOW,
    };
    // However old the run is that ended, what counts is its end.
    let began = |ago_by| Run {
        started_at: ago(ago_by),
        ticket_expires_at: NOW,
        lease_until: NOW,
    };
    let run = || began(60 * RUN_EXPLAINS_FOR);
    let failure = || Failure::new(FailureCode::NoEnd, "nobody knows");
    let running = |ago_by| State::Running {
        approval: approval(),
        run: began(ago_by),
    };
    let executed = |ended, seen: Option<(VerificationOutcome, Duration)>| State::Executed {
        approval: approval(),
        run: run(),
        at: ago(ended),
        result: json!({}),
        verification: seen.map(|(outcome, seen)| Verification {
            outcome,
            at: ago(seen),
            detail: json!({}),
        }),
    };
    let failed = |ended| State::Failed {
        approval: approval(),
        run: run(),
        at: ago(ended),
        failure: failure(),
        settled_by: "owner-cli".to_owned(),
    };
    let unknown = |ended| State::Unknown {
        approval: approval(),
        run: run(),
        at: ago(ended),
        failure: failure(),
    };
    let (unseen, settles) = (CHECKED_WITHIN + RUN_SETTLES_WITHIN, RUN_SETTLES_WITHIN);
    let (verified, refuted) = (VerificationOutcome::Verified, VerificationOutcome::Failed);
    for (state, expected) in [
        (running(Duration::ZERO), true),
        (running(RUN_EXPLAINS_FOR), true),
        (running(RUN_EXPLAINS_FOR + SECOND), false),
        (executed(Duration::ZERO, None), true),
        (executed(unseen, None), true),
        (executed(unseen + SECOND, None), false),
        // Once it was looked at, nothing is waited for.
        (executed(unseen, Some((verified, settles))), true),
        (executed(unseen, Some((verified, settles + SECOND))), false),
        (executed(settles, Some((refuted, settles))), true),
        (executed(unseen, Some((refuted, settles + SECOND))), false),
        (failed(settles), true),
        (failed(settles + SECOND), false),
        (unknown(settles), true),
        (unknown(settles + SECOND), false),
        // Nothing of it has touched a machine, and it may never.
        (State::Pending, false),
        (
            State::Approved {
                approval: approval(),
            },
            false,
        ),
        (
            State::Rejected {
                by: "owner-cli".to_owned(),
                at: NOW,
                reason: None,
            },
            false,
        ),
        (
            State::Expired {
                at: NOW,
                lapsed: Some(approval()),
            },
            false,
        ),
        (
            State::Cancelled {
                by: "owner-cli".to_owned(),
                at: NOW,
                why: Cancellation::Withdrawn,
            },
            false,
        ),
        (
            State::Refused {
                at: NOW,
                failure: failure(),
            },
            false,
        ),
    ] {
        let run = proposal(state);
        let explained = explains(&run, CHECKED_WITHIN, NOW);
        assert_eq!(explained, expected, "{:?}", run.state);
    }
}
