//! What is in quarantine opens nothing, of every kind and on both engines, until it is let out one by one.

use void_domain::actors::ActorKind;
use void_domain::agents::{Agent, AgentState};
use void_domain::capabilities::Capabilities;
use void_domain::digests::Digest;
use void_domain::ids::{AgentId, PasskeyId, TokenId};
use void_domain::notifications::{Channel, Target};
use void_domain::secrets::Secret;
use void_store::notifications::pairs::{self, Pair};
use void_store::passkeys::{self, Passkey};
use void_store::quarantine::{self, Kind};
use void_store::tokens::{self, Token};
use void_store::{Store, StoreError, Tx, agents, passwords};
use void_testkit::proposals::NOW;

use crate::engines;

const NODE: u8 = 2;
const AGENT: u8 = 1;

fn agent_id() -> AgentId {
    AgentId::of_first_token(TokenId::new(NOW, [AGENT; 10]))
}

fn token(n: u8, kind: ActorKind) -> Token {
    Token {
        id: TokenId::new(NOW, [n; 10]),
        kind,
        agent_id: (kind == ActorKind::Agent).then(agent_id),
        name: format!("name-{n}"),
        hash: Digest::of(&[n]),
        capabilities: Capabilities::none(),
        created_at: NOW,
        last_used_at: None,
        revoked_at: None,
        resident: false,
    }
}

fn passkey() -> Passkey {
    Passkey {
        id: PasskeyId::new(NOW, [7; 10]),
        name: "phone".to_owned(),
        relying_party: "localhost".to_owned(),
        user_handle: "019a0000-0000-7000-8000-000000000000".to_owned(),
        credential_id: "id-7".to_owned(),
        credential: "{}".to_owned(),
        counter: 0,
        created_at: NOW,
        last_used_at: None,
    }
}

fn accounts() -> [Target; 2] {
    [Target::Telegram { user: 5 }, Target::Ntfy]
}

async fn fill(tx: &mut Tx) -> Result<(), StoreError> {
    let agent = Agent {
        id: agent_id(),
        name: format!("name-{AGENT}").parse().unwrap(),
        capabilities: Capabilities::none(),
        created_at: NOW,
        state: AgentState::Live,
    };
    agents::insert(tx, &agent).await?;
    tokens::insert(tx, &token(AGENT, ActorKind::Agent)).await?;
    tokens::insert(tx, &token(NODE, ActorKind::Node)).await?;
    // Withdrawn before: nothing to confirm.
    tokens::insert(tx, &token(3, ActorKind::Viewer)).await?;
    tokens::revoke(tx, token(3, ActorKind::Viewer).id, NOW).await?;
    passkeys::insert(tx, &passkey()).await?;
    passwords::set(tx, &Secret::new("$argon2id$one"), NOW).await?;
    for target in accounts() {
        let pair = Pair {
            target,
            name: "eve".to_owned(),
            paired_at: NOW,
        };
        pairs::save(tx, &pair).await?;
    }
    Ok(())
}

/// What opens something now: agent, node, passkey, its use, password, Telegram, ntfy.
async fn open(store: &Store) -> [bool; 7] {
    let looked = store.write(|tx| {
        Box::pin(async move {
            let paired: Vec<Target> = pairs::list(tx)
                .await?
                .into_iter()
                .map(|it| it.target)
                .collect();
            let [telegram, ntfy] = accounts().map(|target| paired.contains(&target));
            Ok::<_, StoreError>([
                tokens::find_live(tx, Digest::of(&[AGENT])).await?.is_some(),
                tokens::find_live(tx, Digest::of(&[NODE])).await?.is_some(),
                !passkeys::list(tx, 10).await?.is_empty(),
                passkeys::note_use(tx, passkey().id, "{}", 0, NOW).await?,
                passwords::find(tx).await?.is_some(),
                telegram,
                ntfy,
            ])
        })
    });
    looked.await.unwrap()
}

/// What is in it, each with what it takes to open again: its places in [`open`].
fn held() -> Vec<(Kind, String, Vec<usize>)> {
    let [telegram, ntfy] = accounts().map(|target| target.to_string());
    vec![
        (
            Kind::Token,
            token(AGENT, ActorKind::Agent).id.to_string(),
            vec![0],
        ),
        (
            Kind::Token,
            token(NODE, ActorKind::Node).id.to_string(),
            vec![1],
        ),
        (Kind::Passkey, passkey().id.to_string(), vec![2, 3]),
        (Kind::Password, "owner".to_owned(), vec![4]),
        (Kind::Pair, telegram, vec![5]),
        (Kind::Pair, ntfy, vec![6]),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_credential_opens_nothing_until_it_is_let_out() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        store.write(|tx| Box::pin(fill(tx))).await.unwrap();
        assert_eq!(open(store).await, [true; 7], "{name}");
        let set = store.write(|tx| Box::pin(quarantine::set_all(tx, NOW)));
        assert_eq!(set.await.unwrap(), 6, "{name}");
        let again = store.write(|tx| Box::pin(quarantine::set_all(tx, NOW)));
        assert_eq!(again.await.unwrap(), 6, "{name}: twice is once");
        assert_eq!(open(store).await, [false; 7], "{name}");
        let listed = store.read(|tx| Box::pin(quarantine::list(tx))).await;
        let listed: Vec<(Kind, String)> = listed
            .unwrap()
            .into_iter()
            .map(|one| (one.kind, one.id))
            .collect();
        let mut opened = [false; 7];
        for (kind, id, places) in held() {
            assert!(
                listed.contains(&(kind, id.clone())),
                "{name}: {id} in {listed:?}"
            );
            let lift = async |kind: Kind, id: &str| {
                let id = id.to_owned();
                let lift = store.write(move |tx| {
                    Box::pin(async move { quarantine::lift(tx, kind, &id).await })
                });
                lift.await.unwrap()
            };
            // Another kind with the same id is another credential.
            let other = if kind == Kind::Token {
                Kind::Passkey
            } else {
                Kind::Token
            };
            assert!(!lift(other, &id).await, "{name}: {id}");
            assert_eq!(open(store).await, opened, "{name}");
            assert!(lift(kind, &id).await, "{name}: {id}");
            assert!(!lift(kind, &id).await, "{name}: {id} twice");
            for place in places {
                opened[place] = true;
            }
            assert_eq!(open(store).await, opened, "{name}: only {id}");
        }
        assert_eq!(opened, [true; 7]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_good_once_is_void_and_cannot_be_confirmed() {
    for engine in engines::both().await {
        let (store, name) = (&engine.store, engine.name);
        let hash = Digest::of(b"code");
        let end = NOW.plus(std::time::Duration::from_secs(60));
        let made = store.write(move |tx| {
            Box::pin(async move {
                pairs::insert_code(tx, hash, Channel::Telegram, NOW, end).await?;
                quarantine::void_one_time(tx).await?;
                let used = pairs::use_code(tx, hash, Channel::Telegram, NOW).await?;
                Ok::<_, StoreError>((used, quarantine::set_all(tx, NOW).await?))
            })
        });
        assert_eq!(made.await.unwrap(), (false, 0), "{name}");
    }
}
