//! One table of words: every state of a proposal is shown on every surface as the table says, and nowhere else.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use void_control::proposals::shown_now;
use void_domain::actors::{ActorKind, Requester};
use void_domain::bridge::{self, InstanceId};
use void_domain::cards::Eyes;
use void_domain::failures::FailureCode;
use void_domain::ids::{ProposalId, RequesterId};
use void_domain::notifications::Zone;
use void_domain::notifications::messages::{self, Frame, Room};
use void_domain::proposals::{
    DisplayState, Failure, Moved, Proposal, Status, Subject, Verification,
};
use void_store::{StoreError, agents, proposals};
use void_testkit::proposals::{pending, steps_to};

use crate::apps::{App, queue};
use crate::callers::Caller;
use crate::phones::Rig;
use crate::talks::{Turn, text_of};

const AGENT: &str = "helper";

/// What is proposed: the words are the same for an action and for a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proposed {
    Action,
    Change,
}

/// An app in which an agent's proposal stands like this.
struct Stand {
    app: App,
    agent: Caller,
    proposal: Proposal,
    shown: DisplayState,
}

impl Stand {
    async fn of(proposed: Proposed, shown: DisplayState) -> Self {
        let mut app = App::start().await;
        // What is written here has no entries on the record.
        app.looks_back = false;
        let agent = app.agent(AGENT).await;
        let mut created = pending(7);
        if proposed == Proposed::Change {
            created.proposal.subject = change_subject(&app).await;
        }
        created.proposal.requested_by = requester(&app).await;
        created.proposal.created_at = app.control.clock().now();
        created.proposal.expires_at = created.proposal.created_at.plus(Duration::from_secs(600));
        if shown == DisplayState::WaitsForTarget {
            let mut other = pending(8);
            other.proposal.created_at = created.proposal.created_at;
            other.proposal.subject.target = created.proposal.subject.target.clone();
            write(&app, steps_to(DisplayState::Running, other)).await;
        }
        if shown == DisplayState::HeldByFreeze {
            app.owner().post_nothing("/api/freeze").await.ok();
        }
        let id = created.proposal.id;
        write(&app, steps_to(shown, created)).await;
        let read = app.store.read(move |tx| Box::pin(proposals::find(tx, id)));
        let proposal = read.await.unwrap().unwrap().proposal;
        Self {
            app,
            agent,
            proposal,
            shown,
        }
    }

    async fn row(&self) -> Value {
        self.app.row(&self.proposal.id.to_string()).await
    }

    async fn link_page(&self) -> String {
        let path = format!("/inbox/{}", self.proposal.code);
        let page = self.app.session().await.request(Method::GET, &path);
        let page = page.send().await.unwrap().text().await.unwrap();
        let (_, after) = page
            .split_once("<p class=\"state\" role=\"status\">")
            .unwrap();
        after.split_once("</p>").unwrap().0.to_owned()
    }

    fn message(&self, room: Room) -> String {
        let frame = Frame {
            eyes: Eyes::default(),
            zone: Zone::UTC,
            rehearsal: false,
            head: None,
        };
        messages::about(&self.proposal, self.shown, &frame, room).title
    }

    fn file(&self) -> Value {
        let name = InstanceId::of(&self.proposal);
        let file = bridge::render(&name, &self.proposal, self.shown, &[], None, &[]);
        serde_json::from_slice(&file.bytes).unwrap()
    }

    async fn tool(&self) -> Value {
        let arguments = json!({"proposal": self.proposal.code});
        let params = json!({"name": "proposal_status", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let answer = self.agent.post("/mcp", call).await.ok();
        answer["result"]["structuredContent"].clone()
    }

    /// What the built-in brain answers in a new conversation.
    async fn brain(&self) -> String {
        let owner = self.app.owner();
        text_of(&Turn::say(&owner, "show me the history").await.rest().await)
    }
}

/// What a draft of another catalogue is about; the draft itself is taken back.
async fn change_subject(app: &App) -> Subject {
    let loaded = fs::read_to_string(app.lab.catalogue_file()).unwrap();
    let mut catalogue: Value = serde_json::from_str(&loaded).unwrap();
    let actions = catalogue["actions"].as_array_mut().unwrap();
    let mut added = actions[0].clone();
    added["id"] = json!("added");
    actions.push(added);
    let body = json!({"file": format!("{catalogue:#}\n"), "reason": "a new service"});
    let owner = app.owner();
    let row = owner.post("/api/actions/patch", body).await.ok();
    let id: ProposalId = row["id"].as_str().unwrap().parse().unwrap();
    let cancel = format!("/api/proposals/{id}/cancel");
    assert_eq!(
        owner.post(&cancel, json!({})).await.ok()["status"],
        "cancelled"
    );
    let read = app.store.read(move |tx| Box::pin(proposals::find(tx, id)));
    read.await.unwrap().unwrap().proposal.subject
}

async fn requester(app: &App) -> Requester {
    let name = AGENT.parse().unwrap();
    let read = app
        .store
        .read(move |tx| Box::pin(async move { agents::find_named(tx, &name).await }));
    let agent = read.await.unwrap().unwrap();
    Requester {
        kind: ActorKind::Agent,
        id: Some(RequesterId::from(agent.id)),
        name: AGENT.to_owned(),
    }
}

async fn write(app: &App, (steps, seen): (Vec<Moved>, Option<Verification>)) {
    let written = app.store.write(move |tx| {
        Box::pin(async move {
            let id = steps[0].proposal.id;
            proposals::insert(tx, 1, &steps[0]).await?;
            for step in &steps[1..] {
                assert!(proposals::advance(tx, step).await?);
            }
            if let Some(seen) = seen {
                assert!(proposals::record_verification(tx, id, &seen).await?);
            }
            Ok::<_, StoreError>(())
        })
    });
    written.await.unwrap();
}

/// Nobody works on what was written here, and an app ends when nothing runs.
async fn end_runs(app: &App) {
    let written = app.store.write(move |tx| {
        Box::pin(async move {
            for stored in proposals::list_in(tx, Status::Running, 10).await? {
                let at = stored.proposal.created_at;
                let lost = stored
                    .proposal
                    .mark_unknown(at, Failure::new(FailureCode::NoEnd, "a test"));
                assert!(proposals::advance(tx, &lost.unwrap()).await?);
            }
            Ok::<_, StoreError>(())
        })
    });
    written.await.unwrap();
}

/// The texts of the page whose key begins like this.
fn page_texts(prefix: &str) -> BTreeMap<String, String> {
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/strings.js");
    let strings = fs::read_to_string(ui).unwrap();
    let entries = strings.lines().filter_map(|line| {
        let (key, text) = line.trim().strip_prefix('"')?.split_once("\": \"")?;
        let (key, text) = (key.strip_prefix(prefix)?, text.strip_suffix("\",")?);
        Some((key.to_owned(), text.to_owned()))
    });
    entries.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_is_shown_in_the_same_words_on_every_surface() {
    every_state_has_the_words_of_the_table(Proposed::Action, "RISKY ").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_of_a_change_is_shown_in_the_same_words_on_every_surface() {
    every_state_has_the_words_of_the_table(Proposed::Change, "RISKY, CHANGES WHAT IS ALLOWED ")
        .await;
}

/// A question is headed by how much is at stake.
async fn every_state_has_the_words_of_the_table(proposed: Proposed, at_stake: &str) {
    for shown in DisplayState::ALL {
        let stand = Stand::of(proposed, shown).await;
        let words = shown.words();
        let control = &stand.app.control;
        assert_eq!(shown_now(control, &stand.proposal).await.unwrap(), shown);
        assert_eq!(stand.row().await["display_state"], shown.as_str());
        let page = stand.link_page().await;
        assert!(page.starts_with(words), "{shown:?}: {page}");
        let apart = Room::Apart {
            title_chars: 250,
            body_bytes: 4_000,
        };
        for title in [stand.message(Room::TELEGRAM), stand.message(apart)] {
            let head = match shown {
                DisplayState::Waiting => at_stake.to_owned(),
                _ => words.to_uppercase(),
            };
            assert!(title.starts_with(&head), "{shown:?}: {title}");
        }
        let file = stand.file();
        assert_eq!(file["void"]["state"], words, "{shown:?}");
        assert_eq!(file["void"]["display_state"], shown.as_str());
        let given = stand.tool().await;
        assert_eq!(given["state"], words, "{given}");
        assert_eq!(given["display_state"], shown.as_str());
        assert_eq!(given["meaning"], shown.meaning());
        let said = stand.brain().await;
        let line = format!("{} {}", stand.proposal.subject.label, shown.clause());
        assert!(said.contains(&line), "{shown:?}: {said}");
        end_runs(&stand.app).await;
    }
}

/// The words of the page are the table's, one for one, and each has a shape.
#[test]
fn the_page_has_the_words_of_the_table() {
    let table =
        DisplayState::ALL.map(|shown| (shown.as_str().to_owned(), shown.words().to_owned()));
    assert_eq!(page_texts("state."), BTreeMap::from(table));
    let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/parts/states.js");
    let states = fs::read_to_string(ui).unwrap();
    let (_, looks) = states.split_once("const LOOKS = ").unwrap();
    let (looks, _) = looks.split_once("});").unwrap();
    for shown in DisplayState::ALL {
        let look = format!("\n  {}: [\"", shown.as_str());
        assert!(looks.contains(&look), "{shown:?}");
    }
    assert_eq!(looks.matches(": [\"").count(), DisplayState::ALL.len());
}

/// With real runs: what is approved while its target is busy was not sent, and no surface says that it was.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_while_its_target_is_busy_waits_for_it() {
    let rig = Rig::up().await;
    let owner = rig.app.owner();
    let run = |action: &str| format!("/api/actions/{action}/run?wait=0");
    let first = owner.post_nothing(&run("slow-a")).await.ok();
    let (row, message) = rig.ask("slow-stop").await;
    let path = format!(
        "/api/actions/pending/{}/approve?wait=0",
        row["id"].as_str().unwrap()
    );
    let body = json!({"digest": row["digest"]});
    let approved = owner.post(&path, body).await.ok();
    assert_eq!(approved["status"], "approved");
    assert_eq!(approved["display_state"], "waits_for_target");
    let waits = rig
        .phone
        .sees("APPROVED, WAITS FOR ITS TARGET · Stop slowly")
        .await;
    assert_eq!(waits.id, message.id, "edited in place");
    rig.app.lab.release();
    for id in [&first["action_row_id"], &row["id"]] {
        let ended = rig.app.ended(id.as_str().unwrap()).await;
        assert_eq!(ended["status"], "executed");
        assert_ne!(ended["display_state"], "waits_for_target");
    }
}

/// Held by the freeze, and let go by the thaw.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_freeze_holds_says_so() {
    let app = App::start().await;
    let owner = app.owner();
    owner
        .post_nothing("/api/actions/slow-a/run?wait=0")
        .await
        .ok();
    let row = queue(&owner, "slow-stop").await;
    let id = row["id"].as_str().unwrap();
    let path = format!("/api/actions/pending/{id}/approve?wait=0");
    owner
        .post(&path, json!({"digest": row["digest"]}))
        .await
        .ok();
    assert_eq!(app.row(id).await["display_state"], "waits_for_target");
    owner.post_nothing("/api/freeze").await.ok();
    assert_eq!(app.row(id).await["display_state"], "held_by_freeze");
    owner.delete("/api/freeze").await.ok();
    app.lab.release();
    assert_eq!(app.ended(id).await["status"], "executed");
}
