//! The allow-list of mailboxes, opened after the tree. A person writes `routes.json` beside it; what is right is taken in as a
//! commit and recorded before it is in force. Anything wrong, and nobody gains anything by it.

use void_channels::{MetaAuthor, MetaError, MetaFile, MetaFolder};
use void_domain::text;
use void_store::StoreError;
use void_tree::{Route, RouteProblem, Routes};

use super::opening::Opened;
use super::recording::{self, RoutesChange, TreeChange, Why};
use crate::control::Control;

#[derive(Default)]
pub(super) struct OpenedRoutes {
    pub routes: Routes,
    /// The newest commit, if the list became one.
    pub commit: Option<String>,
    pub problems: Vec<String>,
}

impl OpenedRoutes {
    fn none(problems: Vec<String>) -> Self {
        Self {
            problems,
            ..Self::default()
        }
    }
}

pub(super) async fn open(
    control: &Control,
    folder: &MetaFolder,
    opened: &Opened,
) -> Result<OpenedRoutes, StoreError> {
    // Without a tree nobody stands anywhere, and is on no list.
    let Some(commit) = &opened.commit else {
        return Ok(OpenedRoutes::default());
    };
    let told = |problem: &dyn std::fmt::Display| {
        let file = folder.routes_file();
        vec![format!(
            "{}: {problem}",
            text::escaped(&file.display().to_string())
        )]
    };
    let found = folder.look_at_routes().await;
    let written = match &found.file {
        MetaFile::Missing if !found.is_known => return Ok(OpenedRoutes::default()),
        MetaFile::Missing => {
            let said = "it is missing, so it lets nobody write to anybody; put it back, or write {} into it";
            return Ok(OpenedRoutes::none(told(&said)));
        }
        MetaFile::Unreadable(error) => {
            let problem = RouteProblem::Unreadable(text::escaped(error));
            return Ok(OpenedRoutes::none(told(&problem)));
        }
        MetaFile::Text(written) => written,
    };
    let routes = match Routes::read(written) {
        Ok(routes) => routes,
        Err(problems) => {
            let problems = problems.iter().flat_map(|problem| told(problem));
            return Ok(OpenedRoutes::none(problems.collect()));
        }
    };
    let unplaced = routes.names().into_iter();
    let unplaced = unplaced.filter(|name| !opened.topology.has(name));
    let problems = unplaced
        .flat_map(|name| told(&format!("it names {name}, who has no position in the tree")))
        .collect();
    let commit = match (found.is_committed, opened.is_broken) {
        (true, _) => None,
        (false, true) => {
            let said = "it was edited by hand and is taken in once the tree is mended; until then it lets nobody write to anybody";
            return Ok(OpenedRoutes::none(told(&said)));
        }
        (false, false) => match take_in(control, folder, commit, (written, &routes)).await? {
            Ok(commit) => Some(commit),
            Err(error) => {
                let said = format!("it was edited by hand and cannot be taken in ({error})");
                return Ok(OpenedRoutes::none(told(&said)));
            }
        },
    };
    Ok(OpenedRoutes {
        routes,
        commit,
        problems,
    })
}

/// A commit of what a person wrote, and its entry of the record.
async fn take_in(
    control: &Control,
    folder: &MetaFolder,
    before: &str,
    (written, routes): (&str, &Routes),
) -> Result<Result<String, MetaError>, StoreError> {
    let known = folder.committed_routes().await.unwrap_or_default();
    let known = Routes::read(&known).unwrap_or_default();
    let only_in = |one: &Routes, other: &Routes| -> Vec<Route> {
        let all = one.iter();
        all.filter(|route| !other.has(&route.from, &route.to))
            .collect()
    };
    let change = RoutesChange {
        added: only_in(routes, &known),
        removed: only_in(&known, routes),
    };
    let ctx = control.system_ctx()?;
    let author = MetaAuthor {
        name: ctx.actor.to_string(),
        at: control.clock.now(),
    };
    let message = recording::routes_message(Why::Routes.subject(), &change);
    let commit = match folder
        .commit_routes(written, before, &author, &message)
        .await
    {
        Ok(commit) => commit,
        Err(error) => return Ok(Err(error)),
    };
    let change = TreeChange {
        why: Why::Routes,
        before: Some(before),
        commit: &commit,
        author: &author.name,
        relocations: &[],
        rights: &[],
        routes: change,
    };
    recording::record(control, &ctx, &change).await?;
    Ok(Ok(commit))
}
