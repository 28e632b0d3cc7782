use super::*;
use crate::notifications::Zone;

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

fn cron(expression: &str, zone: &str) -> ReminderSchedule {
    ReminderSchedule::Cron {
        expression: expression.to_owned(),
        zone: Zone::get(zone).unwrap(),
    }
}

fn reminder(schedule: ReminderSchedule, now: Timestamp) -> Reminder {
    let next_at = schedule.first(now).unwrap();
    Reminder {
        id: ReminderId::new(now, [1; 10]),
        agent: "alice".parse().unwrap(),
        set_by: "agent-alice".to_owned(),
        text: "look at the backup".to_owned(),
        taint: Taint::clean(),
        schedule,
        set_at: now,
        fired_count: 0,
        last_fired_at: None,
        state: ReminderState::Active { next_at },
    }
}

/// Fires whenever it is due, on time, and says when that was.
fn times(schedule: ReminderSchedule, from: &str, count: usize) -> Vec<String> {
    let mut one = reminder(schedule, at(from));
    let mut found = Vec::new();
    while let (Some(due), true) = (one.next_at(), found.len() < count) {
        let (next, due_at) = one.fire(due).unwrap();
        assert_eq!(due_at, due);
        found.push(due.to_string().replace(":00.000Z", "Z"));
        one = next;
    }
    found
}

#[test]
fn the_clock_goes_forward_and_a_time_that_is_not_there_is_due_after_the_jump() {
    // 02:30 is not there in Berlin on 29 March 2026: it is 03:00 then.
    let daily = times(
        cron("30 2 * * *", "Europe/Berlin"),
        "2026-03-27T12:00:00Z",
        3,
    );
    assert_eq!(
        daily,
        [
            "2026-03-28T01:30Z",
            "2026-03-29T01:00Z",
            "2026-03-30T00:30Z"
        ]
    );
    // What is due every half hour is so before and after.
    let often = times(
        cron("*/30 * * * *", "Europe/Berlin"),
        "2026-03-29T00:10:00Z",
        4,
    );
    assert_eq!(
        often,
        [
            "2026-03-29T00:30Z",
            "2026-03-29T01:00Z",
            "2026-03-29T01:30Z",
            "2026-03-29T02:00Z"
        ]
    );
    // Midnight is not there in Cairo on 24 April 2026, and the day is.
    let midnight = times(cron("0 0 * * *", "Africa/Cairo"), "2026-04-22T12:00:00Z", 3);
    assert_eq!(
        midnight,
        [
            "2026-04-22T22:00Z",
            "2026-04-23T22:00Z",
            "2026-04-24T21:00Z"
        ]
    );
}

#[test]
fn the_clock_goes_back_and_a_time_that_is_there_twice_is_due_once() {
    let daily = times(
        cron("30 2 * * *", "Europe/Berlin"),
        "2026-10-24T12:00:00Z",
        3,
    );
    assert_eq!(
        daily,
        [
            "2026-10-25T00:30Z",
            "2026-10-26T01:30Z",
            "2026-10-27T01:30Z"
        ]
    );
    let hourly = times(
        cron("0 * * * *", "Europe/Berlin"),
        "2026-10-24T23:30:00Z",
        4,
    );
    assert_eq!(
        hourly,
        [
            "2026-10-25T00:00Z",
            "2026-10-25T01:00Z",
            "2026-10-25T02:00Z",
            "2026-10-25T03:00Z"
        ]
    );
}

/// However late it is found, it is due once, and goes on where its schedule is.
#[test]
fn what_is_late_is_due_once() {
    let start = at("2026-01-01T00:00:00Z");
    let hour = Duration::from_secs(60 * 60);
    let late = start.plus(hour * 10 + Duration::from_secs(90));
    for (schedule, next) in [
        (
            ReminderSchedule::Every { interval: hour },
            Some("2026-01-01T11:00:00.000Z"),
        ),
        (cron("0 * * * *", "UTC"), Some("2026-01-01T11:00:00.000Z")),
        (
            ReminderSchedule::Once {
                at: start.plus(hour),
            },
            None,
        ),
    ] {
        let (fired, due_at) = reminder(schedule.clone(), start).fire(late).unwrap();
        assert_eq!(due_at, start.plus(hour), "{schedule:?}");
        assert_eq!(
            fired.next_at().map(|next| next.to_string()).as_deref(),
            next
        );
        assert_eq!((fired.fired_count, fired.last_fired_at), (1, Some(late)));
        assert_eq!(fired.clone().fire(late), None, "{schedule:?}");
    }
}

#[test]
fn it_is_due_at_its_time_and_not_before() {
    let start = at("2026-01-01T00:00:00Z");
    let due = start.plus(INTERVAL_MIN);
    let one = reminder(
        ReminderSchedule::Every {
            interval: INTERVAL_MIN,
        },
        start,
    );
    assert_eq!(one.clone().fire(due.minus(Duration::from_millis(1))), None);
    let (next, _) = one.fire(due).unwrap();
    assert_eq!(next.next_at(), Some(due.plus(INTERVAL_MIN)));
}

#[test]
fn a_schedule_is_bounded() {
    let (now, ms) = (at("2026-01-01T00:00:00Z"), Duration::from_millis(1));
    let once = |at| ReminderSchedule::Once { at };
    let every = |interval| ReminderSchedule::Every { interval };
    for (schedule, expected) in [
        (once(now), Err(InvalidReminder::Time)),
        (once(now.plus(ms)), Ok(())),
        (once(now.plus(AHEAD_MAX)), Ok(())),
        (once(now.plus(AHEAD_MAX + ms)), Err(InvalidReminder::Time)),
        (every(INTERVAL_MIN), Ok(())),
        (every(INTERVAL_MIN - ms), Err(InvalidReminder::TooOften)),
        (every(AHEAD_MAX + ms), Err(InvalidReminder::Time)),
        (cron("*/5 * * * *", "UTC"), Ok(())),
        (cron("*/4 * * * *", "UTC"), Err(InvalidReminder::TooOften)),
        (cron("0,1 4 * * *", "UTC"), Err(InvalidReminder::TooOften)),
        (cron("59 23 31 12 *", "UTC"), Ok(())),
        (cron("0 9 * * MON-FRI", "UTC"), Ok(())),
        // The next 29 February is in 2028.
        (cron("0 0 29 2 *", "UTC"), Err(InvalidReminder::Time)),
    ] {
        assert_eq!(schedule.first(now).map(drop), expected, "{schedule:?}");
    }
}

/// None of these takes long to be refused, though one of them never comes true.
#[test]
fn what_is_no_schedule_is_refused() {
    let now = at("2026-01-01T00:00:00Z");
    for bad in [
        "",
        "* * * *",
        "* * * * * *",
        "@hourly",
        "@reboot",
        "60 * * * *",
        "* 24 * * *",
        "a b c d e",
        "0 0 30 2 *",
        "0 0 0 * *",
        "0\t0 * * *",
        "0 0 * * *\u{2003}",
        &format!("{} * * * *", "1,".repeat(CRON_BYTES_MAX)),
    ] {
        let found = cron(bad, "UTC").first(now);
        assert_eq!(found, Err(InvalidReminder::Cron), "{bad:?}");
    }
}

#[test]
fn what_is_cancelled_is_due_no_more_and_ends_once() {
    let now = at("2026-01-01T00:00:00Z");
    let one = reminder(
        ReminderSchedule::Every {
            interval: INTERVAL_MIN,
        },
        now,
    );
    let cancelled = one.cancel("owner-web", now).unwrap();
    assert_eq!(cancelled.clone().fire(now.plus(AHEAD_MAX)), None);
    assert_eq!(cancelled.cancel("x", now), Err(ReminderOver("cancelled")));
    let once = reminder(
        ReminderSchedule::Once {
            at: now.plus(INTERVAL_MIN),
        },
        now,
    );
    let (done, _) = once.fire(now.plus(INTERVAL_MIN)).unwrap();
    assert_eq!(done.cancel("x", now), Err(ReminderOver("done")));
}

#[test]
fn what_for_is_said_in_bounds() {
    let long = "x".repeat(TEXT_BYTES_MAX);
    assert_eq!(checked_text(&format!(" {long}\n")), Ok(long.clone()));
    for bad in ["", " ", &format!("{long}x")] {
        assert_eq!(checked_text(bad), Err(InvalidReminder::Text));
    }
}
