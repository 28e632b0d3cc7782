//! Names of those who live here: none reads like an agent that there is or was, in either order.

use void_control::agents::{ResidentsError, admit_residents};
use void_control::nodes::{self, InviteError};
use void_control::tokens::{self, TokenError};
use void_domain::actors::ActorKind;
use void_domain::agents::{AgentName, AgentRefusal};
use void_domain::capabilities::Capabilities;

use crate::callers::owner;
use crate::planes::Plane;

stories!(
    nobody_lives_here_under_a_name_that_reads_like_another_agents,
    no_token_is_given_under_a_name_that_reads_like_who_lives_here,
    new_viewers_and_nodes_do_not_pass_for_others,
);

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

async fn token(plane: &Plane, name: &'static str) -> Result<tokens::NewToken, TokenError> {
    plane
        .inside(async move |control, _| {
            let kind = ActorKind::Agent;
            tokens::create(
                &control,
                &owner(),
                kind,
                name.to_owned(),
                Capabilities::none(),
            )
            .await
        })
        .await
}

async fn admit(plane: &Plane, names: &'static [&'static str]) -> Result<(), ResidentsError> {
    let names: Vec<AgentName> = names.iter().map(|text| name(text)).collect();
    plane
        .inside(async move |control, _| admit_residents(&control, &names).await)
        .await
}

async fn nobody_lives_here_under_a_name_that_reads_like_another_agents(plane: &mut Plane) {
    plane.start().await;
    let ghost = token(plane, "ghost").await.unwrap();
    let refused = admit(plane, &["night", "gh0st"]).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the persona gh0st: this name reads like that of the agent \"ghost\""
    );
    // Withdrawn, it is in the record all the same.
    let id = ghost.id;
    plane
        .inside(async move |control, _| tokens::revoke(&control, &owner(), id).await)
        .await
        .unwrap();
    assert!(admit(plane, &["gh0st"]).await.is_err());
    admit(plane, &["night", "ghost"]).await.unwrap();
}

async fn no_token_is_given_under_a_name_that_reads_like_who_lives_here(plane: &mut Plane) {
    plane.start().await;
    admit(plane, &["night"]).await.unwrap();
    let refused = token(plane, "n1ght").await;
    assert!(
        matches!(&refused, Err(TokenError::Refused(AgentRefusal::ReadsLike(like))) if *like == name("night")),
        "{:?}",
        refused.err()
    );
    let reserved = token(plane, "owner").await;
    assert!(matches!(
        reserved,
        Err(TokenError::Refused(AgentRefusal::Reserved))
    ));
    // Before it has acted, a token of its own name is its own.
    token(plane, "night").await.unwrap();
}

/// Names that are there already keep working; new ones pass for nobody.
async fn new_viewers_and_nodes_do_not_pass_for_others(plane: &mut Plane) {
    plane.start().await;
    token(plane, "blue").await.unwrap();
    let made = async |kind: ActorKind, name: &'static str| {
        let made = plane.inside(async move |control, _| {
            tokens::create(
                &control,
                &owner(),
                kind,
                name.to_owned(),
                Capabilities::none(),
            )
            .await
        });
        made.await
    };
    for (kind, name) in [
        (ActorKind::Viewer, "owner"),
        (ActorKind::Viewer, "owner-cli"),
        (ActorKind::Node, "owner"),
        (ActorKind::Node, "void-1"),
        (ActorKind::Agent, "owner-api"),
    ] {
        let refused = made(kind, name).await;
        assert!(
            matches!(refused, Err(TokenError::Refused(AgentRefusal::Reserved))),
            "{name}"
        );
    }
    let refused = made(ActorKind::Viewer, "8lue").await;
    assert!(matches!(
        refused,
        Err(TokenError::Refused(AgentRefusal::ReadsLike(_)))
    ));
    for (kind, name) in [(ActorKind::Viewer, "hallway"), (ActorKind::Node, "node-1")] {
        assert!(made(kind, name).await.is_ok(), "{name}");
    }
    let invite = async |name: &'static str| {
        let invited = plane.inside(async move |control, _| {
            nodes::invite(&control, &owner(), name).await.map(drop)
        });
        invited.await
    };
    for name in ["owner", "owner-web", "5ystem"] {
        assert!(
            matches!(invite(name).await, Err(InviteError::Reserved)),
            "{name}"
        );
    }
    assert!(invite("n1").await.is_ok());
}
