//! The tree of agents: begun at the first start, read at every one, moved by the owner alone, and judged by.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use void_control::proposals::Proposed;
use void_control::tokens::{self, TokenError};
use void_control::tree::{self, MoveError, MoveRequest, Moved, TreePlaces, TreeView};
use void_control::{Ctx, agents};
use void_domain::actors::{Actor, ActorKind};
use void_domain::agents::{AgentName, AgentRefusal};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::facts::Fact;
use void_domain::policy::Refusal;
use void_store::facts;
use void_tree::{MoveRefusal, Operation, Right};

use crate::callers::{agent, agent_with, others, owner};
use crate::machines::parse;
use crate::planes::Plane;
use crate::requests::request;

mod moves;

stories!(
    the_first_start_begins_a_tree_and_the_next_ones_keep_it,
    whoever_has_a_folder_belongs_in_and_whoever_goes_leaves,
    what_is_wrong_in_the_file_gives_nobody_anything_and_is_told,
    of_a_wrong_file_that_was_committed_what_is_sound_counts,
    a_tree_that_is_gone_is_not_begun_anew,
    an_edit_by_hand_becomes_a_commit_on_the_record,
);

const RESIDENTS: [(&str, &[Capability]); 3] = [
    ("little-blue", &[Capability::Read, Capability::Act]),
    ("companion", &[Capability::Suggest]),
    ("sentinel", &[Capability::Read]),
];

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn may(capabilities: &[Capability]) -> Capabilities {
    capabilities.iter().copied().collect()
}

fn meta(plane: &Plane) -> PathBuf {
    plane.machine.path().join("meta")
}

fn file(plane: &Plane) -> PathBuf {
    meta(plane).join("topology.json")
}

fn git(plane: &Plane, args: &[&str]) -> String {
    let said = Command::new("git")
        .args([
            "-c",
            "safe.directory=*",
            "-c",
            "user.name=somebody",
            "-c",
            "user.email=a@b.c",
            "-C",
        ])
        .arg(meta(plane))
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(
        said.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    String::from_utf8(said.stdout).unwrap()
}

async fn open(plane: &Plane) -> TreeView {
    let places = TreePlaces::of_data(plane.machine.path());
    let residents = RESIDENTS.map(|(one, capabilities)| (name(one), may(capabilities)));
    plane
        .inside(async move |control, _| {
            tree::open(&control, places, residents.to_vec())
                .await
                .unwrap();
            tree::show(&control).await
        })
        .await
}

async fn begun(plane: &mut Plane) -> TreeView {
    plane.start().await;
    open(plane).await
}

/// The same files, by a new process.
async fn again(plane: &mut Plane) -> TreeView {
    plane.stop().await;
    begun(plane).await
}

/// Who stands under whom.
fn placed(view: &TreeView) -> Vec<String> {
    let placed = view.members.iter().filter(|member| member.depth.is_some());
    let told = placed.map(|member| match &member.parent {
        Some(parent) => format!("{} under {parent}", member.name),
        None => member.name.to_string(),
    });
    told.collect()
}

const FLAT: [&str; 4] = [
    "root",
    "companion under root",
    "little-blue under root",
    "sentinel under root",
];

async fn moved(plane: &Plane, who: Ctx, one: &str, parent: &str) -> Result<Moved, MoveError> {
    let wanted = MoveRequest {
        name: name(one),
        parent: name(parent),
        is_dry_run: false,
        seen: None,
    };
    ask(plane, who, wanted).await
}

async fn ask(plane: &Plane, who: Ctx, wanted: MoveRequest) -> Result<Moved, MoveError> {
    plane
        .inside(async move |control, _| tree::move_agent(&control, &who, wanted).await)
        .await
}

async fn recorded(plane: &Plane) -> Vec<Fact> {
    let all = plane
        .inside(async |_, store| {
            let read = store.read(|tx| Box::pin(facts::list_after(tx, 0, 1_000)));
            read.await.unwrap()
        })
        .await;
    let of_tree = all
        .into_iter()
        .filter(|entry| entry.verb == "topology.changed");
    of_tree.collect()
}

fn detail(entry: &Fact) -> Value {
    serde_json::from_str(&entry.detail).unwrap()
}

async fn shown(plane: &Plane) -> TreeView {
    plane
        .inside(async |control, _| tree::show(&control).await)
        .await
}

async fn the_first_start_begins_a_tree_and_the_next_ones_keep_it(plane: &mut Plane) {
    let view = begun(plane).await;
    assert_eq!(
        (placed(&view), view.problems),
        (FLAT.map(str::to_owned).to_vec(), Vec::new())
    );
    let kinds: Vec<&str> = view.members.iter().map(|one| one.kind.as_str()).collect();
    assert_eq!(kinds, ["resident"; 4]);
    let text = "{\n  \"companion\": \"root\",\n  \"little-blue\": \"root\",\n  \"root\": null,\n  \"sentinel\": \"root\"\n}\n";
    assert_eq!(fs::read_to_string(file(plane)).unwrap(), text);
    assert_eq!(
        git(plane, &["log", "--format=%an %s"]),
        "system tree: begin\n"
    );
    let entries = recorded(plane).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (
            entries[0].actor.as_str(),
            detail(&entries[0])["why"].clone()
        ),
        ("system", json!("begun"))
    );
    assert_eq!(detail(&entries[0])["commit"], json!(view.commit));
    for _ in 0..2 {
        let later = again(plane).await;
        assert_eq!(
            (later.commit, later.problems),
            (view.commit.clone(), Vec::new())
        );
        assert_eq!(recorded(plane).await.len(), 1);
    }
}

async fn whoever_has_a_folder_belongs_in_and_whoever_goes_leaves(plane: &mut Plane) {
    let agents = plane.machine.path().join("agents");
    for one in ["alice", "bob"] {
        fs::create_dir_all(agents.join(one).join("config")).unwrap();
    }
    // No config, no name, a file, a link: none of them is an agent's folder.
    fs::create_dir_all(agents.join("carol")).unwrap();
    fs::create_dir_all(agents.join("No Name").join("config")).unwrap();
    fs::write(agents.join("dave"), "").unwrap();
    symlink(agents.join("alice"), agents.join("eve")).unwrap();
    let view = begun(plane).await;
    let with_both = ["root", "alice under root", "bob under root"];
    assert_eq!(placed(&view)[..3], with_both);
    moved(plane, owner(), "bob", "alice").await.unwrap();
    moved(plane, owner(), "sentinel", "bob").await.unwrap();
    // The owner's places stay.
    fs::create_dir_all(agents.join("zoe").join("config")).unwrap();
    let view = again(plane).await;
    assert_eq!(
        placed(&view)[1..4],
        ["alice under root", "bob under alice", "sentinel under bob"]
    );
    assert!(placed(&view).contains(&"zoe under root".to_owned()));
    // Somebody whom nobody knows yet, and then an agent that is withdrawn.
    let view = again(plane).await;
    assert!(placed(&view).contains(&"bob under alice".to_owned()));
    let token = plane
        .inside(async move |control, _| {
            let (kind, none) = (ActorKind::Agent, Capabilities::none());
            let made = tokens::create(&control, &owner(), kind, "bob".to_owned(), none).await;
            made.unwrap().id
        })
        .await;
    let view = again(plane).await;
    assert!(placed(&view).contains(&"bob under alice".to_owned()));
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), token).await)
        .await
        .unwrap();
    let view = again(plane).await;
    assert!(placed(&view).contains(&"sentinel under root".to_owned()));
    assert!(!placed(&view).iter().any(|one| one.starts_with("bob")));
    let last = recorded(plane).await.pop().unwrap();
    assert_eq!(detail(&last)["why"], "members");
    let gone = json!([
        {"name": "bob", "from": "alice", "to": null},
        {"name": "sentinel", "from": "bob", "to": "root"},
    ]);
    assert_eq!(detail(&last)["relocations"], gone);
    // Back again, it has neither the place nor those below.
    plane
        .inside(async move |control, _| {
            let none = Capabilities::none();
            let restored = tokens::restore_agent(&control, &owner(), "bob", none).await;
            restored.map(drop)
        })
        .await
        .unwrap();
    let view = again(plane).await;
    assert!(placed(&view).contains(&"bob under root".to_owned()));
    assert!(placed(&view).contains(&"sentinel under root".to_owned()));
    // Whoever reads like somebody gets no position, and it is told.
    fs::create_dir_all(agents.join("a1ice").join("config")).unwrap();
    let view = again(plane).await;
    assert_eq!(view.problems, ["a1ice reads like alice"]);
    assert!(!placed(&view).iter().any(|one| one.starts_with("a1ice")));
    moved(plane, owner(), "zoe", "alice").await.unwrap();
}

async fn what_is_wrong_in_the_file_gives_nobody_anything_and_is_told(plane: &mut Plane) {
    begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    let above = (name("little-blue"), name("sentinel"));
    for (text, told) in [
        ("", "no JSON object"),
        ("{\"root\": null", "no JSON object"),
        ("[]", "no JSON object"),
        (
            "{\"sentinel\": \"little-blue\", \"little-blue\": null}",
            "no \"root\"",
        ),
        (
            "{\"root\": null, \"sentinel\": \"little-blue\", \"little-blue\": \"sentinel\"}",
            "under itself",
        ),
        (
            "{\"root\": null, \"little-blue\": \"root\", \"sentinel\": \"nobody\"}",
            "not in the tree",
        ),
        (
            "{\"root\": null, \"little-blue\": \"root\", \"sentinel\": \"little-blue\", \"sentinel\": \"little-blue\"}",
            "twice",
        ),
        (
            "{\"root\": null, \"Little-Blue\": \"root\", \"sentinel\": \"Little-Blue\"}",
            "no name of an agent",
        ),
    ] {
        let (before, head) = (
            recorded(plane).await.len(),
            git(plane, &["rev-parse", "HEAD"]),
        );
        fs::write(file(plane), text).unwrap();
        let view = again(plane).await;
        assert!(
            view.problems.iter().any(|one| one.contains(told)),
            "{text}: {:?}",
            view.problems
        );
        assert_eq!(placed(&view), [""; 0], "{text}");
        let names = above.clone();
        let right = plane
            .inside(async move |control, _| {
                let ctx = agent(names.0.as_str());
                tree::right_of(&control, &ctx, Operation::Hold, &names.1)
            })
            .await;
        assert_eq!(right, Right::Never, "{text}");
        // Nothing is written over, and nobody is moved.
        assert_eq!(fs::read_to_string(file(plane)).unwrap(), text);
        assert_eq!(git(plane, &["rev-parse", "HEAD"]), head);
        assert_eq!(recorded(plane).await.len(), before);
        let refused = moved(plane, owner(), "sentinel", "companion").await;
        assert!(matches!(refused, Err(MoveError::Broken(_))), "{text}");
    }
}

async fn of_a_wrong_file_that_was_committed_what_is_sound_counts(plane: &mut Plane) {
    begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    // It is on the record before it does.
    let text = "{\"root\": null, \"little-blue\": \"root\", \"sentinel\": \"little-blue\", \"companion\": \"companion\"}";
    fs::write(file(plane), text).unwrap();
    git(plane, &["commit", "--quiet", "--all", "-m", "by hand"]);
    let view = again(plane).await;
    assert_eq!(
        placed(&view),
        [
            "root",
            "little-blue under root",
            "sentinel under little-blue"
        ]
    );
    assert_eq!(view.problems.len(), 1);
    // Whoever has no position has nothing to do in the tree, nor has a token of whoever has one.
    let outside = Ctx {
        is_from_outside: true,
        ..agent("sentinel")
    };
    let all = [agent("sentinel"), agent("companion"), outside, owner()];
    let stand = plane.inside(async move |control, _| all.map(|one| tree::stands(&control, &one)));
    assert_eq!(stand.await, [true, false, false, false]);
    let last = recorded(plane).await.pop().unwrap();
    assert_eq!(
        (&detail(&last)["why"], &detail(&last)["author"]),
        (&json!("found"), &json!("somebody"))
    );
    // Mended, it goes on.
    git(
        plane,
        &["checkout", "--quiet", "HEAD~1", "--", "topology.json"],
    );
    let view = again(plane).await;
    assert_eq!(view.problems, [""; 0]);
    assert!(placed(&view).contains(&"sentinel under little-blue".to_owned()));
    moved(plane, owner(), "sentinel", "companion")
        .await
        .unwrap();
}

async fn a_tree_that_is_gone_is_not_begun_anew(plane: &mut Plane) {
    begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    fs::remove_file(file(plane)).unwrap();
    let view = again(plane).await;
    assert!(
        view.problems[0].contains("is missing"),
        "{:?}",
        view.problems
    );
    assert_eq!(placed(&view), [""; 0]);
    assert!(!file(plane).exists());
    // All of the repository: the record knows that there was one.
    fs::remove_dir_all(meta(plane)).unwrap();
    let view = again(plane).await;
    assert!(
        view.problems[0].contains("is missing"),
        "{:?}",
        view.problems
    );
    assert_eq!(placed(&view), [""; 0]);
    assert!(!file(plane).exists());
    // The owner says how it goes on.
    fs::write(
        file(plane),
        "{\"root\": null, \"little-blue\": \"root\", \"sentinel\": \"little-blue\"}",
    )
    .unwrap();
    let view = again(plane).await;
    assert_eq!(view.problems, [""; 0]);
    assert!(placed(&view).contains(&"sentinel under little-blue".to_owned()));
    // Somebody else's repository in its place is used for nothing.
    fs::rename(
        meta(plane).join(".git"),
        plane.machine.path().join("elsewhere"),
    )
    .unwrap();
    symlink(
        plane.machine.path().join("elsewhere"),
        meta(plane).join(".git"),
    )
    .unwrap();
    let view = again(plane).await;
    assert!(
        view.problems[0].contains("cannot be used"),
        "{:?}",
        view.problems
    );
    assert_eq!(placed(&view), [""; 0]);
}

async fn an_edit_by_hand_becomes_a_commit_on_the_record(plane: &mut Plane) {
    begun(plane).await;
    let text = fs::read_to_string(file(plane)).unwrap();
    let edited = text.replace("\"sentinel\": \"root\"", "\"sentinel\": \"companion\"");
    fs::write(file(plane), &edited).unwrap();
    // Before the next start it counts for nothing, and nothing is moved over it.
    assert_eq!(placed(&shown(plane).await), FLAT);
    let refused = moved(plane, owner(), "little-blue", "companion").await;
    assert!(matches!(refused, Err(MoveError::Changed)), "{refused:?}");
    let view = again(plane).await;
    assert_eq!(
        placed(&view),
        [
            "root",
            "companion under root",
            "sentinel under companion",
            "little-blue under root"
        ]
    );
    assert_eq!(git(plane, &["status", "--porcelain"]), "");
    assert_eq!(
        git(plane, &["log", "-1", "--format=%an %s"]),
        "system tree: take in an edit by hand\n"
    );
    let last = recorded(plane).await.pop().unwrap();
    let moved = json!([{"name": "sentinel", "from": "root", "to": "companion"}]);
    assert_eq!(
        (&detail(&last)["why"], &detail(&last)["relocations"]),
        (&json!("edited"), &moved)
    );
    assert_eq!(detail(&last)["commit"], json!(view.commit));
}
