use std::time::Duration;

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_000_000);

fn message(state: AgentMessageState) -> AgentMessage {
    AgentMessage {
        id: AgentMessageId::new(NOW, [1; 10]),
        sender: Sender::Agent("alice".parse().unwrap()),
        receiver: "bob".parse().unwrap(),
        seq: 1,
        key: "k".parse().unwrap(),
        content: MessageContent::Text(MessageText::parse("hello").unwrap()),
        taint: Taint::clean(),
        sent_at: NOW,
        expires_at: NOW.plus(EXPIRES_AFTER),
        state,
    }
}

const fn delivered(deliveries: u32) -> AgentMessageState {
    AgentMessageState::Delivered {
        deliveries,
        last_at: NOW,
    }
}

#[test]
fn only_what_is_open_moves() {
    let at = NOW.plus(Duration::from_secs(1));
    let acknowledged = AgentMessageState::Acknowledged {
        deliveries: 1,
        at: NOW,
    };
    let dead = AgentMessageState::Dead {
        deliveries: 3,
        at: NOW,
        why: DeadReason::Expired,
        noticed_at: None,
    };
    for (state, next) in [
        (AgentMessageState::Waiting, Some(1)),
        (delivered(1), Some(2)),
        (delivered(DELIVERIES_MAX - 1), Some(DELIVERIES_MAX)),
        (acknowledged, None),
        (dead, None),
    ] {
        let moved = message(state).deliver(at);
        match next {
            Some(deliveries) => assert_eq!(
                moved.unwrap().state,
                AgentMessageState::Delivered {
                    deliveries,
                    last_at: at
                }
            ),
            None => assert_eq!(
                moved,
                Err(NotOpen {
                    from: state.as_str()
                })
            ),
        }
        let buried = message(state).bury(at, DeadReason::OutOfReach);
        assert_eq!(buried.is_ok(), next.is_some(), "{state:?}");
    }
}

#[test]
fn what_expired_or_was_handed_out_too_often_is_a_dead_letter() {
    let why = |state, at| match message(state).deliver(at).unwrap().state {
        AgentMessageState::Dead {
            why, deliveries, ..
        } => Some((why, deliveries)),
        _ => None,
    };
    let last = NOW.plus(EXPIRES_AFTER - Duration::from_millis(1));
    assert_eq!(why(AgentMessageState::Waiting, last), None);
    let expired = NOW.plus(EXPIRES_AFTER);
    assert_eq!(
        why(AgentMessageState::Waiting, expired),
        Some((DeadReason::Expired, 0))
    );
    assert_eq!(
        why(delivered(DELIVERIES_MAX), NOW),
        Some((DeadReason::NeverAcknowledged, DELIVERIES_MAX))
    );
}

#[test]
fn a_text_has_a_bound_as_json_writes_it() {
    let plain = "a".repeat(TEXT_BYTES_MAX);
    assert_eq!(
        MessageText::parse(&plain).unwrap().written_bytes(),
        TEXT_BYTES_MAX
    );
    for long in [format!("{plain}a"), "\"".repeat(TEXT_BYTES_MAX / 2 + 1)] {
        assert_eq!(MessageText::parse(&long), Err(InvalidMessageText::TooLong));
    }
    let quotes = "\n".repeat(TEXT_BYTES_MAX / 2 - 1) + "x";
    assert!(MessageText::parse(&quotes).is_ok());
    for empty in ["", " ", "\n\t"] {
        assert_eq!(MessageText::parse(empty), Err(InvalidMessageText::Empty));
    }
    for control in ["a\0", "\u{1b}[2J", "a\r\n", "\u{9b}31m", "\u{7f}x"] {
        assert_eq!(
            MessageText::parse(control),
            Err(InvalidMessageText::Control)
        );
    }
    // What JSON writes is no longer than what was counted.
    let text = "a\"b\\c\nd\te ä 😀";
    let written = serde_json::to_string(text).unwrap().len() - 2;
    assert_eq!(MessageText::parse(text).unwrap().written_bytes(), written);
}

#[test]
fn a_key_is_a_short_word() {
    for key in ["a", "deploy-7", "A.b_c:9", &"k".repeat(64)] {
        assert_eq!(key.parse::<MessageKey>().unwrap().as_str(), key);
    }
    for key in ["", "a b", "ä", "a\n", "a/b", &"k".repeat(65)] {
        assert!(key.parse::<MessageKey>().is_err(), "{key:?}");
    }
}

#[test]
fn every_word_is_read_back_and_no_other() {
    for cause in OwnWake::ALL {
        assert_eq!(OwnWake::parse(cause.as_str()), Some(cause));
    }
    for reason in DeadReason::ALL {
        assert_eq!(DeadReason::parse(reason.as_str()), Some(reason));
        assert!(!reason.words().is_empty());
    }
    assert_eq!(OwnWake::parse("restart caddy"), None);
    for sender in [Sender::Owner, Sender::Agent("owner-2".parse().unwrap())] {
        assert_eq!(sender.to_string().parse(), Ok(sender));
    }
    for other in ["", "agent-", "alice", "agent-A", "owner-cli", "system"] {
        assert_eq!(other.parse::<Sender>(), Err(InvalidSender), "{other}");
    }
}

#[test]
fn a_full_mailbox_keeps_room_for_those_above() {
    let judge = |all, of_sender, rank| MailboxLoad { all, of_sender }.judge(rank);
    let others = MAILBOX_MESSAGES_MAX - MAILBOX_RESERVED;
    assert_eq!(judge(others - 1, 0, SenderRank::Other), Ok(()));
    assert_eq!(judge(others, 0, SenderRank::Other), Err(MailboxFull::All));
    assert_eq!(judge(others, 0, SenderRank::Above), Ok(()));
    assert_eq!(
        judge(MAILBOX_MESSAGES_MAX - 1, 0, SenderRank::Above),
        Ok(())
    );
    assert_eq!(
        judge(MAILBOX_MESSAGES_MAX, 0, SenderRank::Above),
        Err(MailboxFull::All)
    );
    for rank in [SenderRank::Above, SenderRank::Other] {
        assert_eq!(judge(49, SENDER_MESSAGES_MAX - 1, rank), Ok(()));
        assert_eq!(
            judge(50, SENDER_MESSAGES_MAX, rank),
            Err(MailboxFull::OfSender)
        );
    }
}

#[test]
fn a_minute_has_so_many_sends_and_then_one_for_each_share() {
    let mut spent = Timestamp::from_ms(0);
    for _ in 0..SENDS_PER_MINUTE {
        spent = take_send(spent, NOW, SENDS_PER_MINUTE).unwrap();
    }
    let share = Duration::from_secs(60) / SENDS_PER_MINUTE;
    assert_eq!(
        take_send(spent, NOW, SENDS_PER_MINUTE),
        Err(TooManySends { retry_after: share })
    );
    let almost = NOW.plus(share - Duration::from_millis(1));
    assert!(take_send(spent, almost, SENDS_PER_MINUTE).is_err());
    let later = NOW.plus(share);
    let next = take_send(spent, later, SENDS_PER_MINUTE).unwrap();
    assert!(take_send(next, later, SENDS_PER_MINUTE).is_err());
    // After a minute of rest all of them are there again.
    let rested = NOW.plus(Duration::from_secs(60));
    let mut spent = next;
    for _ in 0..SENDS_PER_MINUTE - 1 {
        spent = take_send(spent, rested, SENDS_PER_MINUTE).unwrap();
    }
    // A clock that went back an hour keeps nobody out for longer than a minute.
    let before = Timestamp::from_ms(NOW.as_ms() - 3_600_000);
    let refused = take_send(spent, before, SENDS_PER_MINUTE).unwrap_err();
    assert!(refused.retry_after <= Duration::from_secs(60));
}

#[test]
fn what_is_tainted_is_so_after_any_number_of_hops() {
    let mut taint = Taint::clean();
    assert!(message(AgentMessageState::Waiting).given_taint().is_clean());
    taint.add("page of a stranger");
    for hop in 1..=40 {
        let sent = AgentMessage {
            sender: Sender::Agent(format!("agent{hop}").parse().unwrap()),
            taint,
            ..message(AgentMessageState::Waiting)
        };
        taint = sent.given_taint();
        assert!(!taint.is_clean());
        assert_eq!(taint.sources()[0], format!("message of agent{hop}"));
        assert!(taint.sources().len() <= crate::limits::TAINT_SOURCES_MAX + 1);
    }
}
