//! The owner's pages about actions are remembered, as long as nobody commits anything.

use std::sync::Arc;

use void_control::Ctx;
use void_control::knowledge::{self, ActionRunbooks, KnowledgeError};
use void_domain::capabilities::Capability;
use void_testkit::eventually;

use crate::callers::{agent_with, others};
use crate::planes::{Engine, Plane};

stories!(
    what_pages_say_about_actions_is_read_once_until_anybody_commits,
    a_page_that_is_edited_thrown_away_or_made_foreign_counts_at_once,
    whoever_may_not_read_is_told_nothing_of_what_is_remembered,
);

fn reader() -> Ctx {
    agent_with("reader", &[Capability::Read])
}

const FOREIGN: &str = r#"{"from":"capture"}"#;

impl Plane {
    async fn action_runbooks(&self, who: &Ctx) -> Result<Arc<ActionRunbooks>, KnowledgeError> {
        ask!(self, who, |control, ctx| knowledge::runbooks_of_actions(
            &control, &ctx
        ))
    }

    /// What two calls in a row were given, once nobody committed between them: the same, and not only the same words.
    /// PostgreSQL does not say whether anybody committed, so there it is read at each call.
    async fn remembered_runbooks(&self) -> Arc<ActionRunbooks> {
        if matches!(self.engine, Engine::Postgres(_)) {
            return self.action_runbooks(&reader()).await.unwrap();
        }
        eventually("a call that reads nothing", || async {
            let first = self.action_runbooks(&reader()).await.unwrap();
            let second = self.action_runbooks(&reader()).await.unwrap();
            Arc::ptr_eq(&first, &second).then_some(first)
        })
        .await
    }

    /// Each action with the words about it and whether a stranger could have written them.
    async fn said_of_actions(&self) -> Vec<(String, String, bool)> {
        let found = self.action_runbooks(&reader()).await.unwrap();
        let said = found.iter().map(|(name, page)| {
            let body = page.body.as_str().lines().last().unwrap_or_default();
            let name = name.name().to_owned();
            (name, body.to_owned(), page.head.is_foreign())
        });
        said.collect()
    }
}

fn about(action: &str, says: &str) -> String {
    format!("---\nactions: [{action}]\n---\n{says}\n")
}

fn said(action: &str, says: &str, is_foreign: bool) -> (String, String, bool) {
    (action.to_owned(), says.to_owned(), is_foreign)
}

async fn what_pages_say_about_actions_is_read_once_until_anybody_commits(plane: &mut Plane) {
    plane.start().await;
    // That there is none is remembered too.
    assert!(plane.remembered_runbooks().await.is_empty());
    let space = plane.space().await;
    for (count, action) in [(1, "touch-a"), (2, "stop-a")] {
        plane.page(space, action, &about(action, "ask me")).await;
        let found = plane.action_runbooks(&reader()).await.unwrap();
        assert_eq!(found.len(), count, "the very next call");
        assert_eq!(plane.remembered_runbooks().await, found);
    }
}

/// By somebody else, with this control plane told of nothing: another instance, or a hand in the database.
async fn a_page_that_is_edited_thrown_away_or_made_foreign_counts_at_once(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    let page = plane
        .page(space, "Touch", &about("touch-a", "look twice"))
        .await;
    let known = [said("touch-a", "look twice", false)];
    for _ in 0..2 {
        assert_eq!(plane.said_of_actions().await, known);
    }
    let id = page.head.id;
    plane.edit(&format!(
        "UPDATE pages SET body = replace(body, 'look twice', 'look thrice') WHERE id = '{id}'"
    ));
    let edited = [said("touch-a", "look thrice", false)];
    assert_eq!(plane.said_of_actions().await, edited);
    plane.edit(&format!(
        "UPDATE pages SET origin = '{FOREIGN}' WHERE id = '{id}'"
    ));
    let foreign = [said("touch-a", "look thrice", true)];
    assert_eq!(plane.said_of_actions().await, foreign);
    plane.edit(&format!(
        "UPDATE pages SET deleted_at = 1, deleted_by = 'owner-cli' WHERE id = '{id}'"
    ));
    assert_eq!(plane.said_of_actions().await, []);
    plane.edit(&format!(
        "UPDATE pages SET deleted_at = NULL, deleted_by = NULL WHERE id = '{id}'"
    ));
    assert_eq!(plane.said_of_actions().await, foreign);
    plane.edit("UPDATE spaces SET deleted_at = 1, deleted_by = 'owner-cli'");
    assert_eq!(plane.said_of_actions().await, []);
}

async fn whoever_may_not_read_is_told_nothing_of_what_is_remembered(plane: &mut Plane) {
    plane.start().await;
    let space = plane.space().await;
    plane
        .page(space, "Touch", &about("touch-a", "look twice"))
        .await;
    let known = plane.action_runbooks(&reader()).await.unwrap();
    assert_eq!(known.len(), 1);
    let [_, viewer, node, system] = others();
    let actor = agent_with("actor", &[Capability::Act]);
    for who in [actor, agent_with("nobody", &[]), viewer, node, system] {
        let refused = plane.action_runbooks(&who).await;
        assert!(
            matches!(refused, Err(KnowledgeError::Forbidden)),
            "{refused:?}"
        );
    }
}
