//! Conversations: places, one turn at a time, ends that happen once, and what agents used.

use void_domain::conversations::{
    Conversation, Message, Said, Step, Truth, TruthItem, Turn, TurnState, Usage,
};
use void_domain::failures::{AnyCode, FailureCode};
use void_domain::ids::{ConversationId, MessageId};
use void_domain::proposals::Failure;
use void_domain::taint::Taint;
use void_domain::time::Timestamp;
use void_store::{Store, StoreError, conversations};
use void_testkit::proposals::NOW;

use crate::engines;

const LATER: Timestamp = Timestamp::from_ms(NOW.as_ms() + 1_000);

pub fn conversation(n: u8, agent: &str) -> Conversation {
    Conversation {
        id: ConversationId::new(NOW, [n; 10]),
        agent: agent.to_owned(),
        space_id: None,
        about: None,
        created_at: NOW,
    }
}

pub fn message(conversation: &Conversation, seq: u64, said: Said) -> Message {
    let place = u8::try_from(seq).unwrap();
    Message {
        id: MessageId::new(NOW, [place; 10]),
        conversation_id: conversation.id,
        seq,
        at: NOW,
        body: format!("message {seq}"),
        said,
    }
}

pub fn begun() -> Said {
    Said::ByAgent(Box::new(Turn::begun("scripted", "scripted-1")))
}

/// A turn in which everything is set.
fn ended(state: TurnState) -> Turn {
    let item = TruthItem {
        id: "id".to_owned(),
        code: "CODE".to_owned(),
        action_id: "touch-a".to_owned(),
        label: "Touch a".to_owned(),
        status: "pending".to_owned(),
        display_state: Some("starting".to_owned()),
        reason: Some(AnyCode::read("because")),
    };
    Turn {
        state,
        brain: "other".to_owned(),
        model: "other-2".to_owned(),
        trace: vec![Step {
            tool: "search".to_owned(),
            args_summary: "query: é".to_owned(),
            status: "ok".to_owned(),
            took_ms: Some(3),
            result: Some("{\n  \"é\": 1\n}".to_owned()),
            proposal_id: None,
            draft_summary: Some("Make the page".to_owned()),
        }],
        usage: Usage {
            input_tokens: 1,
            output_tokens: 2,
            cache_read_tokens: 3,
            cache_write_tokens: 4,
            cost_micros: 5,
        },
        truth: Truth {
            waits: vec![item],
            ..Truth::default()
        },
        tainted_by: Taint::from_sources(vec!["output of X".to_owned()]),
        session: Some("s-1".to_owned()),
        causes: Vec::new(),
    }
}

pub async fn with_messages(store: &Store, conversation: &Conversation, messages: Vec<Message>) {
    let conversation = conversation.clone();
    let write = store.write(move |tx| {
        Box::pin(async move {
            conversations::insert(tx, &conversation).await?;
            for message in &messages {
                conversations::append(tx, message).await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    write.await.unwrap();
}

async fn end(store: &Store, id: MessageId, turn: Turn) -> bool {
    let write = store.write(move |tx| {
        Box::pin(async move { conversations::end_turn(tx, id, "said", &turn).await })
    });
    write.await.unwrap()
}

async fn find(store: &Store, id: MessageId) -> Message {
    let read = store.read(move |tx| Box::pin(conversations::find_message(tx, id)));
    read.await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_is_read_back_as_it_was() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let talk = conversation(1, "blue");
        let said = message(&talk, 1, Said::ByOwner);
        let answer = message(&talk, 2, begun());
        with_messages(store, &talk, vec![said.clone(), answer.clone()]).await;
        assert_eq!(find(store, said.id).await, said, "{name}");
        assert_eq!(find(store, answer.id).await, answer, "{name}");
        let failure = Failure::new(FailureCode::BrainBrokeOff, "it broke");
        let turn = ended(TurnState::Failed { at: LATER, failure });
        assert!(end(store, answer.id, turn.clone()).await);
        let stored = find(store, answer.id).await;
        assert_eq!(stored.said, Said::ByAgent(Box::new(turn)), "{name}");
        assert_eq!(stored.body, "said");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_turn_runs_in_a_conversation_and_ends_once() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let talk = conversation(1, "blue");
        let first = message(&talk, 1, begun());
        with_messages(store, &talk, vec![first.clone()]).await;
        let second = message(&talk, 2, begun());
        let append = store
            .write(move |tx| Box::pin(async move { conversations::append(tx, &second).await }));
        assert!(append.await.is_err(), "{name}: the index says so too");
        let running = store.read(move |tx| Box::pin(conversations::running_in(tx, talk.id)));
        assert_eq!(running.await.unwrap().unwrap().id, first.id);
        let done = || ended(TurnState::Done { at: LATER });
        assert!(end(store, first.id, done()).await);
        let stopped = ended(TurnState::Stopped { at: LATER });
        assert!(
            !end(store, first.id, stopped).await,
            "{name}: the first end stays"
        );
        let taint = Taint::from_sources(vec!["late".to_owned()]);
        let id = first.id;
        let mark = store.write(move |tx| {
            Box::pin(async move { conversations::mark_tainted(tx, id, &taint).await })
        });
        assert!(!mark.await.unwrap(), "{name}: it is over");
        assert_eq!(find(store, id).await.said, Said::ByAgent(Box::new(done())));
        let running = store.read(|tx| Box::pin(conversations::list_running(tx, 10)));
        assert!(running.await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_did_not_end_well_begins_again() {
    let at = LATER;
    let failure = Failure::new(FailureCode::BrainBrokeOff, "it broke");
    let states = [
        (TurnState::Running, false),
        (TurnState::Done { at }, false),
        (TurnState::Stopped { at }, true),
        (TurnState::Failed { at, failure }, true),
    ];
    for engine in engines::both().await {
        let store = &engine.store;
        for (n, (state, may)) in states.clone().into_iter().enumerate() {
            let talk = conversation(10 + u8::try_from(n).unwrap(), "blue");
            let mut answer = message(&talk, 20 + n as u64, begun());
            with_messages(store, &talk, vec![answer.clone()]).await;
            let earlier = ended(state);
            if earlier.state != TurnState::Running {
                assert!(end(store, answer.id, earlier.clone()).await);
            }
            let again = Turn::begun_again("scripted", "scripted-1", &earlier);
            let (id, turn) = (answer.id, again.clone());
            let write = store.write(move |tx| {
                Box::pin(async move { conversations::begin_again(tx, id, LATER, &turn).await })
            });
            assert_eq!(
                write.await.unwrap(),
                may,
                "{}: {:?}",
                engine.name,
                earlier.state
            );
            if may {
                // Empty, and it knows what the first attempt did and read.
                (answer.body, answer.at) = (String::new(), LATER);
                answer.said = Said::ByAgent(Box::new(again));
                assert_eq!(find(store, answer.id).await, answer);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_paged_from_the_newest() {
    for engine in engines::both().await {
        let store = &engine.store;
        let talk = conversation(1, "blue");
        let said = (1..=5).map(|seq| message(&talk, seq, Said::ByOwner));
        with_messages(store, &talk, said.collect()).await;
        let page = async |before: Option<u64>, limit: u32| {
            let id = talk.id;
            let read =
                store.read(move |tx| Box::pin(conversations::list_before(tx, id, before, limit)));
            let page = read.await.unwrap().into_iter();
            page.map(|message| message.seq).collect::<Vec<_>>()
        };
        assert_eq!(page(None, 2).await, [5, 4], "{}", engine.name);
        assert_eq!(page(Some(4), 2).await, [3, 2]);
        assert_eq!(page(Some(2), 2).await, [1]);
        let id = talk.id;
        let next = store.read(move |tx| Box::pin(conversations::next_seq(tx, id)));
        assert_eq!(next.await.unwrap(), 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_adds_up_by_agent_and_day() {
    let usage = ended(TurnState::Running).usage;
    for engine in engines::both().await {
        let store = &engine.store;
        for (agent, day) in [("blue", 7), ("blue", 7), ("blue", 8), ("red", 7)] {
            let write = store.write(move |tx| {
                Box::pin(async move { conversations::add_usage(tx, agent, day, &usage).await })
            });
            write.await.unwrap();
        }
        let used = async |agent: &'static str, day: i64| {
            let read = store.read(move |tx| {
                Box::pin(async move { conversations::usage_on(tx, agent, day).await })
            });
            read.await.unwrap()
        };
        assert_eq!(used("blue", 7).await, (20, 10), "{}", engine.name);
        assert_eq!(used("blue", 8).await, (10, 5));
        assert_eq!(used("red", 7).await, (10, 5));
        assert_eq!(used("red", 8).await, (0, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_conversation_with_an_agent_goes_on() {
    for engine in engines::both().await {
        let store = &engine.store;
        for talk in [
            conversation(1, "blue"),
            conversation(2, "blue"),
            conversation(3, "red"),
        ] {
            with_messages(store, &talk, Vec::new()).await;
        }
        let newest = async |agent: &'static str| {
            let read = store.read(move |tx| {
                Box::pin(async move { conversations::newest_with(tx, agent).await })
            });
            read.await.unwrap()
        };
        assert_eq!(
            newest("blue").await,
            Some(conversation(2, "blue")),
            "{}",
            engine.name
        );
        assert_eq!(newest("green").await, None);
    }
}

/// Those in which something was said, newest first, each with how it begins; another agent's are not among them.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_conversations_shows_what_was_said_in_them() {
    for engine in engines::both().await {
        let written = engine.store.write(|tx| {
            Box::pin(async move {
                for (n, agent, count) in [
                    (1, "blue", 1),
                    (2, "blue", 0),
                    (3, "other", 1),
                    (4, "blue", 3),
                    (5, "blue", 2),
                ] {
                    let talk = conversation(n, agent);
                    conversations::insert(tx, &talk).await?;
                    for seq in 1..=count {
                        let mut said = message(&talk, u64::from(seq), Said::ByOwner);
                        said.id = MessageId::new(NOW, [n * 10 + seq; 10]);
                        said.at = Timestamp::from_ms(NOW.as_ms() + i64::from(seq));
                        conversations::append(tx, &said).await?;
                    }
                }
                Ok::<_, StoreError>(())
            })
        });
        written.await.unwrap();
        let (mut seen, mut cursor) = (Vec::new(), None);
        for page in 0..2 {
            let listed = engine
                .store
                .read(move |tx| Box::pin(conversations::list_with(tx, "blue", None, cursor, 2)));
            let listed = listed.await.unwrap();
            assert_eq!(listed.next.is_some(), page == 0, "{}", engine.name);
            cursor = listed.next.map(|next| next.parse().unwrap());
            seen.extend(listed.items);
        }
        let expected = [(5, 2), (4, 3), (1, 1)].map(|(n, count)| conversations::Summary {
            id: conversation(n, "blue").id,
            agent: "blue".to_owned(),
            about: None,
            created_at: NOW,
            message_count: count,
            last_at: Timestamp::from_ms(NOW.as_ms() + i64::try_from(count).unwrap()),
            words: "message 1".to_owned(),
        });
        assert_eq!(seen, expected, "{}", engine.name);
    }
}
