//! What a message says about services that are down, and about them when they are up again.

#[cfg(test)]
mod tests;

use std::time::Duration;

use super::{Frame, LINE_CHARS_MAX, NotificationMessage, clock, person, record_line, short};
use crate::alerts::{Alert, Alerted, Ended, Scope};
use crate::mutes::{Mute, Muted};
use crate::text;

/// The message of an alert as it stands, and the mute that holds for it.
pub fn alert(alert: &Alert, mute: Option<&Mute>, frame: &Frame) -> NotificationMessage {
    let mut lines = match alert.named.as_slice() {
        [only] if alert.total == 1 => alone(only, frame),
        named => named.iter().map(|one| member(one, frame)).collect(),
    };
    let rest = alert.total.saturating_sub(alert.named.len() as u64);
    if rest > 0 {
        lines.push(format!("and {rest} more"));
    }
    lines.extend(mute.map(|mute| muted(alert, mute, frame)));
    let mut lines: Vec<String> = lines.iter().map(|one| short(one, LINE_CHARS_MAX)).collect();
    lines.extend(record_line(frame));
    NotificationMessage {
        title: rehearsed(frame, &short(&title(alert, frame), LINE_CHARS_MAX)),
        body: lines.join("\n"),
        is_whole: true,
    }
}

/// What is left of a message when a new one says it once more.
pub fn told_again(alert: &Alert, frame: &Frame) -> String {
    rehearsed(frame, &format!("Said once more below: {}", subject(alert)))
}

pub(super) fn rehearsed(frame: &Frame, text: &str) -> String {
    let mark = if frame.rehearsal { "REHEARSAL · " } else { "" };
    format!("{mark}{text}")
}

fn title(alert: &Alert, frame: &Frame) -> String {
    let subject = subject(alert);
    if let ([only], 1) = (alert.named.as_slice(), alert.total) {
        return match (only.ended, only.is_flapping()) {
            (None, false) => format!(
                "DOWN · {subject} since {}",
                clock(only.down_at, &frame.zone)
            ),
            (None, true) => format!("FLAPPING · {subject}, {}", times(only, frame)),
            (Some(Ended::Up(at)), false) => {
                format!(
                    "UP AGAIN · {subject} after {}",
                    span(at.since(only.down_at))
                )
            }
            (Some(Ended::Up(_)), true) => {
                format!("UP AGAIN · {subject}, {}", flapping(only, frame))
            }
            (Some(Ended::Unwatched(_)), _) => format!("NO LONGER WATCHED · {subject}"),
            (Some(Ended::Stopped(_)), _) => format!("STOPPED BY YOU · {subject}"),
        };
    }
    match alert.ended_at {
        None => {
            let since = clock(alert.down_since(), &frame.zone);
            match alert.down {
                down if down == alert.total => format!("DOWN · {subject} since {since}"),
                down => format!("DOWN · {down} of {subject} since {since}"),
            }
        }
        Some(at) => {
            let word = if is_all_up(alert) { "UP AGAIN" } else { "OVER" };
            let after = span(at.since(alert.first_at));
            format!("{word} · {subject} after {after}")
        }
    }
}

/// Of what is no longer watched nobody knows how it is, and what the owner stopped is down.
fn is_all_up(alert: &Alert) -> bool {
    let is_up = |one: &Alerted| matches!(one.ended, Some(Ended::Up(_)));
    alert.named.iter().all(is_up)
}

/// `Caddy on ct100`, `3 services on ct100`
fn subject(alert: &Alert) -> String {
    if let ([only], 1) = (alert.named.as_slice(), alert.total) {
        return named(only);
    }
    let services = format!("{} services", alert.total);
    match &alert.scope {
        Scope::Host(name) | Scope::Node(name) => format!("{services} on {}", text::escaped(name)),
        Scope::Service(_) | Scope::Many => services,
    }
}

fn named(one: &Alerted) -> String {
    let label = text::escaped(&one.label);
    match &one.host {
        Some(host) => format!("{label} on {}", text::escaped(host)),
        None => label,
    }
}

/// The body of a message about one service: what the title does not say.
fn alone(one: &Alerted, frame: &Frame) -> Vec<String> {
    let from = clock(one.first_at, &frame.zone);
    match one.ended {
        None => vec![sentence(one)],
        Some(Ended::Up(at)) => vec![format!("From {from} to {}.", clock(at, &frame.zone))],
        Some(Ended::Unwatched(_)) => vec![format!(
            "Down since {from}; the services file no longer has it."
        )],
        Some(Ended::Stopped(at)) => vec![format!(
            "Down since {from}; you stopped it {}.",
            clock(at, &frame.zone)
        )],
    }
}

fn sentence(one: &Alerted) -> String {
    match why(one) {
        Some(why) => format!("It is down: {why}."),
        None => "It is down.".to_owned(),
    }
}

/// One line among several.
fn member(one: &Alerted, frame: &Frame) -> String {
    format!("{}: {}", text::escaped(&one.label), stands(one, frame))
}

fn stands(one: &Alerted, frame: &Frame) -> String {
    match one.ended {
        _ if one.is_flapping() => flapping(one, frame),
        None => {
            let since = format!("down since {}", clock(one.down_at, &frame.zone));
            why(one).map_or_else(|| since.clone(), |why| format!("{since}, {why}"))
        }
        Some(Ended::Up(at)) => format!("up again after {}", span(at.since(one.down_at))),
        Some(Ended::Unwatched(_)) => "no longer watched".to_owned(),
        Some(Ended::Stopped(_)) => "stopped by you".to_owned(),
    }
}

fn flapping(one: &Alerted, frame: &Frame) -> String {
    format!("flapping: {}", times(one, frame))
}

/// `5 times in 20 min, down since Sat 12:26`
fn times(one: &Alerted, frame: &Frame) -> String {
    let (end, now) = match one.ended {
        None => (one.down_at, "down since"),
        Some(Ended::Up(at)) => (at, "up since"),
        Some(Ended::Unwatched(at)) => (at, "no longer watched since"),
        Some(Ended::Stopped(at)) => (at, "stopped by you"),
    };
    format!(
        "{} times in {}, {now} {}",
        one.downs,
        span(end.since(one.first_at)),
        clock(end, &frame.zone)
    )
}

/// One line of a digest: an outage that is over is one line too.
pub(super) fn line(alert: &Alert, frame: &Frame) -> String {
    let subject = subject(alert);
    let from = clock(alert.first_at, &frame.zone);
    match (alert.named.as_slice(), alert.ended_at) {
        ([only], _) if alert.total == 1 && only.is_flapping() => {
            format!("{subject}: {}", flapping(only, frame))
        }
        ([only], Some(_))
            if alert.total == 1 && matches!(only.ended, Some(Ended::Unwatched(_))) =>
        {
            format!("{subject}: no longer watched, down since {from}")
        }
        ([only], Some(_)) if alert.total == 1 && matches!(only.ended, Some(Ended::Stopped(_))) => {
            format!("{subject}: stopped by you, down since {from}")
        }
        (_, Some(at)) => format!(
            "{subject}: down from {from}, {} after {}",
            if is_all_up(alert) { "up again" } else { "over" },
            span(at.since(alert.first_at))
        ),
        (_, None) => {
            let since = clock(alert.down_since(), &frame.zone);
            match alert.down {
                down if down < alert.total => {
                    format!("{subject}: {down} still down, since {since}")
                }
                _ => format!("{subject}: down since {since}"),
            }
        }
    }
}

fn muted(alert: &Alert, mute: &Mute, frame: &Frame) -> String {
    let what = match &mute.subject {
        Muted::Service(_) if alert.total == 1 => "Muted".to_owned(),
        Muted::Service(id) => {
            let label = alert.named.iter().find(|one| one.service == *id);
            let label = label.map_or(id.as_str(), |one| &one.label);
            format!("{} is muted", text::escaped(label))
        }
        Muted::Host(name) => format!("Everything on {} is muted", text::escaped(name)),
    };
    format!(
        "{what} until {} by {}: \"{}\"",
        clock(mute.until, &frame.zone),
        person(&mute.by),
        text::escaped(&mute.reason)
    )
}

/// The stable words of readings as people say them.
fn why(one: &Alerted) -> Option<String> {
    let reason = one.reason.as_deref()?;
    let words = match reason {
        "refused" => "the connection was refused",
        "unreachable" => "the machine cannot be reached",
        "timed_out" => "no answer in time",
        "reset" => "the connection was cut",
        "wrong_status" => "it answered with an error",
        "not_http" => "the answer was not HTTP",
        "stopped" => "its guest is stopped",
        other => return Some(text::escaped(other)),
    };
    Some(words.to_owned())
}

/// `40 s`, `4 min`, `2 h 5 min`, `3 days`
fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    match (hours, minutes) {
        (_, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, _) if hours >= 48 => format!("{} days", hours / 24),
        (hours, minutes) => match minutes % 60 {
            0 => format!("{hours} h"),
            rest => format!("{hours} h {rest} min"),
        },
    }
}
