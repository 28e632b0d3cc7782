//! Friction from above: who holds, vetoes and annotates what whom asked for, that nothing starts and no yes counts while
//! it is held, and that nobody below, beside or outside can do or undo anything.

use std::fs;

use void_control::holds::{self, HoldError, HoldRequest};
use void_control::proposals::offers::{self, OfferStanding, TargetBusy};
use void_control::proposals::{self, Listed, ProposalKey, shown_now};
use void_control::tree::{self, MoveRequest, TreePlaces};
use void_control::{Ctx, agents, events};
use void_domain::agents::AgentName;
use void_domain::capabilities::{Capabilities, Capability};
use void_domain::events::Audience;
use void_domain::holds::{HoldKind, HoldRefusal};
use void_domain::ids::ProposalId;
use void_domain::proposals::{Cancellation, DisplayState, Proposal, State, Status};
use void_domain::taint::Taint;
use void_tree::{Operation, Right};

use crate::callers::{others, owner};
use crate::machines::CATALOGUE;
use crate::planes::Plane;
use crate::requests::conflict;

stories!(
    what_is_done_is_what_the_table_of_rights_says,
    a_held_request_takes_no_yes_until_the_owner_lifts_it,
    a_veto_ends_what_has_not_started_and_nothing_else,
    what_needs_no_yes_does_not_start_while_it_is_held,
    whoever_was_moved_away_is_neither_seen_nor_heard_nor_held_any_more,
    whoever_was_withdrawn_holds_nothing,
);

const TREE: &str = r#"{"root": null, "boss": "root", "worker": "boss", "peer": "boss", "below": "worker", "stranger": "root"}"#;
const NAMES: [&str; 5] = ["boss", "worker", "peer", "below", "stranger"];
const MAY: [Capability; 2] = [Capability::Read, Capability::Act];
const SAFE_BY_FILE: &str = r#"{"id": "tell-web", "label": "Tell the web", "kind": "restart_service", "node": "n1", "service": "told", "tier": "safe", "via": "file", "cooldown_s": 0}"#;

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn may() -> Capabilities {
    MAY.into_iter().collect()
}

impl Plane {
    /// Running, with the tree above; everybody in it lives in the server.
    async fn start_with_tree(&mut self) {
        let meta = self.machine.path().join("meta");
        fs::create_dir_all(&meta).unwrap();
        fs::write(meta.join("topology.json"), TREE).unwrap();
        self.start().await;
        let places = TreePlaces::of_data(self.machine.path());
        let residents = NAMES.map(|one| (name(one), may())).to_vec();
        let view = self
            .inside(async move |control, _| {
                tree::open(&control, places, residents).await.unwrap();
                tree::show(&control).await
            })
            .await;
        assert_eq!(view.problems, Vec::<String>::new());
    }

    /// In a turn of this agent.
    async fn acting(&self, one: &'static str) -> Ctx {
        let ctx = self.inside(async move |control, _| {
            agents::resident_ctx(&control, &name(one), &may()).await
        });
        ctx.await.unwrap().unwrap()
    }

    async fn friction(
        &self,
        ctx: &Ctx,
        id: ProposalId,
        kind: HoldKind,
    ) -> Result<Proposal, HoldError> {
        let (ctx, key) = (ctx.clone(), ProposalKey::Id(id));
        let request = HoldRequest {
            kind,
            words: "I do not trust this".to_owned(),
            taint: Taint::clean(),
        };
        self.inside(async move |control, _| holds::add(&control, &ctx, key, request).await)
            .await
    }

    async fn lift(&self, ctx: &Ctx, id: ProposalId) -> Result<Proposal, HoldError> {
        let (ctx, key) = (ctx.clone(), ProposalKey::Id(id));
        self.inside(async move |control, _| holds::lift(&control, &ctx, key).await)
            .await
    }

    async fn seen_by(&self, ctx: &Ctx, id: ProposalId) -> Option<Listed> {
        let ctx = ctx.clone();
        self.inside(async move |control, _| {
            proposals::find(&control, &ctx, ProposalKey::Id(id)).await
        })
        .await
        .unwrap()
    }

    async fn shown(&self, id: ProposalId) -> DisplayState {
        let row = self.row(id).await;
        self.inside(async move |control, _| shown_now(&control, &row).await)
            .await
            .unwrap()
    }
}

const fn operation(kind: HoldKind) -> Operation {
    match kind {
        HoldKind::Hold => Operation::Hold,
        HoldKind::Veto => Operation::Veto,
        HoldKind::Annotation => Operation::Annotate,
    }
}

/// Everybody × everybody's request × everything that can be put on it.
async fn what_is_done_is_what_the_table_of_rights_says(plane: &mut Plane) {
    plane.start_with_tree().await;
    let (mut done, mut refused) = (0, 0);
    for asked_by in NAMES {
        let asking = plane.acting(asked_by).await;
        for kind in HoldKind::ALL {
            let row = plane.queue(&asking, "stop-a").await;
            for actor in NAMES {
                let ctx = plane.acting(actor).await;
                let outside = Ctx {
                    is_from_outside: true,
                    ..ctx.clone()
                };
                let said = plane.friction(&outside, row.id, kind).await;
                assert!(
                    matches!(said, Err(HoldError::NotAbove | HoldError::NotFound)),
                    "{actor} from outside: {said:?}"
                );
                let (who, target) = (ctx.clone(), name(asked_by));
                let right = plane
                    .inside(async move |control, _| {
                        tree::right_of(&control, &who, operation(kind), &target)
                    })
                    .await;
                if right == Right::Alone && kind == HoldKind::Veto {
                    // It ends the row, so it comes last, below.
                    continue;
                }
                let live = plane.friction(&ctx, row.id, kind).await;
                let is_seen = plane.seen_by(&ctx, row.id).await.is_some();
                match right {
                    Right::Alone => {
                        live.unwrap();
                        done += 1;
                    }
                    Right::WithNod | Right::Never if is_seen => {
                        assert!(matches!(live, Err(HoldError::NotAbove)), "{live:?}");
                        refused += 1;
                    }
                    Right::WithNod | Right::Never => {
                        assert!(matches!(live, Err(HoldError::NotFound)), "{live:?}");
                        refused += 1;
                    }
                }
                let lifted = plane.lift(&ctx, row.id).await;
                assert!(matches!(lifted, Err(HoldError::OwnerOnly)), "{lifted:?}");
            }
            for other in others() {
                let said = plane.friction(&other, row.id, kind).await;
                assert!(
                    matches!(said, Err(HoldError::NotAbove | HoldError::NotFound)),
                    "{:?}: {said:?}",
                    other.actor
                );
            }
            plane
                .friction(&owner(), row.id, HoldKind::Veto)
                .await
                .unwrap();
            assert_eq!(plane.status(row.id).await, Status::Cancelled);
        }
    }
    // boss stands above worker, peer and below, worker above below: two kinds each.
    assert_eq!((done, refused), (8, 63));
}

async fn a_held_request_takes_no_yes_until_the_owner_lifts_it(plane: &mut Plane) {
    plane.start_with_tree().await;
    let (boss, worker) = (plane.acting("boss").await, plane.acting("worker").await);
    let row = plane.queue(&worker, "stop-a").await;
    plane
        .friction(&boss, row.id, HoldKind::Annotation)
        .await
        .unwrap();
    assert_eq!(plane.shown(row.id).await, DisplayState::Waiting);
    plane.friction(&boss, row.id, HoldKind::Hold).await.unwrap();
    let twice = plane.friction(&boss, row.id, HoldKind::Hold).await;
    assert!(matches!(
        twice,
        Err(HoldError::Refused(HoldRefusal::Already))
    ));
    assert_eq!(plane.shown(row.id).await, DisplayState::HeldFromAbove);
    let (code, held) = conflict(plane.approve(&row).await);
    assert_eq!((code, held.status()), ("held", Status::Pending));
    let listed = plane.seen_by(&owner(), row.id).await.unwrap();
    let on_it: Vec<(&str, HoldKind)> = (listed.holds.iter())
        .map(|hold| (hold.by.name(), hold.kind))
        .collect();
    assert_eq!(
        on_it,
        [("boss", HoldKind::Annotation), ("boss", HoldKind::Hold)]
    );
    // Whoever asks for the same again joins what is held.
    assert_eq!(plane.queue(&worker, "stop-a").await.id, row.id);
    plane.lift(&owner(), row.id).await.unwrap();
    let nothing = plane.lift(&owner(), row.id).await;
    assert!(matches!(nothing, Err(HoldError::NotHeld(_))));
    let again = plane.friction(&boss, row.id, HoldKind::Hold).await;
    assert!(matches!(
        again,
        Err(HoldError::Refused(HoldRefusal::Lifted))
    ));
    // The owner may think again, and lifts that too.
    plane
        .friction(&owner(), row.id, HoldKind::Hold)
        .await
        .unwrap();
    assert_eq!(conflict(plane.approve(&row).await).0, "held");
    plane.lift(&owner(), row.id).await.unwrap();
    plane.approve(&row).await.unwrap();
    plane.ended(row.id).await;
    assert_eq!(plane.status(row.id).await, Status::Executed);
    // A no needs nothing lifted.
    let other = plane.queue(&worker, "stop-b").await;
    plane
        .friction(&boss, other.id, HoldKind::Hold)
        .await
        .unwrap();
    plane.reject(&other).await.unwrap();
}

async fn a_veto_ends_what_has_not_started_and_nothing_else(plane: &mut Plane) {
    plane.start_with_tree().await;
    let (boss, worker) = (plane.acting("boss").await, plane.acting("worker").await);
    let row = plane.queue(&worker, "stop-a").await;
    let vetoed = plane.friction(&boss, row.id, HoldKind::Veto).await.unwrap();
    assert!(
        matches!(&vetoed.state, State::Cancelled { by, why: Cancellation::Vetoed, .. } if by == "agent-boss"),
        "{:?}",
        vetoed.state
    );
    assert_eq!(conflict(plane.approve(&row).await).0, "already_decided");
    for kind in HoldKind::ALL {
        let over = plane.friction(&boss, row.id, kind).await;
        assert!(matches!(over, Err(HoldError::NotWaiting(_))), "{over:?}");
    }
    // What ran is not ended by words, and what the owner approved is theirs.
    let ran = plane.run(&worker, "touch-a").await;
    plane.ended(ran.id).await;
    let late = plane.friction(&boss, ran.id, HoldKind::Veto).await;
    assert!(matches!(late, Err(HoldError::NotWaiting(_))), "{late:?}");
    assert_eq!(plane.status(ran.id).await, Status::Executed);
    let running = plane.run(&worker, "slow-a").await;
    let waits = plane.queue(&worker, "stop-slow").await;
    let approved = plane.approve(&waits).await.unwrap();
    assert_eq!(approved.status(), Status::Approved);
    for kind in HoldKind::ALL {
        let theirs = plane.friction(&boss, waits.id, kind).await;
        assert!(matches!(theirs, Err(HoldError::Approved(_))), "{theirs:?}");
    }
    let now = plane.friction(&boss, running.id, HoldKind::Veto).await;
    assert!(matches!(now, Err(HoldError::NotWaiting(_))), "{now:?}");
    plane.machine.release();
    plane.ended(waits.id).await;
}

/// What policy let through waits for whoever takes its file.
async fn what_needs_no_yes_does_not_start_while_it_is_held(plane: &mut Plane) {
    let (all, end) = CATALOGUE.rsplit_once(']').unwrap();
    plane.catalogue = format!("{all}, {SAFE_BY_FILE}]{end}");
    plane.beside.bridge = true;
    plane.start_with_tree().await;
    let (boss, worker) = (plane.acting("boss").await, plane.acting("worker").await);
    let row = plane.run(&worker, "tell-web").await;
    let id = row.id;
    let standing = async || {
        plane
            .inside(async move |control, _| {
                offers::standing(&control, id, TargetBusy::Counts)
                    .await
                    .unwrap()
            })
            .await
    };
    let offer = async || {
        plane
            .inside(async move |control, _| offers::make(&control, id).await.unwrap())
            .await
    };
    assert_eq!(standing().await, OfferStanding::Open);
    plane.friction(&boss, id, HoldKind::Hold).await.unwrap();
    assert_eq!(standing().await, OfferStanding::Held);
    assert!(!offer().await);
    plane.sweep().await;
    assert_eq!(plane.status(id).await, Status::Approved);
    assert_eq!(plane.shown(id).await, DisplayState::HeldFromAbove);
    plane.lift(&owner(), id).await.unwrap();
    assert_eq!(standing().await, OfferStanding::Open);
    assert!(offer().await);
    // Somebody may be taking it: it is held, and vetoed once it is back.
    let taken = plane.friction(&boss, id, HoldKind::Veto).await;
    assert!(matches!(taken, Err(HoldError::Offered(_))), "{taken:?}");
    plane
        .inside(async move |control, _| offers::retract(&control, id).await.unwrap())
        .await;
    plane.friction(&boss, id, HoldKind::Veto).await.unwrap();
    assert_eq!(standing().await, OfferStanding::Over);
}

async fn whoever_was_moved_away_is_neither_seen_nor_heard_nor_held_any_more(plane: &mut Plane) {
    plane.start_with_tree().await;
    let (boss, worker) = (plane.acting("boss").await, plane.acting("worker").await);
    let row = plane.queue(&worker, "stop-a").await;
    let about = Audience::Requester(row.requested_by.id.unwrap());
    let hears = async |ctx: &Ctx| {
        let ctx = ctx.clone();
        plane
            .inside(async move |control, _| events::hears(&control, &ctx, about).await.unwrap())
            .await
    };
    let outside = Ctx {
        is_from_outside: true,
        ..boss.clone()
    };
    assert!(plane.seen_by(&boss, row.id).await.is_some());
    assert!(hears(&boss).await && hears(&worker).await && !hears(&outside).await);
    for other in ["peer", "below", "stranger"] {
        let ctx = plane.acting(other).await;
        assert!(!hears(&ctx).await && plane.seen_by(&ctx, row.id).await.is_none());
    }
    let wanted = MoveRequest {
        name: name("worker"),
        parent: name("root"),
        is_dry_run: false,
        seen: None,
    };
    plane
        .inside(async move |control, _| tree::move_agent(&control, &owner(), wanted).await)
        .await
        .unwrap();
    assert!(plane.seen_by(&boss, row.id).await.is_none());
    assert!(!hears(&boss).await && hears(&worker).await);
    let held = plane.friction(&boss, row.id, HoldKind::Hold).await;
    assert!(matches!(held, Err(HoldError::NotFound)), "{held:?}");
}

async fn whoever_was_withdrawn_holds_nothing(plane: &mut Plane) {
    plane.start_with_tree().await;
    let (boss, worker) = (plane.acting("boss").await, plane.acting("worker").await);
    let row = plane.queue(&worker, "stop-a").await;
    plane
        .inside(async move |control, _| {
            let listed = void_control::tokens::list(&control).await.unwrap();
            let token = listed.iter().find(|one| one.token.name == "boss").unwrap();
            void_control::tokens::revoke(&control, &owner(), token.token.id)
                .await
                .unwrap();
        })
        .await;
    let held = plane.friction(&boss, row.id, HoldKind::Hold).await;
    assert!(
        matches!(held, Err(HoldError::NotAbove | HoldError::NotFound)),
        "{held:?}"
    );
}
