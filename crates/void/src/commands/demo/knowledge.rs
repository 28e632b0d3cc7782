//! What somebody with this lab would have written down: runbooks, a project with tasks and a page of the web. All of it goes
//! through the API, as the owner's own hand would.

use serde::Serialize;
use void_api::pages::NewPageRequest;
use void_api::projects::{NewProjectRequest, ProjectResponse};
use void_api::refs::NewRefRequest;
use void_api::spaces::SpacesResponse;
use void_api::tasks::NewTaskRequest;
use void_domain::failures::FailureCode;

use crate::client::{Client, read};
use crate::exit::CommandError;

/// Title and text; a later page may name an earlier one.
const PAGES: [(&str, &str); 4] = [
    ("Network", include_str!("knowledge/network.md")),
    ("Backups", include_str!("knowledge/backups.md")),
    ("iVentoy", include_str!("knowledge/iventoy.md")),
    ("Jellyfin is slow", include_str!("knowledge/jellyfin.md")),
];
pub(super) async fn fill(owner: &Client, today: &str) -> Result<(), CommandError> {
    let spaces: SpacesResponse = owner.get_as("/api/spaces").await?;
    let Some(space) = spaces.spaces.into_iter().next() else {
        let message = "the first space is missing";
        return Err(CommandError::failed(
            FailureCode::Rehearsal,
            message.to_owned(),
        ));
    };
    let space = format!("/api/spaces/{}", space.entity.id);
    for (title, text) in PAGES {
        make(owner, &format!("{space}/pages"), &page(title, text)).await?;
    }
    plan(owner, &space, today).await?;
    make(owner, &format!("{space}/refs"), &manual()).await
}

fn page(title: &str, text: &str) -> NewPageRequest {
    NewPageRequest {
        title: Some(title.to_owned()),
        body: Some(text.to_owned()),
        ..NewPageRequest::default()
    }
}

async fn plan(owner: &Client, space: &str, today: &str) -> Result<(), CommandError> {
    let project = NewProjectRequest {
        title: Some("Quieter rack".to_owned()),
        body: Some("Fewer machines that run for nobody. Begins with [[iVentoy]].\n".to_owned()),
        ..NewProjectRequest::default()
    };
    let made: ProjectResponse = read(owner.post(&format!("{space}/projects"), &project).await?)?;
    let project = made.head.entity.id;
    let task = |title: &str, due: Option<&str>, state: Option<&str>| NewTaskRequest {
        title: Some(title.to_owned()),
        project_id: Some(project.clone()),
        due: due.map(str::to_owned),
        state: state.map(str::to_owned),
        ..NewTaskRequest::default()
    };
    let tasks = [
        task("Measure what the rack draws at night", None, Some("done")),
        task("Restore one photograph from last night", Some(today), None),
        task("Order the larger disk for the media", None, None),
    ];
    for task in tasks {
        make(owner, &format!("{space}/tasks"), &task).await?;
    }
    Ok(())
}

fn manual() -> NewRefRequest {
    NewRefRequest {
        title: Some("iVentoy: how it works".to_owned()),
        url: Some("https://www.iventoy.example/en/doc.html".to_owned()),
        body: Some(include_str!("knowledge/manual.md").to_owned()),
        ..NewRefRequest::default()
    }
}

async fn make<T: Serialize>(owner: &Client, path: &str, new: &T) -> Result<(), CommandError> {
    owner.post(path, new).await.map(|_| ())
}
