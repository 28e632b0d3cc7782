//! A change of the catalogue: drafted, approved, written once, and never in force before the next start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use void_control::Ctx;
use void_control::proposals::{
    CancelError, ChangeRequest, DecideError, Decision, ProposeChangeError, Proposed, cancel,
    propose_catalogue,
};
use void_domain::actors::Surface;
use void_domain::capabilities::Capability;
use void_domain::catalogue::Risk;
use void_domain::changes::catalogue::{InvalidCatalogueChange, Sent};
use void_domain::digests::Digest;
use void_domain::limits::APPROVAL_LAPSES_AFTER;
use void_domain::policy::Refusal;
use void_domain::proposals::{Cancellation, Proposal, State, Status, VerificationOutcome};
use void_domain::taint::Taint;

use crate::callers::{agent_with, others, owner, owner_on};
use crate::machines::CATALOGUE;
use crate::planes::Plane;
use crate::requests::{at_once, conflict, seen};

stories!(
    a_yes_becomes_one_commit_and_nothing_is_in_force_before_the_next_start,
    without_git_the_new_file_is_put_beside,
    a_no_writes_nothing,
    the_same_twice_is_one,
    only_who_may_suggest_drafts_and_nobody_but_the_owner_decides,
    a_change_is_approved_only_where_everything_is_seen,
    a_file_that_was_edited_since_is_left_alone,
    what_would_be_refused_never_waits,
    a_freeze_holds_a_change_back,
    of_many_yeses_at_once_one_is_written,
    a_row_that_was_edited_writes_nothing,
    a_crash_at_any_moment_leaves_what_the_record_says,
    what_waits_is_withdrawn_when_its_base_is_gone,
    whoever_may_draft_takes_back_their_own_draft_and_nothing_else,
    what_nobody_decided_expires_and_writes_nothing,
    what_was_approved_and_could_not_be_written_lapses,
);

pub fn git(folder: &Path, args: &[&str]) -> String {
    let said = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args([
            "-c",
            "user.name=Test",
            "-c",
            "user.email=test@example.invalid",
        ])
        .args(args)
        .output()
        .unwrap();
    assert!(
        said.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    String::from_utf8(said.stdout).unwrap()
}

/// The catalogue in a folder of its own.
pub fn in_folder(plane: &mut Plane) -> PathBuf {
    let folder = plane.machine.path().join("config");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("actions.json");
    fs::write(&file, CATALOGUE).unwrap();
    plane.catalogue_file = Some(file.clone());
    file
}

/// The same, committed.
pub fn in_git(plane: &mut Plane) -> PathBuf {
    let file = in_folder(plane);
    let folder = file.parent().unwrap();
    git(folder, &["init", "--quiet"]);
    git(folder, &["add", "."]);
    git(folder, &["commit", "--quiet", "-m", "first"]);
    file
}

pub fn commits(file: &Path) -> usize {
    git(file.parent().unwrap(), &["log", "--format=%H"])
        .lines()
        .count()
}

/// An action more than the catalogue has.
pub fn wider() -> String {
    let end = CATALOGUE.rfind(']').unwrap();
    let action = r#", {"id": "added", "label": "Added", "kind": "service_restart", "host": "local", "service": "added", "tier": "safe"}"#;
    format!("{}{action}{}", &CATALOGUE[..end], &CATALOGUE[end..])
}

pub fn whole(file: &str) -> ChangeRequest {
    ChangeRequest {
        sent: Sent::File(file.to_owned()),
        reason: Some("a test".to_owned()),
        taint: Taint::clean(),
    }
}

impl Plane {
    pub async fn draft(
        &self,
        ctx: &Ctx,
        request: ChangeRequest,
    ) -> Result<Proposed, ProposeChangeError> {
        let ctx = ctx.clone();
        self.inside(async move |control, _| propose_catalogue(&control, &ctx, request).await)
            .await
    }

    pub async fn drafted(&self, ctx: &Ctx) -> Proposal {
        match self.draft(ctx, whole(&wider())).await {
            Ok(Proposed::Queued(row)) => row,
            other => panic!("it does not wait: {other:?}"),
        }
    }
}

pub fn gardener() -> Ctx {
    agent_with("gardener", &[Capability::Suggest])
}

async fn a_yes_becomes_one_commit_and_nothing_is_in_force_before_the_next_start(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    assert_eq!(row.status(), Status::Pending);
    assert_eq!(row.subject.risk, Risk::Critical);
    assert_eq!(fs::read_to_string(&file).unwrap(), CATALOGUE);
    plane.approve(&row).await.unwrap();
    let ended = plane.ended(row.id).await;
    let State::Executed {
        result,
        verification,
        ..
    } = &ended.state
    else {
        panic!("{ended:?}");
    };
    let seen = verification.as_ref().unwrap();
    assert_eq!(seen.outcome, VerificationOutcome::Verified);
    assert_eq!(fs::read_to_string(&file).unwrap(), wider());
    assert_eq!(commits(&file), 2);
    let folder = file.parent().unwrap();
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
    let newest = git(folder, &["log", "-1", "--format=%H%n%an%n%B"]);
    assert!(
        newest.starts_with(result["commit"].as_str().unwrap()),
        "{newest} {result}"
    );
    for told in [
        "Void owner",
        "new: added (safe)",
        "gardener",
        "owner-cli",
        &row.subject.digest.to_string(),
    ] {
        assert!(newest.contains(told), "{told}: {newest}");
    }
    // It is in the file, and not in force.
    let known = async |plane: &Plane| {
        plane
            .inside(async |control, _| {
                control
                    .catalogue()
                    .actions()
                    .any(|one| one.id.as_str() == "added")
            })
            .await
    };
    assert!(!known(plane).await);
    let again = plane.draft(&owner(), whole(CATALOGUE)).await;
    assert!(
        matches!(again, Err(ProposeChangeError::NotAsLoaded)),
        "{again:?}"
    );
    plane.stop().await;
    plane.start().await;
    assert!(known(plane).await);
    let told = plane.audited("proposal.executed").await;
    assert_eq!(told.last().unwrap()["change"]["target"], "catalogue");
}

async fn without_git_the_new_file_is_put_beside(plane: &mut Plane) {
    let file = in_folder(plane);
    plane.start().await;
    let row = plane.drafted(&owner()).await;
    plane.approve(&row).await.unwrap();
    let ended = plane.ended(row.id).await;
    assert_eq!(ended.status(), Status::Executed, "{ended:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), CATALOGUE);
    let beside = file.with_file_name("actions.json.proposed");
    assert_eq!(fs::read_to_string(beside).unwrap(), wider());
}

async fn a_no_writes_nothing(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.reject(&row).await.unwrap();
    assert_eq!(conflict(plane.approve(&row).await).0, "already_decided");
    assert_eq!(
        (fs::read_to_string(&file).unwrap().as_str(), commits(&file)),
        (CATALOGUE, 1)
    );
}

async fn the_same_twice_is_one(plane: &mut Plane) {
    in_git(plane);
    plane.start().await;
    let first = plane.drafted(&gardener()).await;
    let second = plane.drafted(&gardener()).await;
    assert_eq!((second.id, second.count), (first.id, 2));
    let other = plane.drafted(&owner()).await;
    assert_ne!(other.id, first.id);
    let mut request = whole(&wider());
    request.taint = Taint::from_sources(vec!["a page".to_owned()]);
    let Ok(Proposed::Queued(tainted)) = plane.draft(&gardener(), request).await else {
        panic!("it does not wait");
    };
    assert_eq!(tainted.taint.sources(), ["a page"]);
    assert_eq!(
        conflict(plane.approve(&first).await).0,
        "changed",
        "it was read since"
    );
}

async fn only_who_may_suggest_drafts_and_nobody_but_the_owner_decides(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let mut strangers = others().to_vec();
    strangers.retain(|one| !one.actor.to_string().starts_with("agent"));
    strangers.push(agent_with("actor", &[Capability::Act, Capability::Read]));
    for stranger in &strangers {
        let refused = plane.draft(stranger, whole(&wider())).await;
        let Ok(Proposed::Refused(refusal, row)) = refused else {
            panic!("{}: {refused:?}", stranger.actor);
        };
        assert!(matches!(
            refusal,
            Refusal::WrongActor | Refusal::NoSuggestion
        ));
        assert_eq!(row.status(), Status::Refused);
    }
    let row = plane.drafted(&gardener()).await;
    strangers.push(gardener());
    for stranger in &strangers {
        let decided = plane
            .decide(stranger, row.id, seen(Decision::Approve, &row))
            .await;
        assert!(
            matches!(decided, Err(DecideError::OwnerOnly)),
            "{decided:?}"
        );
    }
    assert_eq!(
        (plane.status(row.id).await, commits(&file)),
        (Status::Pending, 1)
    );
}

async fn a_change_is_approved_only_where_everything_is_seen(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    let decide = async |surface, ago| {
        let ctx = owner_on(surface, ago);
        plane
            .decide(&ctx, row.id, seen(Decision::Approve, &row))
            .await
    };
    for surface in [
        Surface::File,
        Surface::Ntfy { may_approve: true },
        Surface::Telegram {
            may_approve: true,
            user: 7,
        },
    ] {
        let decided = decide(surface, None).await;
        assert!(
            matches!(decided, Err(DecideError::OtherSurfaceNeeded)),
            "{decided:?}"
        );
    }
    let stale = decide(Surface::Web, Some(Duration::from_secs(3_600))).await;
    assert!(
        matches!(stale, Err(DecideError::FreshLoginNeeded)),
        "{stale:?}"
    );
    let mut blind = seen(Decision::Approve, &row);
    blind.digest = None;
    let blind = plane.decide(&owner(), row.id, blind).await;
    assert!(matches!(blind, Err(DecideError::DigestNeeded)), "{blind:?}");
    let mut other = seen(Decision::Approve, &row);
    other.digest = Some(Digest::ZERO);
    assert_eq!(
        conflict(plane.decide(&owner(), row.id, other).await).0,
        "changed"
    );
    assert_eq!(commits(&file), 1);
    decide(Surface::Web, Some(Duration::ZERO)).await.unwrap();
    plane.ended(row.id).await;
    assert_eq!(commits(&file), 2);
}

async fn a_file_that_was_edited_since_is_left_alone(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    let edited = format!("{CATALOGUE}\n\n");
    fs::write(&file, &edited).unwrap();
    let (code, row) = conflict(plane.approve(&row).await);
    assert_eq!(code, "changed");
    let State::Cancelled { why, .. } = row.state else {
        panic!("{row:?}");
    };
    assert_eq!(why, Cancellation::DefinitionChanged);
    assert_eq!(
        (fs::read_to_string(&file).unwrap(), commits(&file)),
        (edited, 1)
    );
}

async fn what_would_be_refused_never_waits(plane: &mut Plane) {
    in_git(plane);
    plane.start().await;
    let sent = async |text: &str| match plane.draft(&owner(), whole(text)).await {
        Err(ProposeChangeError::Invalid(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        sent("{}").await,
        InvalidCatalogueChange::Refused(_)
    ));
    assert_eq!(sent(CATALOGUE).await, InvalidCatalogueChange::Same);
    let patch = ChangeRequest {
        sent: Sent::Patch("@@ -1 +1 @@\n-no\n+yes\n".to_owned()),
        ..whole("")
    };
    let patched = plane.draft(&owner(), patch).await;
    assert!(matches!(
        patched,
        Err(ProposeChangeError::Invalid(InvalidCatalogueChange::Patch(
            _
        )))
    ));
    assert_eq!(plane.count(Status::Pending).await, 0);
}

async fn a_freeze_holds_a_change_back(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.freeze().await;
    assert_eq!(conflict(plane.approve(&row).await).0, "frozen");
    assert_eq!(
        (plane.status(row.id).await, commits(&file)),
        (Status::Pending, 1)
    );
    plane.thaw().await;
    plane.approve(&row).await.unwrap();
    plane.ended(row.id).await;
    assert_eq!(commits(&file), 2);
}

async fn of_many_yeses_at_once_one_is_written(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    let decided = at_once(16, |_| plane.approve(&row)).await;
    assert_eq!(decided.iter().filter(|one| one.is_ok()).count(), 1);
    plane.ended(row.id).await;
    assert_eq!(commits(&file), 2);
}

async fn a_row_that_was_edited_writes_nothing(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    for edit in [
        // Another patch under the same digest, another base, and an action that is called a change.
        "UPDATE proposals SET definition = replace(definition, 'Added', 'Other') WHERE subject = 'change'",
        "UPDATE proposals SET definition = replace(definition, 'commit', 'beside') WHERE subject = 'change'",
        "UPDATE proposals SET subject = 'action', action_id = 'restart-a' WHERE subject = 'change'",
        "UPDATE proposals SET digest = exec_digest, target = 'other' WHERE subject = 'change'",
    ] {
        let row = plane.drafted(&gardener()).await;
        plane.edit("UPDATE proposals SET label = 'Say hello' WHERE status = 'pending'");
        assert_eq!(
            plane.row(row.id).await.subject.label,
            "Change the catalogue"
        );
        plane.edit(edit);
        let found = plane.row(row.id).await;
        assert!(plane.approve(&found).await.is_err(), "{edit}");
        assert_eq!(plane.status(row.id).await, Status::Cancelled, "{edit}");
        plane.edited += 1;
    }
    assert_eq!(
        (fs::read_to_string(&file).unwrap().as_str(), commits(&file)),
        (CATALOGUE, 1)
    );
    assert!(!file.with_file_name("actions.json.proposed").exists());
}

async fn a_crash_at_any_moment_leaves_what_the_record_says(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.approve(&row).await.unwrap();
    plane.crash();
    // What it had begun ends; and where several instances may work, its lease has to be over.
    tokio::time::sleep(Duration::from_secs(1)).await;
    plane.pass(plane.limits.lease);
    plane.start().await;
    let ended = plane.ended(row.id).await;
    let text = fs::read_to_string(&file).unwrap();
    match &ended.state {
        State::Executed { .. } => assert_eq!(text, wider()),
        State::Failed { failure, .. } => {
            assert_eq!(
                (failure.code.as_str(), text.as_str()),
                ("not_written", CATALOGUE)
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(commits(&file) <= 2);
}

async fn what_waits_is_withdrawn_when_its_base_is_gone(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.stop().await;
    fs::write(&file, format!("{CATALOGUE}\n")).unwrap();
    plane.start().await;
    assert_eq!(plane.status(row.id).await, Status::Cancelled);
}

async fn what_nobody_decided_expires_and_writes_nothing(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    plane.go_to(row.expires_at);
    let ended = plane.becomes(row.id, Status::Expired).await;
    assert!(matches!(ended.state, State::Expired { lapsed: None, .. }));
    assert_eq!(conflict(plane.approve(&row).await).0, "expired");
    // Nobody's yes, and time alone writes nothing; who wants it still drafts it anew.
    assert_eq!(
        (fs::read_to_string(&file).unwrap().as_str(), commits(&file)),
        (CATALOGUE, 1)
    );
    let anew = plane.drafted(&gardener()).await;
    assert_ne!(anew.id, row.id);
    plane.approve(&anew).await.unwrap();
    assert_eq!(plane.ended(anew.id).await.status(), Status::Executed);
    assert_eq!((plane.row(row.id).await, commits(&file)), (ended, 2));
}

async fn what_was_approved_and_could_not_be_written_lapses(plane: &mut Plane) {
    let file = in_git(plane);
    plane.start().await;
    let row = plane.drafted(&gardener()).await;
    // Who is stopping begins nothing; the yes waits for the next start, and that one comes too late.
    plane.ask_to_stop().await;
    let approved = plane.approve(&row).await.unwrap();
    assert_eq!(approved.status(), Status::Approved);
    plane.stop().await;
    plane.pass(APPROVAL_LAPSES_AFTER);
    plane.start().await;
    let ended = plane.becomes(row.id, Status::Expired).await;
    let State::Expired { lapsed, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(lapsed.as_ref(), approved.approval());
    assert_eq!(conflict(plane.approve(&row).await).0, "expired");
    plane.sweep().await;
    assert_eq!(
        (fs::read_to_string(&file).unwrap().as_str(), commits(&file)),
        (CATALOGUE, 1)
    );
}

/// Every right by itself, with a draft and a wish of one's own and of somebody else.
async fn whoever_may_draft_takes_back_their_own_draft_and_nothing_else(plane: &mut Plane) {
    in_folder(plane);
    plane.start().await;
    let takes_back = async |name: &str, right: Capability, row: &Proposal| {
        let (ctx, id) = (agent_with(name, &[right]), row.id);
        plane
            .inside(async move |control, _| cancel(&control, &ctx, id).await)
            .await
    };
    for right in Capability::ALL {
        let (acts, drafts) = (right == Capability::Act, right == Capability::Suggest);
        let draft = plane
            .drafted(&agent_with("gardener", &Capability::ALL))
            .await;
        let wish = plane
            .queue(&agent_with("gardener", &Capability::ALL), "stop-a")
            .await;
        for row in [&draft, &wish] {
            let refused = takes_back("red", right, row).await;
            assert!(matches!(refused, Err(CancelError::NotFound)), "{refused:?}");
        }
        for (row, may) in [(&draft, acts || drafts), (&wish, acts)] {
            let taken_back = takes_back("gardener", right, row).await;
            match may {
                true => assert_eq!(taken_back.unwrap().status(), Status::Cancelled),
                false => assert!(
                    matches!(taken_back, Err(CancelError::NoCapability)),
                    "{right}: {taken_back:?}"
                ),
            }
            let status = if may {
                Status::Cancelled
            } else {
                Status::Pending
            };
            assert_eq!(plane.status(row.id).await, status, "{right}");
            // The next one begins anew.
            let id = row.id;
            let _ = plane
                .inside(async move |control, _| cancel(&control, &owner(), id).await)
                .await;
        }
    }
    assert!(plane.machine.effects().is_empty());
}
