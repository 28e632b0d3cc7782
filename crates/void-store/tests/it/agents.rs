//! Agents and their tokens: one row per name for good, capabilities from the agent, and what a database from
//! before agents becomes.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use void_domain::actors::ActorKind;
use void_domain::agents::{Agent, AgentName, AgentState};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, TokenId};
use void_domain::time::Timestamp;
use void_store::tokens::{self, Token};
use void_store::{SqliteConfig, Store, StoreError, agents};
use void_testkit::proposals::NOW;

use crate::engines;

fn capabilities(list: &[Capability]) -> Capabilities {
    list.iter().copied().collect()
}

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn id(n: u8) -> TokenId {
    TokenId::new(NOW, [n; 10])
}

fn agent(n: u8, text: &str) -> Agent {
    Agent {
        id: AgentId::of_first_token(id(n)),
        name: name(text),
        capabilities: capabilities(&[Capability::Read]),
        created_at: NOW,
        state: AgentState::Live,
    }
}

fn token(n: u8, agent: &Agent) -> Token {
    Token {
        id: id(n),
        kind: ActorKind::Agent,
        agent_id: Some(agent.id),
        name: agent.name.to_string(),
        hash: Digest::of(&[n]),
        capabilities: agent.capabilities.clone(),
        created_at: NOW,
        last_used_at: None,
        revoked_at: None,
        resident: false,
    }
}

async fn live(store: &Store, n: u8) -> Option<Token> {
    let found = store.read(move |tx| Box::pin(tokens::find_live(tx, Digest::of(&[n]))));
    found.await.unwrap()
}

async fn insert(store: &Store, agent: Agent, token: Token) -> Result<(), StoreError> {
    let written = store.write(move |tx| {
        Box::pin(async move {
            agents::insert(tx, &agent).await?;
            tokens::insert(tx, &token).await
        })
    });
    written.await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_token_of_an_agent_may_what_the_agent_may() {
    for engine in engines::both().await {
        let (store, bot) = (&engine.store, agent(1, "bot"));
        insert(store, bot.clone(), token(1, &bot)).await.unwrap();
        let second = token(2, &bot);
        store
            .write(move |tx| Box::pin(async move { tokens::insert(tx, &second).await }))
            .await
            .unwrap();
        for n in [1, 2] {
            assert_eq!(
                live(store, n).await,
                Some(token(n, &bot)),
                "{}",
                engine.name
            );
        }
        let bot_id = bot.id;
        let of_bot = store.read(move |tx| Box::pin(tokens::list_live_of(tx, bot_id)));
        let both = [token(1, &bot), token(2, &bot)];
        assert_eq!(of_bot.await.unwrap(), both, "{}", engine.name);
        let rights = capabilities(&[Capability::AuditRead]);
        let changed = Agent {
            capabilities: rights.clone(),
            ..bot.clone()
        };
        let won = store.write(move |tx| {
            Box::pin(async move { agents::set_capabilities(tx, bot_id, &rights).await })
        });
        assert!(won.await.unwrap());
        for n in [1, 2] {
            assert_eq!(live(store, n).await, Some(token(n, &changed)));
        }
        // The name is one agent's, whoever asks at the same moment.
        let other = agent(3, "bot");
        let again = insert(store, other.clone(), token(3, &other)).await;
        assert!(
            matches!(again, Err(StoreError::Constraint(_))),
            "{} {again:?}",
            engine.name
        );
        assert_eq!(live(store, 3).await, None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_withdrawn_after_its_last_token_and_its_row_stays() {
    for engine in engines::both().await {
        let (store, bot) = (&engine.store, agent(1, "bot"));
        insert(store, bot.clone(), token(1, &bot)).await.unwrap();
        let later = Timestamp::from_ms(NOW.as_ms() + 1);
        let bot_id = bot.id;
        let withdraw = || {
            let store = store.clone();
            async move {
                let won = store.write(move |tx| Box::pin(agents::withdraw(tx, bot_id, later)));
                won.await.unwrap()
            }
        };
        let find = || {
            let store = store.clone();
            async move {
                let found = store
                    .read(|tx| Box::pin(async move { agents::find_named(tx, &name("bot")).await }));
                found.await.unwrap().unwrap()
            }
        };
        assert!(!withdraw().await, "{}: it has a live token", engine.name);
        let revoked = store.write(move |tx| Box::pin(tokens::revoke(tx, id(1), later)));
        assert!(revoked.await.unwrap());
        assert!(withdraw().await, "{}", engine.name);
        assert!(!withdraw().await, "{}: once", engine.name);
        assert_eq!(find().await.state, AgentState::Withdrawn { at: later });
        // A token that is live in its own row opens nothing for it.
        let (late, rights) = (token(2, &bot), capabilities(&[Capability::Act]));
        let inserted =
            store.write(move |tx| Box::pin(async move { tokens::insert(tx, &late).await }));
        inserted.await.unwrap();
        assert_eq!(live(store, 2).await, None, "{}", engine.name);
        let usable = store.read(move |tx| Box::pin(tokens::has_usable(tx, bot_id)));
        assert!(!usable.await.unwrap());
        let none = rights.clone();
        let set = store.write(move |tx| {
            Box::pin(async move { agents::set_capabilities(tx, bot_id, &none).await })
        });
        assert!(!set.await.unwrap(), "a withdrawn agent gets nothing");
        let given = rights.clone();
        let restored = store
            .write(move |tx| Box::pin(async move { agents::restore(tx, bot_id, &given).await }));
        assert!(restored.await.unwrap());
        let expected = Agent {
            capabilities: rights,
            ..bot
        };
        assert_eq!(find().await, expected);
        let names = store.read(|tx| Box::pin(agents::names(tx)));
        assert_eq!(names.await.unwrap(), [name("bot")]);
    }
}

/// A database of version 18 with tokens of every sort.
fn before_agents(path: &Path) -> Connection {
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
    let db = Connection::open(path).unwrap();
    db.execute_batch(
        "CREATE TABLE migrations (name TEXT PRIMARY KEY NOT NULL, checksum TEXT NOT NULL)",
    )
    .unwrap();
    let files = fs::read_dir(migrations).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        if name.as_str() >= "0019" {
            break;
        }
        let text = fs::read_to_string(file).unwrap();
        db.execute_batch(&text).unwrap();
        let checksum = Digest::of(text.as_bytes()).to_string();
        db.execute("INSERT INTO migrations VALUES ($1, $2)", [&name, &checksum])
            .unwrap();
    }
    let both = r#"["read","act"]"#;
    for (n, kind, name, capabilities, revoked_at, resident) in [
        // Live under a name that an earlier token had.
        (1_u8, "agent", "bot", r#"["read"]"#, Some(5), 0),
        (2, "agent", "bot", both, None, 0),
        // Live, although its id is the smaller one: the clock went back.
        (3, "agent", "late", r#"["act"]"#, None, 0),
        (4, "agent", "late", r#"["read"]"#, Some(5), 0),
        // Withdrawn, twice.
        (5, "agent", "gone", r#"["read"]"#, Some(5), 0),
        (6, "agent", "gone", r#"["spawn"]"#, Some(7), 0),
        (7, "agent", "little-blue", both, None, 1),
        (8, "viewer", "bot", "[]", None, 0),
        (9, "node", "bot", "[]", None, 0),
    ] {
        db.execute(
            "INSERT INTO tokens (id, kind, name, hash, capabilities, created_at, revoked_at, resident) \
             VALUES ($1, $2, $3, $4, $5, 1, $6, $7)",
            rusqlite::params![
                id(n).to_string(),
                kind,
                name,
                Digest::of(&[n]).to_string(),
                capabilities,
                revoked_at,
                resident
            ],
        )
        .unwrap();
    }
    // A node's row refers to its token, and to nothing that is gone afterwards.
    db.execute(
        "INSERT INTO nodes (name, state, token_id, joined_at, joined_by, fingerprint, generation) \
         VALUES ('n9', 'joined', $1, 1, 'owner-cli', $2, 0)",
        [id(9).to_string(), "f".repeat(64)],
    )
    .unwrap();
    db
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_from_before_agents_go_on_as_their_agents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.db");
    drop(before_agents(&path));
    let store = Store::open_sqlite(SqliteConfig::new(&path)).await.unwrap();
    let (read, act) = (Capability::Read, Capability::Act);
    for (n, agent_of, rights) in [
        (2, Some(2), vec![read, act]),
        (3, Some(3), vec![act]),
        (7, Some(7), vec![read, act]),
        (8, None, vec![]),
        (9, None, vec![]),
    ] {
        let token = live(&store, n).await.unwrap();
        assert_eq!(
            token.agent_id,
            agent_of.map(|n| AgentId::of_first_token(id(n)))
        );
        assert_eq!(token.capabilities, capabilities(&rights), "{n}");
        assert_eq!(token.resident, n == 7);
    }
    for n in [1, 4, 5, 6] {
        assert_eq!(live(&store, n).await, None, "{n} was revoked");
    }
    let find = |text: &'static str| {
        let found = store
            .read(move |tx| Box::pin(async move { agents::find_named(tx, &name(text)).await }));
        async move { found.await.unwrap().unwrap() }
    };
    for (text, n, state) in [
        ("bot", 2, AgentState::Live),
        ("late", 3, AgentState::Live),
        ("little-blue", 7, AgentState::Live),
        (
            "gone",
            6,
            AgentState::Withdrawn {
                at: Timestamp::from_ms(7),
            },
        ),
    ] {
        let agent = find(text).await;
        assert_eq!(
            (agent.id, agent.state),
            (AgentId::of_first_token(id(n)), state)
        );
    }
    let all = store.read(|tx| Box::pin(tokens::list(tx, 100)));
    let all = all.await.unwrap();
    assert_eq!(all.len(), 9);
    for token in all {
        // Revoked ones belong to the agent of their name as well.
        let expected = match token.kind {
            ActorKind::Agent => Some(
                find(match token.name.as_str() {
                    "bot" => "bot",
                    "late" => "late",
                    "gone" => "gone",
                    _ => "little-blue",
                })
                .await
                .id,
            ),
            _ => None,
        };
        assert_eq!(token.agent_id, expected, "{}", token.name);
    }
    drop(store);
    crate::migrations::release(folder.path()).await;
    let db = Connection::open(&path).unwrap();
    let broken: i64 = db
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(broken, 0);
    // What the type cannot express, the database refuses.
    let refused = db.execute(
        "UPDATE tokens SET agent_id = NULL, kind = 'viewer' WHERE name = 'late'",
        [],
    );
    assert_eq!(refused.unwrap(), 2, "a viewer has no agent");
    let refused = db.execute("UPDATE tokens SET kind = 'viewer' WHERE name = 'gone'", []);
    assert!(refused.is_err(), "an agent's token is no viewer's");
}
