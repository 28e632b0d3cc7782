//! Pinned inputs: moved by who holds `meta.update` and the owner's yes.

use void_control::Ctx;
use void_control::agent_configs::{
    self, AgentConfigError, InputSchemes, RequestNotes, UpdateInputsRequest,
};
use void_control::proposals::Proposed;
use void_domain::agent_configs::CommitId;
use void_domain::capabilities::Capability;
use void_domain::meta_locks::{InputKind, InputUrl, MetaLock, PinnedInput};
use void_domain::proposals::Status;

use super::{approved, begun, data, family, forbidden, git_in, queued, recorded};
use crate::callers::{agent_with, others, owner};
use crate::planes::Plane;
use crate::requests::conflict;

stories!(
    a_yes_pins_and_fetches_nothing,
    only_who_holds_the_capability_asks,
    what_may_not_be_pinned_is_never_asked,
);

fn pack(digit: char, url: &str) -> Option<PinnedInput> {
    Some(PinnedInput {
        kind: InputKind::PersonaPack,
        url: InputUrl::parse(url).unwrap(),
        commit: CommitId::parse(&digit.to_string().repeat(40)).unwrap(),
    })
}

const URL: &str = "https://git.example/pack";

async fn ask(
    plane: &Plane,
    who: &Ctx,
    inputs: &[(&str, Option<PinnedInput>)],
) -> Result<Proposed, AgentConfigError> {
    let inputs = inputs.iter();
    let request = UpdateInputsRequest {
        inputs: inputs
            .map(|(name, input)| ((*name).to_owned(), input.clone()))
            .collect(),
        schemes: InputSchemes::Remote,
        notes: RequestNotes::default(),
    };
    ask!(plane, who, |control, ctx| {
        agent_configs::request_update_meta_inputs(&control, &ctx, request)
    })
}

fn lock(plane: &Plane) -> MetaLock {
    let file = data(plane).join("meta/lock.json");
    let text = std::fs::read_to_string(file).unwrap_or_else(|_| MetaLock::default().to_json());
    MetaLock::parse(&text).unwrap()
}

async fn a_yes_pins_and_fetches_nothing(plane: &mut Plane) {
    family(plane).await;
    let agents = lock(plane).agents;
    let row = queued(ask(plane, &owner(), &[("pack", pack('a', URL))]).await);
    let other = queued(ask(plane, &owner(), &[("pack", pack('b', URL))]).await);
    assert!(lock(plane).inputs.is_empty());
    let ended = approved(plane, &row).await;
    assert_eq!(ended.status(), Status::Executed, "{ended:?}");
    assert_eq!(lock(plane).inputs.get("pack").cloned(), pack('a', URL));
    assert_eq!(lock(plane).agents, agents);
    // The other was made of what is there no more.
    let (code, _) = conflict(plane.approve(&other).await);
    assert_eq!(code, "changed");
    let row = queued(ask(plane, &owner(), &[("pack", pack('b', URL))]).await);
    let (a, b) = ("a".repeat(40), "b".repeat(40));
    let change = row.subject.change().unwrap();
    assert_eq!(
        change.summary,
        [format!("pack (persona_pack): from commit {a} to {b}")]
    );
    approved(plane, &row).await;
    let log = git_in(&data(plane).join("meta"), &["log", "-1", "--format=%an %s"]);
    assert_eq!(log, "owner-cli lock: move pinned inputs");
    let entries = recorded(plane, "topology.deployed").await;
    assert_eq!(entries.last().unwrap()["why"], "pinned");
    plane.stop().await;
    begun(plane).await;
    assert_eq!(lock(plane).inputs.get("pack").cloned(), pack('b', URL));
}

async fn only_who_holds_the_capability_asks(plane: &mut Plane) {
    family(plane).await;
    let wanted = [("pack", pack('a', URL))];
    let with = agent_with("bob", &[Capability::MetaUpdate]);
    let without = agent_with("alice", &[Capability::Read, Capability::Spawn]);
    forbidden(&ask(plane, &without, &wanted).await);
    let outside = Ctx {
        is_from_outside: true,
        ..with.clone()
    };
    forbidden(&ask(plane, &outside, &wanted).await);
    for who in others() {
        forbidden(&ask(plane, &who, &wanted).await);
    }
    let row = queued(ask(plane, &with, &wanted).await);
    assert_eq!(row.status(), Status::Pending);
}

async fn what_may_not_be_pinned_is_never_asked(plane: &mut Plane) {
    family(plane).await;
    for wanted in [
        ("pack", pack('a', "file:///srv/pack")),
        ("../pack", pack('a', URL)),
        ("pack", None),
    ] {
        let refused = ask(plane, &owner(), &[wanted]).await;
        assert!(
            matches!(refused, Err(AgentConfigError::Inputs(_))),
            "{refused:?}"
        );
    }
    let nothing = ask(plane, &owner(), &[]).await;
    assert!(matches!(nothing, Err(AgentConfigError::Inputs(_))));
}
