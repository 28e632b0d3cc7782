use jiff::tz::TimeZone;

use super::super::{Gathered, digest, units};
use super::*;
use crate::cards::Eyes;
use crate::ids::{AlertId, MuteId};
use crate::services::ServiceId;
use crate::time::Timestamp;

/// Saturday, 12:26:40.
const NOW: Timestamp = Timestamp::from_ms(1_762_000_000_000);

fn frame() -> Frame {
    Frame {
        zone: TimeZone::UTC,
        rehearsal: false,
        head: None,
        eyes: Eyes::default(),
    }
}

fn minutes(count: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(60 * count))
}

fn one(label: &str) -> Alerted {
    Alerted {
        service: ServiceId::parse("x").unwrap(),
        label: label.to_owned(),
        host: Some("ct100".to_owned()),
        urgent: false,
        first_at: NOW,
        down_at: NOW,
        ended: None,
        downs: 1,
        reason: Some("refused".to_owned()),
    }
}

fn of(scope: Scope, named: Vec<Alerted>) -> Alert {
    let ends = named.iter().map(|one| one.ended.map(Ended::at));
    let ended_at = ends.collect::<Option<Vec<_>>>().map(|all| {
        let last = all.into_iter().max();
        last.unwrap()
    });
    Alert {
        id: AlertId::new(NOW, [1; 10]),
        scope,
        opened_at: NOW,
        ended_at,
        revision: 0,
        total: named.len() as u64,
        down: named.iter().filter(|one| one.is_down()).count() as u64,
        downs_max: named.iter().map(|one| one.downs).max().unwrap(),
        first_at: NOW,
        named,
    }
}

fn host() -> Scope {
    Scope::Host("ct100".to_owned())
}

fn up(label: &str, after: u64) -> Alerted {
    Alerted {
        ended: Some(Ended::Up(minutes(after))),
        ..one(label)
    }
}

fn flaps(downs: u64, last: u64, ended: Option<Ended>) -> Alerted {
    Alerted {
        downs,
        down_at: minutes(last),
        ended,
        ..one("Caddy")
    }
}

#[test]
fn every_state_of_an_alert_has_its_words() {
    let unwatched = Some(Ended::Unwatched(minutes(9)));
    let gone = Alerted {
        ended: unwatched,
        ..one("Caddy")
    };
    let gone_too = gone.clone();
    let stopped = Alerted {
        ended: Some(Ended::Stopped(minutes(5))),
        ..one("Caddy")
    };
    let homeless = Alerted {
        host: None,
        reason: None,
        ..one("Web")
    };
    for (alert, title, body) in [
        (
            of(host(), vec![one("Caddy")]),
            "DOWN · Caddy on ct100 since Sat 12:26",
            "It is down: the connection was refused.",
        ),
        (
            of(
                Scope::Service(ServiceId::parse("x").unwrap()),
                vec![homeless],
            ),
            "DOWN · Web since Sat 12:26",
            "It is down.",
        ),
        (
            of(host(), vec![up("Caddy", 4)]),
            "UP AGAIN · Caddy on ct100 after 4 min",
            "From Sat 12:26 to Sat 12:30.",
        ),
        (
            of(host(), vec![flaps(5, 20, None)]),
            "FLAPPING · Caddy on ct100, 5 times in 20 min, down since Sat 12:46",
            "It is down: the connection was refused.",
        ),
        (
            of(host(), vec![flaps(5, 20, Some(Ended::Up(minutes(22))))]),
            "UP AGAIN · Caddy on ct100, flapping: 5 times in 22 min, up since Sat 12:48",
            "From Sat 12:26 to Sat 12:48.",
        ),
        (
            of(host(), vec![gone]),
            "NO LONGER WATCHED · Caddy on ct100",
            "Down since Sat 12:26; the services file no longer has it.",
        ),
        (
            of(host(), vec![stopped.clone()]),
            "STOPPED BY YOU · Caddy on ct100",
            "Down since Sat 12:26; you stopped it Sat 12:31.",
        ),
        (
            of(host(), vec![stopped, up("Files", 3)]),
            "OVER · 2 services on ct100 after 5 min",
            "Caddy: stopped by you\nFiles: up again after 3 min",
        ),
        (
            of(host(), vec![one("Caddy"), one("Files")]),
            "DOWN · 2 services on ct100 since Sat 12:26",
            "Caddy: down since Sat 12:26, the connection was refused\n\
             Files: down since Sat 12:26, the connection was refused",
        ),
        (
            of(host(), vec![flaps(2, 6, None), up("Files", 130)]),
            "DOWN · 1 of 2 services on ct100 since Sat 12:32",
            "Caddy: flapping: 2 times in 6 min, down since Sat 12:32\nFiles: up again after 2 h 10 min",
        ),
        (
            of(host(), vec![gone_too, up("Files", 3)]),
            "OVER · 2 services on ct100 after 9 min",
            "Caddy: no longer watched\nFiles: up again after 3 min",
        ),
        (
            of(Scope::Many, vec![up("Caddy", 1), up("Files", 3)]),
            "UP AGAIN · 2 services after 3 min",
            "Caddy: up again after 1 min\nFiles: up again after 3 min",
        ),
    ] {
        let message = super::alert(&alert, None, &frame());
        assert_eq!(
            (message.title.as_str(), message.body.as_str()),
            (title, body)
        );
    }
}

#[test]
fn a_rehearsal_a_record_and_a_mute_are_said() {
    let frame = Frame {
        rehearsal: true,
        head: Some((7, crate::digests::Digest::of(b"head"))),
        ..frame()
    };
    let mute = |subject| Mute {
        id: MuteId::new(NOW, [1; 10]),
        subject,
        reason: "a new disk\nUP AGAIN".to_owned(),
        by: "owner-web".to_owned(),
        at: NOW,
        until: minutes(60),
    };
    let alert = of(host(), vec![one("Caddy")]);
    let service = mute(Muted::Service(ServiceId::parse("x").unwrap()));
    let message = super::alert(&alert, Some(&service), &frame);
    assert!(message.title.starts_with("REHEARSAL · DOWN · Caddy"));
    let lines: Vec<&str> = message.body.lines().collect();
    assert_eq!(
        lines[1],
        "Muted until Sat 13:26 by owner (web): \"a new disk\\u{a}UP AGAIN\""
    );
    assert!(lines[2].starts_with("record 7 "), "{lines:?}");
    let (mut first, second) = (one("Caddy"), one("Files"));
    first.service = ServiceId::parse("y").unwrap();
    let both = of(host(), vec![first, second]);
    let message = super::alert(&both, Some(&service), &frame);
    assert!(message.body.contains("Files is muted until"), "{message:?}");
    let host = mute(Muted::Host("ct100".to_owned()));
    let message = super::alert(&alert, Some(&host), &frame);
    assert!(message.body.contains("Everything on ct100 is muted until"));
}

/// A digest has one line for an outage, whether it is over or not.
#[test]
fn an_outage_is_one_line_of_a_digest() {
    let alerts = vec![
        of(host(), vec![one("Caddy")]),
        of(host(), vec![up("Caddy", 4)]),
        of(host(), vec![flaps(5, 20, None)]),
        of(host(), vec![one("Caddy"), up("Files", 3)]),
    ];
    let gathered = Gathered {
        alert_count: 9,
        alerts,
        ..Gathered::default()
    };
    let message = digest(&gathered, &frame());
    assert_eq!(message.title, "9 outages");
    assert_eq!(
        message.body,
        "Caddy on ct100: down since Sat 12:26\n\
         Caddy on ct100: down from Sat 12:26, up again after 4 min\n\
         Caddy on ct100: flapping: 5 times in 20 min, down since Sat 12:46\n\
         2 services on ct100: 1 still down, since Sat 12:26\n\
         and 5 more"
    );
}

/// Whatever a label says, a message fits and its lines are ours.
#[test]
fn long_and_hostile_labels_stay_in_their_line() {
    for label in [
        "a\nUP AGAIN · everything\u{202e}".to_owned(),
        "🙂".repeat(200),
        "w".repeat(10_000),
    ] {
        let mut alert = of(host(), vec![one(&label); 15]);
        alert.total = 5_000;
        let message = super::alert(&alert, None, &frame());
        assert_eq!(message.body.lines().count(), 16, "{label}");
        assert!(message.body.ends_with("and 4985 more"));
        assert!(units(&message.text()) < super::super::MESSAGE_UNITS_MAX);
        assert!(!message.text().contains('\u{202e}'));
        assert!(told_again(&alert, &frame()).contains("5000 services on ct100"));
    }
}

#[test]
fn spans_are_said_as_people_say_them() {
    for (seconds, words) in [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (7_500, "2 h 5 min"),
        (47 * 3_600, "47 h"),
        (48 * 3_600, "2 days"),
        (1_000 * 3_600, "41 days"),
    ] {
        assert_eq!(span(Duration::from_secs(seconds)), words);
    }
}
