//! Offers: what goes by file is started by whoever takes its file, and is judged here like every other start.

use serde_json::json;
use void_control::proposals::CancelError;
use void_control::proposals::offers::{self, OfferStanding, Outcome, TargetBusy};
use void_domain::failures::FailureCode;
use void_domain::ids::ProposalId;
use void_domain::limits::APPROVAL_LAPSES_AFTER;
use void_domain::policy::Refusal;
use void_domain::proposals::{Proposal, State, Status};

use crate::callers::{agent, owner};
use crate::machines::CATALOGUE;
use crate::planes::Plane;

stories!(
    an_offer_is_taken_once_and_reported,
    a_frozen_plane_offers_nothing,
    an_offer_that_nobody_takes_lapses_when_it_is_taken_back,
    what_the_record_does_not_say_is_neither_offered_nor_taken,
    a_freeze_ends_what_policy_let_through_once_its_file_is_back,
    an_offer_of_a_bridge_that_is_switched_off_is_unknown,
);

const SAFE_BY_FILE: &str = r#"{"id": "tell-web", "label": "Tell the web", "kind": "restart_service", "node": "n1", "service": "told", "tier": "safe", "via": "file", "cooldown_s": 0}"#;
const BY_FILE: &str = r#"{"id": "deploy-web", "label": "Deploy the web", "kind": "deploy_service", "node": "n1", "service": "web", "tier": "risky", "via": "file"}"#;

impl Plane {
    async fn start_with_bridge(&mut self) {
        let (others, end) = CATALOGUE.rsplit_once(']').unwrap();
        self.catalogue = format!("{others}, {BY_FILE}, {SAFE_BY_FILE}]{end}");
        self.beside.bridge = true;
        self.start().await;
    }

    /// Approved, and left to the bridge.
    async fn approved_by_file(&self) -> Proposal {
        let row = self.queue(&agent("blue"), "deploy-web").await;
        let approved = self.approve(&row).await.unwrap();
        assert_eq!(approved.status(), Status::Approved);
        self.inside(async |control, _| control.wait_for_offer().await)
            .await;
        approved
    }

    async fn standing(&self, id: ProposalId) -> OfferStanding {
        self.inside(async move |control, _| {
            offers::standing(&control, id, TargetBusy::Counts)
                .await
                .unwrap()
        })
        .await
    }

    async fn offer(&self, id: ProposalId) -> bool {
        self.inside(async move |control, _| offers::make(&control, id).await.unwrap())
            .await
    }

    async fn take(&self, id: ProposalId) -> bool {
        self.inside(async move |control, _| offers::claim(&control, id).await.unwrap())
            .await
    }

    async fn take_back(&self, id: ProposalId) {
        self.inside(async move |control, _| offers::retract(&control, id).await.unwrap())
            .await;
    }
}

async fn an_offer_is_taken_once_and_reported(plane: &mut Plane) {
    plane.start_with_bridge().await;
    let id = plane.approved_by_file().await.id;
    assert_eq!(plane.standing(id).await, OfferStanding::Open);
    assert!(plane.offer(id).await);
    plane.sweep().await;
    assert_eq!(plane.status(id).await, Status::Approved);
    assert!(plane.take(id).await);
    assert!(!plane.take(id).await);
    assert_eq!(plane.standing(id).await, OfferStanding::Over);
    let result = json!({"reported_by": "file"});
    plane
        .inside(async move |control, _| {
            offers::report(&control, id, Outcome::Done { result }).await;
        })
        .await;
    assert_eq!(plane.status(id).await, Status::Executed);
    let steps = plane.steps(id).await;
    let (statuses, by): (Vec<Status>, Vec<String>) = steps.into_iter().unzip();
    let expected = [
        Status::Pending,
        Status::Approved,
        Status::Running,
        Status::Executed,
    ];
    assert_eq!(statuses, expected);
    assert_eq!(by[2..], ["file", "file"]);
    assert!(plane.machine.effects().is_empty());
}

async fn a_frozen_plane_offers_nothing(plane: &mut Plane) {
    plane.start_with_bridge().await;
    let id = plane.approved_by_file().await.id;
    plane.freeze().await;
    assert_eq!(plane.standing(id).await, OfferStanding::Held);
    assert!(!plane.offer(id).await);
    plane.thaw().await;
    assert!(plane.offer(id).await);
}

async fn an_offer_that_nobody_takes_lapses_when_it_is_taken_back(plane: &mut Plane) {
    plane.start_with_bridge().await;
    let id = plane.approved_by_file().await.id;
    assert!(plane.offer(id).await);
    plane.take_back(id).await;
    assert_eq!(plane.standing(id).await, OfferStanding::Open);
    assert!(plane.offer(id).await);
    plane.pass(APPROVAL_LAPSES_AFTER);
    assert_eq!(plane.standing(id).await, OfferStanding::Lapsed);
    // An executor may be faster: as long as its file is public, nobody but the bridge ends it.
    plane.sweep().await;
    assert_eq!(plane.status(id).await, Status::Approved);
    plane.take_back(id).await;
    assert_eq!(plane.status(id).await, Status::Expired);
    assert!(!plane.take(id).await);
}

async fn what_the_record_does_not_say_is_neither_offered_nor_taken(plane: &mut Plane) {
    plane.start_with_bridge().await;
    let id = plane.approved_by_file().await.id;
    plane.edit(&format!(
        "UPDATE proposals SET approved_by = 'somebody' WHERE id = '{id}'"
    ));
    assert!(!plane.offer(id).await);
    assert_eq!(plane.status(id).await, Status::Cancelled);
    assert!(!plane.take(id).await);
}

async fn a_freeze_ends_what_policy_let_through_once_its_file_is_back(plane: &mut Plane) {
    plane.start_with_bridge().await;
    let of_owner = plane.approved_by_file().await.id;
    let offered = plane.run(&agent("blue"), "tell-web").await;
    assert_eq!(offered.status(), Status::Approved);
    // One at a time, offered or not.
    for _ in 0..2 {
        assert_eq!(
            plane.refused(&agent("blue"), "tell-web").await.0,
            Refusal::Busy
        );
        plane.offer(offered.id).await;
    }
    let taken_back = plane.cancel(&owner(), offered.id).await;
    assert!(
        matches!(taken_back, Err(CancelError::Offered(_))),
        "{taken_back:?}"
    );
    plane.freeze().await;
    // An executor may be faster: as long as its file is public, nobody but the bridge ends it.
    plane.sweep().await;
    assert_eq!(plane.status(offered.id).await, Status::Approved);
    assert_eq!(plane.standing(offered.id).await, OfferStanding::Lapsed);
    plane.thaw().await;
    assert_eq!(plane.standing(offered.id).await, OfferStanding::Lapsed);
    plane.take_back(offered.id).await;
    let ended = plane.row(offered.id).await;
    assert_eq!(ended.failure().unwrap().code, "frozen");
    assert_eq!(ended.status(), Status::Refused);
    assert!(!plane.take(offered.id).await);
    // The owner's yes waits through the freeze, and may be taken back as long as nobody else may have it.
    assert_eq!(plane.standing(of_owner).await, OfferStanding::Open);
    plane.cancel(&owner(), of_owner).await.unwrap();
    assert!(!plane.offer(of_owner).await);
}

async fn an_offer_of_a_bridge_that_is_switched_off_is_unknown(plane: &mut Plane) {
    plane.start_with_bridge().await;
    let id = plane.approved_by_file().await.id;
    assert!(plane.offer(id).await);
    plane.stop().await;
    plane.beside.bridge = false;
    plane.start().await;
    let ended = plane.becomes(id, Status::Unknown).await;
    let State::Unknown { failure, .. } = &ended.state else {
        panic!("{ended:?}");
    };
    assert_eq!(failure.code, FailureCode::BridgeOff.as_str());
    assert!(plane.machine.effects().is_empty());
}
