//! Configs of agents: asked for by whoever stands above, put in force by the owner's yes and by nothing else, with real
//! repositories.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use void_control::agent_configs::{
    self, AgentConfigError, ApplyCommitRequest, InitConfigRequest, RequestNotes, WriteConfigRequest,
};
use void_control::proposals::Proposed;
use void_control::tokens::{self, TokenError};
use void_control::tree::{self, TreePlaces, TreeView};
use void_control::{Ctx, agents};
use void_domain::actors::ActorKind;
use void_domain::agent_configs::{CONFIG_FILE, CommitId, FILES_MAX};
use void_domain::agents::{AgentName, AgentRefusal};
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::changes::agent_configs::InvalidConfigChange;
use void_domain::failures::FailureCode;
use void_domain::proposals::{Cancellation, Proposal, State, Status};
use void_store::facts;

use crate::callers::{agent_with, others, owner};
use crate::planes::Plane;
use crate::requests::conflict;

mod inputs;
mod rollbacks;

stories!(
    a_yes_makes_an_agent_with_all_that_belongs_to_it,
    a_no_makes_nobody,
    a_child_stands_under_its_maker_and_has_no_more,
    a_name_is_free_or_nobody_is_made,
    only_who_stands_above_asks_for_a_commit,
    a_yes_applies_exactly_that_commit,
    what_is_no_commit_of_the_agent_is_refused,
    what_a_commit_may_not_hold_is_refused,
    a_base_that_moved_applies_nothing,
    a_place_or_a_parent_that_changed_applies_nothing,
    a_freeze_holds_a_config_back,
    who_stands_above_writes_a_commit_and_applies_nothing_by_it,
    a_crash_at_any_moment_leaves_all_of_it_or_nothing,
);

const READ: &[Capability] = &[Capability::Read];
const MAKER: &[Capability] = &[Capability::Read, Capability::Spawn];

pub fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

pub fn config(capabilities: &str, more: &str) -> String {
    format!("brain = \"builtin\"\ncapabilities = [{capabilities}]\n{more}")
}

pub fn data(plane: &Plane) -> PathBuf {
    plane.machine.path().to_owned()
}

pub fn git_in(folder: &Path, args: &[&str]) -> String {
    let said = Command::new("git")
        .args(["-c", "safe.directory=*", "-c", "user.name=somebody"])
        .args(["-c", "user.email=a@b.c", "-C"])
        .arg(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{args:?}: {told}");
    String::from_utf8(said.stdout).unwrap().trim().to_owned()
}

fn repository(plane: &Plane, agent: &str) -> PathBuf {
    data(plane).join("agents").join(agent).join("config")
}

/// A commit of these files beside what is there.
pub fn committed(plane: &Plane, agent: &str, files: &[(&str, &str)]) -> CommitId {
    let folder = repository(plane, agent);
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    commit_all(&folder)
}

fn commit_all(folder: &Path) -> CommitId {
    git_in(folder, &["add", "--all"]);
    git_in(
        folder,
        &["commit", "--quiet", "--allow-empty", "-m", "by hand"],
    );
    CommitId::parse(&git_in(folder, &["rev-parse", "HEAD"])).unwrap()
}

pub async fn open(plane: &Plane) -> TreeView {
    let places = TreePlaces::of_data(plane.machine.path());
    plane
        .inside(async move |control, _| {
            tree::open(&control, places, Vec::new()).await.unwrap();
            tree::show(&control).await
        })
        .await
}

pub async fn begun(plane: &mut Plane) {
    plane.start().await;
    let view = open(plane).await;
    assert_eq!(view.problems, Vec::<String>::new());
}

pub async fn ask_init(
    plane: &Plane,
    who: &Ctx,
    one: &str,
    (parent, text): (Option<&str>, &str),
) -> Result<Proposed, AgentConfigError> {
    let request = InitConfigRequest {
        name: name(one),
        parent: parent.map(name),
        config: text.to_owned(),
        notes: RequestNotes::default(),
    };
    ask!(plane, who, |control, ctx| {
        agent_configs::request_init_config(&control, &ctx, request)
    })
}

pub async fn ask_apply(
    plane: &Plane,
    who: &Ctx,
    one: &str,
    commit: &CommitId,
) -> Result<Proposed, AgentConfigError> {
    let request = ApplyCommitRequest {
        agent: name(one),
        commit: commit.clone(),
        notes: RequestNotes::default(),
    };
    ask!(plane, who, |control, ctx| {
        agent_configs::request_apply_commit(&control, &ctx, request)
    })
}

pub fn queued(proposed: Result<Proposed, AgentConfigError>) -> Proposal {
    match proposed {
        Ok(Proposed::Queued(row)) => row,
        other => panic!("it does not wait: {other:?}"),
    }
}

pub async fn approved(plane: &Plane, row: &Proposal) -> Proposal {
    plane.approve(row).await.unwrap();
    plane.ended(row.id).await
}

pub async fn make(plane: &Plane, one: &str, parent: &str, text: &str) {
    let asked = ask_init(plane, &owner(), one, (Some(parent), text)).await;
    let ended = approved(plane, &queued(asked)).await;
    assert_eq!(ended.status(), Status::Executed, "{ended:?}");
}

pub fn applied(plane: &Plane, agent: &str) -> String {
    let file = data(plane).join("applied").join(agent).join(CONFIG_FILE);
    fs::read_to_string(file).unwrap_or_default()
}

pub fn locked(plane: &Plane, agent: &str) -> Option<String> {
    let text = fs::read_to_string(data(plane).join("meta/lock.json")).ok()?;
    let lock: serde_json::Value = serde_json::from_str(&text).unwrap();
    lock["agents"][agent].as_str().map(str::to_owned)
}

async fn may(plane: &Plane, one: &str) -> Option<Capabilities> {
    let one = name(one);
    let found = plane
        .inside(async move |control, _| agents::find(&control, &one).await.unwrap())
        .await;
    found.map(|agent| agent.capabilities)
}

fn set(capabilities: &[Capability]) -> Capabilities {
    capabilities.iter().copied().collect()
}

async fn parent_of(plane: &Plane, one: &str) -> Option<String> {
    let view = plane
        .inside(async |control, _| tree::show(&control).await)
        .await;
    let found = view
        .members
        .iter()
        .find(|member| member.name == name(one))?;
    found.parent.as_ref().map(ToString::to_string)
}

pub async fn recorded(plane: &Plane, verb: &str) -> Vec<serde_json::Value> {
    let all = plane
        .inside(async |_, store| {
            let read = store.read(|tx| Box::pin(facts::list_after(tx, 0, 1_000)));
            read.await.unwrap()
        })
        .await;
    let those = all.into_iter().filter(|entry| entry.verb == verb);
    those
        .map(|entry| serde_json::from_str(&entry.detail).unwrap())
        .collect()
}

fn forbidden(refused: &Result<Proposed, AgentConfigError>) {
    match refused {
        Err(AgentConfigError::Forbidden(_)) => {}
        other => panic!("it is not forbidden: {other:?}"),
    }
}

async fn a_yes_makes_an_agent_with_all_that_belongs_to_it(plane: &mut Plane) {
    begun(plane).await;
    let text = config("\"read\"", "");
    let asked = ask_init(plane, &owner(), "alice", (None, &text)).await;
    let row = queued(asked);
    assert_eq!(row.subject.label, "Make a new agent");
    assert!(!repository(plane, "alice").exists());
    let ended = approved(plane, &row).await;
    assert_eq!(ended.status(), Status::Executed, "{ended:?}");
    let head = git_in(&repository(plane, "alice"), &["rev-parse", "main"]);
    assert_eq!(locked(plane, "alice"), Some(head.clone()));
    assert_eq!(applied(plane, "alice"), text);
    assert_eq!(may(plane, "alice").await, Some(set(READ)));
    assert_eq!(parent_of(plane, "alice").await.as_deref(), Some("root"));
    let meta = data(plane).join("meta");
    let log = git_in(&meta, &["log", "-1", "--format=%an %s"]);
    assert_eq!(log, format!("owner-cli deploy: make alice at {head}"));
    assert_eq!(git_in(&meta, &["status", "--porcelain"]), "");
    let entries = recorded(plane, "topology.deployed").await;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["why"], "made");
    // Its first token says nothing new, and it is there at the next start, where it was.
    plane.stop().await;
    begun(plane).await;
    assert_eq!(parent_of(plane, "alice").await.as_deref(), Some("root"));
    assert_eq!(recorded(plane, "topology.deployed").await.len(), 1);
    assert_eq!(recorded(plane, "topology.changed").await.len(), 1);
}

async fn a_no_makes_nobody(plane: &mut Plane) {
    begun(plane).await;
    let asked = ask_init(plane, &owner(), "alice", (None, &config("", ""))).await;
    let row = queued(asked);
    // The same again joins what waits.
    let again = ask_init(plane, &owner(), "alice", (None, &config("", ""))).await;
    assert_eq!(queued(again).id, row.id);
    plane.reject(&row).await.unwrap();
    assert!(!data(plane).join("agents").exists());
    assert_eq!(parent_of(plane, "alice").await, None);
    assert_eq!(may(plane, "alice").await, None);
}

async fn a_child_stands_under_its_maker_and_has_no_more(plane: &mut Plane) {
    begun(plane).await;
    let wanted = config(
        "\"read\", \"spawn\"",
        "actions = [\"restart-caddy\"]\n[budget]\ntokens_per_day = 1000\n",
    );
    make(plane, "alice", "root", &wanted).await;
    let alice = agent_with("alice", MAKER);
    // More than it has: each is named, and nothing waits.
    let more = config("\"read\", \"act\"", "[budget]\ntokens_per_day = 1001\n");
    let refused = ask_init(plane, &alice, "bob", (None, &more)).await;
    let Err(AgentConfigError::Config(InvalidConfigChange::Exceeds { parent, excesses })) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!(parent, name("alice"));
    let said: Vec<String> = excesses.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "capability act: alice does not hold it",
            "actions: alice has a list of them, so a child needs one too",
            "budget.tokens_per_day 1001: alice has 1000",
        ]
    );
    let text = config("\"read\"", "actions = []\n");
    // Under somebody else, without the capability, from outside, or as somebody who is no agent.
    forbidden(&ask_init(plane, &alice, "bob", (Some("root"), &text)).await);
    forbidden(&ask_init(plane, &agent_with("alice", READ), "bob", (None, &text)).await);
    let outside = Ctx {
        is_from_outside: true,
        ..alice.clone()
    };
    forbidden(&ask_init(plane, &outside, "bob", (None, &text)).await);
    for who in others() {
        forbidden(&ask_init(plane, &who, "bob", (None, &text)).await);
    }
    assert!(!recorded(plane, "access.refused").await.is_empty());
    let row = queued(ask_init(plane, &alice, "bob", (None, &text)).await);
    assert_eq!(row.requested_by.name, "alice");
    let ended = approved(plane, &row).await;
    assert_eq!(ended.status(), Status::Executed, "{ended:?}");
    assert_eq!(parent_of(plane, "bob").await.as_deref(), Some("alice"));
    assert_eq!(may(plane, "bob").await, Some(set(READ)));
    // Nobody's child is somebody else's grandchild with more.
    let bob = agent_with("bob", MAKER);
    let more = config("\"read\", \"spawn\"", "actions = []\n");
    let refused = ask_init(plane, &bob, "carol", (None, &more)).await;
    assert!(refused.is_err(), "{refused:?}");
}

async fn a_name_is_free_or_nobody_is_made(plane: &mut Plane) {
    begun(plane).await;
    make(plane, "alice", "root", &config("", "")).await;
    let token = plane
        .inside(async |control, _| {
            let may = Capabilities::none();
            let (kind, name) = (ActorKind::Agent, "gone".to_owned());
            let token = tokens::create(&control, &owner(), kind, name, may).await?;
            tokens::revoke(&control, &owner(), token.id).await?;
            Ok::<_, TokenError>(token.id)
        })
        .await;
    token.unwrap();
    for taken in ["alice", "a1ice", "gone", "root", "owner", "void", "file"] {
        let refused = ask_init(plane, &owner(), taken, (None, &config("", ""))).await;
        assert!(
            matches!(refused, Err(AgentConfigError::Name(_))),
            "{taken}: {refused:?}"
        );
    }
    let refused = ask_init(plane, &owner(), "carol", (Some("nobody"), &config("", ""))).await;
    assert!(matches!(refused, Err(AgentConfigError::Unknown(_))));
    // Taken while it waited: nothing is made.
    let row = queued(ask_init(plane, &owner(), "carol", (None, &config("", ""))).await);
    plane
        .inside(async |control, _| {
            let may = Capabilities::none();
            let (kind, name) = (ActorKind::Agent, "caro1".to_owned());
            tokens::create(&control, &owner(), kind, name, may).await
        })
        .await
        .unwrap();
    let ended = approved(plane, &row).await;
    let State::Failed { failure, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(failure.code, FailureCode::NameTaken);
    assert!(!repository(plane, "carol").exists());
    assert_eq!(parent_of(plane, "carol").await, None);
    let like = AgentRefusal::ReadsLike(name("caro1"));
    assert_eq!(failure.message, like.to_string());
}

/// `root` above `alice`, who is above `bob` and `carol`.
pub async fn family(plane: &mut Plane) {
    begun(plane).await;
    make(plane, "alice", "root", &config("\"read\", \"spawn\"", "")).await;
    for child in ["bob", "carol"] {
        make(plane, child, "alice", &config("\"read\"", "")).await;
    }
}

async fn only_who_stands_above_asks_for_a_commit(plane: &mut Plane) {
    family(plane).await;
    let text = config("", "");
    let of_bob = committed(plane, "bob", &[(CONFIG_FILE, &text)]);
    let of_alice = committed(plane, "alice", &[(CONFIG_FILE, &text)]);
    let all = |who: &str| agent_with(who, &Capability::ALL);
    // Oneself, a sibling, somebody above, a stranger.
    forbidden(&ask_apply(plane, &all("bob"), "bob", &of_bob).await);
    forbidden(&ask_apply(plane, &all("carol"), "bob", &of_bob).await);
    forbidden(&ask_apply(plane, &all("bob"), "alice", &of_alice).await);
    forbidden(&ask_apply(plane, &all("alice"), "alice", &of_alice).await);
    forbidden(&ask_apply(plane, &all("stranger"), "bob", &of_bob).await);
    for who in others() {
        forbidden(&ask_apply(plane, &who, "bob", &of_bob).await);
    }
    let outside = Ctx {
        is_from_outside: true,
        ..all("alice")
    };
    forbidden(&ask_apply(plane, &outside, "bob", &of_bob).await);
    // Whoever may ask waits for a person all the same.
    let row = queued(ask_apply(plane, &all("alice"), "bob", &of_bob).await);
    assert_eq!(row.status(), Status::Pending);
    queued(ask_apply(plane, &owner(), "alice", &of_alice).await);
    let root = ask_apply(plane, &owner(), "root", &of_alice).await;
    assert!(
        matches!(root, Err(AgentConfigError::Resident(_))),
        "{root:?}"
    );
}

async fn a_yes_applies_exactly_that_commit(plane: &mut Plane) {
    family(plane).await;
    let first = locked(plane, "bob").unwrap();
    let text = config("\"read\", \"spawn\"", "model = \"m\"\n");
    let files = [(CONFIG_FILE, &text[..]), ("prompts/day.md", "look\n")];
    let commit = committed(plane, "bob", &files);
    // A later commit of the branch changes nothing of what was asked for.
    let later = committed(plane, "bob", &[(CONFIG_FILE, &config("", ""))]);
    let alice = agent_with("alice", MAKER);
    let row = queued(ask_apply(plane, &alice, "bob", &commit).await);
    let change = row.subject.change().unwrap();
    assert_eq!(change.base.as_ref(), Some(&first));
    assert_eq!(change.summary[1], "gains the capability spawn");
    let ended = approved(plane, &row).await;
    assert_eq!(ended.status(), Status::Executed, "{ended:?}");
    let State::Executed { result, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(result["commit"], commit.as_str());
    assert_eq!(applied(plane, "bob"), text);
    let other = data(plane).join("applied/bob/prompts/day.md");
    assert_eq!(fs::read_to_string(&other).unwrap(), "look\n");
    assert_eq!(
        other.metadata().unwrap().permissions().mode() & 0o777,
        0o644
    );
    assert_eq!(locked(plane, "bob").as_deref(), Some(commit.as_str()));
    assert_eq!(may(plane, "bob").await, Some(set(MAKER)));
    let log = git_in(&data(plane).join("meta"), &["log", "-1", "--format=%B"]);
    assert!(
        log.starts_with(&format!("deploy: bob from {first} to {commit}")),
        "{log}"
    );
    assert!(
        log.contains("Asked for by alice, approved by owner-cli."),
        "{log}"
    );
    // Twice is once.
    let again = ask_apply(plane, &alice, "bob", &commit).await;
    let same = InvalidConfigChange::Same;
    assert!(matches!(again, Err(AgentConfigError::Config(error)) if error == same));
    // What goes is gone from what is applied.
    let row = queued(ask_apply(plane, &alice, "bob", &later).await);
    approved(plane, &row).await;
    assert_eq!(may(plane, "bob").await, Some(Capabilities::none()));
    let left: Vec<_> = fs::read_dir(data(plane).join("applied")).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

async fn what_is_no_commit_of_the_agent_is_refused(plane: &mut Plane) {
    family(plane).await;
    let alice = agent_with("alice", MAKER);
    let refused = async |commit: &CommitId| {
        let refused = ask_apply(plane, &alice, "bob", commit).await;
        match refused {
            Err(AgentConfigError::Read(error)) => error.to_string(),
            other => panic!("{commit}: {other:?}"),
        }
    };
    let id = |text: &str| CommitId::parse(text).unwrap();
    let nowhere = "there is no such commit in its config repository";
    assert_eq!(refused(&id(&"a".repeat(40))).await, nowhere);
    assert_eq!(refused(&id(&"a".repeat(64))).await, nowhere);
    // A sibling's, and one of the tree's own repository.
    let of_carol = committed(plane, "carol", &[("x.md", "x")]);
    assert_eq!(refused(&of_carol).await, nowhere);
    let of_meta = git_in(&data(plane).join("meta"), &["rev-parse", "HEAD"]);
    assert_eq!(refused(&id(&of_meta)).await, nowhere);
    // A tree, a file, a tag.
    let folder = repository(plane, "bob");
    for object in ["HEAD^{tree}", "HEAD:agent.toml"] {
        let object = id(&git_in(&folder, &["rev-parse", object]));
        assert_eq!(refused(&object).await, nowhere);
    }
    git_in(&folder, &["tag", "-m", "x", "tagged"]);
    let tag = id(&git_in(&folder, &["rev-parse", "refs/tags/tagged"]));
    assert_eq!(refused(&tag).await, nowhere);
    // A commit that no branch has.
    let stray = committed(plane, "bob", &[("x.md", "x")]);
    git_in(&folder, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let said = refused(&stray).await;
    assert_eq!(said, "no branch of its config repository has that commit");
    // Objects of somebody else, lent or linked.
    let lent = folder.join(".git/objects/info");
    fs::create_dir_all(&lent).unwrap();
    let theirs = repository(plane, "carol").join(".git/objects");
    fs::write(lent.join("alternates"), theirs.display().to_string()).unwrap();
    let said = refused(&of_carol).await;
    assert!(said.contains("leads to another repository"), "{said}");
    fs::remove_file(lent.join("alternates")).unwrap();
    symlink(theirs.join("pack"), folder.join(".git/objects/zz")).unwrap();
    assert!(refused(&of_carol).await.contains("links"));
    fs::remove_file(folder.join(".git/objects/zz")).unwrap();
    fs::rename(folder.join(".git"), folder.join("git")).unwrap();
    fs::write(
        folder.join(".git"),
        format!("gitdir: {}", folder.join("git").display()),
    )
    .unwrap();
    assert!(refused(&of_carol).await.contains("is no folder"));
    assert_eq!(recorded(plane, "topology.deployed").await.len(), 3);
}

async fn what_a_commit_may_not_hold_is_refused(plane: &mut Plane) {
    family(plane).await;
    let alice = agent_with("alice", MAKER);
    let folder = repository(plane, "bob");
    let first = git_in(&folder, &["rev-parse", "HEAD"]);
    let refused = async |what: &str, made: &dyn Fn()| {
        made();
        let commit = commit_all(&folder);
        let refused = ask_apply(plane, &alice, "bob", &commit).await;
        let error = refused.map(drop).expect_err(what);
        git_in(&folder, &["reset", "--quiet", "--hard", &first]);
        git_in(&folder, &["clean", "--quiet", "-ffdx"]);
        error.to_string()
    };
    let at = |path: &str| folder.join(path);
    let said = refused("a link", &|| symlink("/etc/passwd", at("x")).unwrap()).await;
    assert!(said.contains("no regular file"), "{said}");
    let said = refused("a program", &|| {
        fs::write(at("x"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(at("x"), fs::Permissions::from_mode(0o755)).unwrap();
    })
    .await;
    assert!(said.contains("no regular file"));
    let said = refused("a repository", &|| {
        let link = format!("160000,{first},sub");
        git_in(&folder, &["update-index", "--add", "--cacheinfo", &link]);
        fs::create_dir(at("sub")).unwrap();
        git_in(&at("sub"), &["init", "--quiet"]);
        git_in(
            &at("sub"),
            &["commit", "--quiet", "--allow-empty", "-m", "x"],
        );
    })
    .await;
    assert!(said.contains("no regular file"));
    for hidden in [".gitattributes", ".gitmodules", "a b", "-x"] {
        let said = refused(hidden, &|| fs::write(at(hidden), "# x\n").unwrap()).await;
        assert!(said.contains("name of a file"), "{hidden}: {said}");
    }
    let said = refused("too many", &|| {
        (0..=FILES_MAX).for_each(|n| fs::write(at(&format!("f{n}")), "x").unwrap());
    })
    .await;
    assert!(said.contains("more than"));
    let said = refused("too large", &|| {
        fs::write(at("x"), vec![b'x'; 1 << 20]).unwrap()
    })
    .await;
    assert!(said.contains("longer"));
    let said = refused("no text", &|| fs::write(at("x"), b"\xff").unwrap()).await;
    assert!(said.contains("no text"), "{said}");
    let said = refused("no config", &|| fs::remove_file(at(CONFIG_FILE)).unwrap()).await;
    assert!(said.contains("has no agent.toml"));
    let said = refused("a wrong config", &|| {
        fs::write(at(CONFIG_FILE), "brain = \"builtin\"\ngrants = 1\n").unwrap();
    })
    .await;
    assert!(said.contains("agent.toml: line 2, grants"), "{said}");
    let said = refused("more than its parent", &|| {
        fs::write(at(CONFIG_FILE), config("\"act\"", "")).unwrap();
    })
    .await;
    assert!(
        said.contains("capability act: alice does not hold it"),
        "{said}"
    );
    let said = refused("more than a card shows", &|| {
        fs::write(at("x"), "line\n".repeat(3_900)).unwrap();
        fs::write(at("y"), "line\n".repeat(3_900)).unwrap();
        fs::write(at("z"), "a long line\n".repeat(3_900)).unwrap();
    })
    .await;
    assert!(said.contains("no card shows whole"));
    assert_eq!(applied(plane, "bob"), config("\"read\"", ""));
}

async fn a_base_that_moved_applies_nothing(plane: &mut Plane) {
    family(plane).await;
    let one = committed(
        plane,
        "bob",
        &[(CONFIG_FILE, &config("", "model = \"one\"\n"))],
    );
    let two = committed(
        plane,
        "bob",
        &[(CONFIG_FILE, &config("", "model = \"two\"\n"))],
    );
    let first = queued(ask_apply(plane, &owner(), "bob", &one).await);
    let second = queued(ask_apply(plane, &owner(), "bob", &two).await);
    approved(plane, &first).await;
    let (code, row) = conflict(plane.approve(&second).await);
    assert_eq!(code, "changed", "{row:?}");
    assert_eq!(locked(plane, "bob").as_deref(), Some(one.as_str()));
    // It does not come back to life with its base.
    let ended = plane.row(second.id).await;
    match &ended.state {
        State::Cancelled { why, .. } => assert_eq!(*why, Cancellation::DefinitionChanged),
        State::Pending => {}
        other => panic!("{other:?}"),
    }
    // One that was edited in the database is nothing that anybody approved.
    let third = queued(ask_apply(plane, &owner(), "bob", &two).await);
    assert_ne!(third.id, second.id);
    approved(plane, &third).await;
    assert_eq!(locked(plane, "bob").as_deref(), Some(two.as_str()));
}

async fn a_place_or_a_parent_that_changed_applies_nothing(plane: &mut Plane) {
    family(plane).await;
    let spawn = config("\"read\", \"spawn\"", "");
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &spawn)]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    // Meanwhile its parent holds less.
    let less = committed(plane, "alice", &[(CONFIG_FILE, &config("\"read\"", ""))]);
    let of_alice = queued(ask_apply(plane, &owner(), "alice", &less).await);
    assert_eq!(approved(plane, &of_alice).await.status(), Status::Executed);
    let ended = approved(plane, &row).await;
    let State::Failed { failure, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(failure.code, FailureCode::Changed);
    assert!(
        failure.message.contains("capability spawn: alice"),
        "{failure:?}"
    );
    assert_eq!(may(plane, "bob").await, Some(set(READ)));
    // Meanwhile it stands elsewhere.
    let text = config("", "");
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &text)]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    plane
        .inside(async |control, _| {
            let wanted = tree::MoveRequest {
                name: name("bob"),
                parent: name("root"),
                is_dry_run: false,
                seen: None,
            };
            tree::move_agent(&control, &owner(), wanted).await
        })
        .await
        .unwrap();
    let (code, _) = conflict(plane.approve(&row).await);
    assert_eq!(code, "changed");
    assert_eq!(applied(plane, "bob"), config("\"read\"", ""));
}

async fn a_freeze_holds_a_config_back(plane: &mut Plane) {
    family(plane).await;
    let commit = committed(plane, "bob", &[(CONFIG_FILE, &config("", ""))]);
    let row = queued(ask_apply(plane, &owner(), "bob", &commit).await);
    plane.freeze().await;
    let (code, _) = conflict(plane.approve(&row).await);
    assert_eq!(code, "frozen");
    assert_eq!(applied(plane, "bob"), config("\"read\"", ""));
    plane.thaw().await;
    approved(plane, &row).await;
    assert_eq!(applied(plane, "bob"), config("", ""));
}

async fn who_stands_above_writes_a_commit_and_applies_nothing_by_it(plane: &mut Plane) {
    family(plane).await;
    let write = async |who: &Ctx, text: &str| {
        let request = WriteConfigRequest {
            agent: name("bob"),
            config: text.to_owned(),
            message: "--amend\n\u{202e}another".to_owned(),
        };
        ask!(plane, who, |control, ctx| {
            agent_configs::write_config(&control, &ctx, request)
        })
    };
    let text = config("", "model = \"m\"\n");
    for who in ["bob", "carol", "stranger"] {
        let refused = write(&agent_with(who, MAKER), &text).await;
        assert!(
            matches!(refused, Err(AgentConfigError::Forbidden(_))),
            "{who}"
        );
    }
    let alice = agent_with("alice", MAKER);
    let more = write(&alice, &config("\"act\"", "")).await;
    assert!(matches!(more, Err(AgentConfigError::Config(_))), "{more:?}");
    let commit = write(&alice, &text).await.unwrap();
    let folder = repository(plane, "bob");
    let branch = git_in(&folder, &["rev-parse", "refs/heads/by/alice"]);
    assert_eq!(branch, commit.as_str());
    assert_eq!(applied(plane, "bob"), config("\"read\"", ""));
    let row = queued(ask_apply(plane, &alice, "bob", &commit).await);
    approved(plane, &row).await;
    assert_eq!(applied(plane, "bob"), text);
    let again = write(&alice, &config("", "")).await.unwrap();
    let parent = git_in(&folder, &["rev-parse", &format!("{again}^")]);
    assert_eq!(parent, commit.as_str());
}

/// Both at once, each ended at another moment: afterwards all of it is there, or nothing.
async fn a_crash_at_any_moment_leaves_all_of_it_or_nothing(plane: &mut Plane) {
    family(plane).await;
    for (at, wait_ms) in [0, 10, 25, 45, 70, 100, 140, 190, 260]
        .into_iter()
        .enumerate()
    {
        let child = format!("child-{}", char::from(b'a' + u8::try_from(at).unwrap()));
        let text = config("\"read\"", &format!("model = \"m{at}\"\n"));
        let commit = committed(plane, "bob", &[(CONFIG_FILE, &text)]);
        let before = (applied(plane, "bob"), locked(plane, "bob"));
        let made = queued(ask_init(plane, &owner(), &child, (Some("alice"), &text)).await);
        let moved = queued(ask_apply(plane, &owner(), "bob", &commit).await);
        for row in [&made, &moved] {
            plane.approve(row).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        plane.crash();
        // What git was at ends, and where several instances may work, the lease has to be over.
        tokio::time::sleep(Duration::from_millis(300)).await;
        plane.pass(plane.limits.lease);
        plane.start().await;
        open(plane).await;
        let (made, moved) = (settled(plane, &made).await, settled(plane, &moved).await);
        let is_there = parent_of(plane, &child).await.is_some();
        match made {
            Status::Executed => {
                assert!(is_there && locked(plane, &child).is_some());
                assert_eq!(applied(plane, &child), text);
                assert_eq!(may(plane, &child).await, Some(set(READ)));
            }
            _ => {
                assert!(!is_there && locked(plane, &child).is_none());
                assert_eq!(may(plane, &child).await, None);
                assert!(!repository(plane, &child).exists());
            }
        }
        match moved {
            Status::Executed => {
                assert_eq!(applied(plane, "bob"), text);
                assert_eq!(locked(plane, "bob").as_deref(), Some(commit.as_str()));
            }
            _ => assert_eq!((applied(plane, "bob"), locked(plane, "bob")), before),
        }
    }
    plane.stop().await;
    begun(plane).await;
    let meta = data(plane).join("meta");
    assert_eq!(git_in(&meta, &["status", "--porcelain"]), "");
    git_in(&meta, &["fsck", "--strict"]);
}

/// Executed or failed, once that is known.
async fn settled(plane: &Plane, row: &Proposal) -> Status {
    void_testkit::eventually("it to be settled", || async {
        let status = plane.row(row.id).await.status();
        matches!(status, Status::Executed | Status::Failed | Status::Expired).then_some(status)
    })
    .await
}
