//! What clients read as resources: each is what a tool gives for certain arguments, so it has the tool's rules, its marks and its
//! form. What is listed are lists that tell no text of a stranger's; the rest is reached by templates.

use axum::http::Uri;
use rmcp::model::{
    CacheScope, ErrorData, PromptMessage, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, Role,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use void_agent::tools::{LIST, Outcome, Tool, ToolError, named};
use void_control::{Ctx, health, knowledge};
use void_domain::failures::FailureCode;
use void_domain::text;

use super::{QUOTED_BYTES_MAX, ToolHolder, Toolbox, told};

const MIME: &str = "application/json";
const SCHEME: &str = "void://";

/// Who is offered it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offered {
    /// Whoever may look at all.
    ToReaders,
    /// Whoever may read what the owner keeps.
    ToKnowers,
}

struct Entry {
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    offered: Offered,
}

const LISTS: [Entry; 4] = [
    Entry {
        uri: "void://services",
        name: "services",
        title: "Services",
        description: "How the watched services are, as service_status gives it",
        offered: Offered::ToReaders,
    },
    Entry {
        uri: "void://actions",
        name: "actions",
        title: "Actions",
        description: "Everything that may be named, as list_actions gives it",
        offered: Offered::ToReaders,
    },
    Entry {
        uri: "void://proposals",
        name: "proposals",
        title: "Your proposals",
        description: "The newest of your own, and how they stand",
        offered: Offered::ToReaders,
    },
    Entry {
        uri: "void://spaces",
        name: "spaces",
        title: "Spaces",
        description: "The spaces in which the owner keeps pages, tasks, refs and projects",
        offered: Offered::ToKnowers,
    },
];

const TEMPLATES: [Entry; 13] = [
    Entry {
        uri: "void://services/{id}",
        name: "service",
        title: "A service",
        description: "One service with its changes of the last day and the owner's runbooks about it",
        offered: Offered::ToReaders,
    },
    Entry {
        uri: "void://actions/{id}",
        name: "action",
        title: "An action",
        description: "One action with the owner's runbooks about it",
        offered: Offered::ToReaders,
    },
    Entry {
        uri: "void://proposals/{id}",
        name: "proposal",
        title: "A proposal",
        description: "One proposal of your own, by its code or id",
        offered: Offered::ToReaders,
    },
    of_space(
        "void://spaces/{id}",
        "space",
        "A space",
        "A space with its text",
    ),
    of_space(
        "void://spaces/{id}/pages",
        "pages",
        "Pages",
        "The newest pages of a space",
    ),
    of_space(
        "void://spaces/{id}/tasks",
        "tasks",
        "Tasks",
        "The newest tasks of a space",
    ),
    of_space(
        "void://spaces/{id}/refs",
        "refs",
        "Refs",
        "The newest refs of a space, which are strangers' texts",
    ),
    of_space(
        "void://spaces/{id}/projects",
        "projects",
        "Projects",
        "The newest projects of a space",
    ),
    of_space(
        "void://projects/{id}",
        "project",
        "A project",
        "A project with its text",
    ),
    of_space(
        "void://pages/{id}",
        "page",
        "A page",
        "A page with its text",
    ),
    of_space(
        "void://tasks/{id}",
        "task",
        "A task",
        "A task with its text",
    ),
    of_space(
        "void://refs/{id}",
        "ref",
        "A ref",
        "A page of the web as it was found, which is a stranger's text",
    ),
    Entry {
        uri: "void://search{?q}",
        name: "search",
        title: "Search results",
        description: "What the tool search finds for these words",
        offered: Offered::ToReaders,
    },
];

const fn of_space(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
) -> Entry {
    Entry {
        uri,
        name,
        title,
        description,
        offered: Offered::ToKnowers,
    }
}

fn is_offered(entry: &Entry, ctx: &Ctx) -> bool {
    match entry.offered {
        Offered::ToReaders => LIST.is_for(ctx),
        Offered::ToKnowers => knowledge::may_read(ctx).is_ok(),
    }
}

pub(super) fn lists(ctx: &Ctx) -> Vec<Resource> {
    let offered = LISTS.iter().filter(|entry| is_offered(entry, ctx));
    let listed = offered.map(|entry| {
        Resource::new(entry.uri, entry.name)
            .with_title(entry.title)
            .with_description(entry.description)
            .with_mime_type(MIME)
    });
    listed.collect()
}

pub(super) fn templates(ctx: &Ctx) -> Vec<ResourceTemplate> {
    let offered = TEMPLATES.iter().filter(|entry| is_offered(entry, ctx));
    let listed = offered.map(|entry| {
        ResourceTemplate::new(entry.uri, entry.name)
            .with_title(entry.title)
            .with_description(entry.description)
            .with_mime_type(MIME)
    });
    listed.collect()
}

/// Whether a template has this address; what its place can hold is told by [`completed`].
pub(super) fn is_template(uri: &str) -> bool {
    TEMPLATES.iter().any(|entry| entry.uri == uri)
}

/// What can stand in the place of a template, as far as it is no secret and no text: ids of services and actions.
pub(super) fn completed(toolbox: &Toolbox, uri: &str, begins: &str) -> Vec<String> {
    let ToolHolder::Agent { control, ctx, .. } = &toolbox.holder else {
        return Vec::new();
    };
    if !LIST.is_for(ctx) {
        return Vec::new();
    }
    let ids: Vec<String> = match uri {
        "void://services/{id}" => {
            let services = health::list(control).into_iter();
            services.map(|view| view.service.id.to_string()).collect()
        }
        "void://actions/{id}" => {
            let actions = control.catalogue().actions();
            actions.map(|action| action.id.to_string()).collect()
        }
        _ => Vec::new(),
    };
    let fitting = ids.into_iter().filter(|id| id.starts_with(begins));
    fitting.collect()
}

/// How a resource is read: a tool and its arguments.
fn reading(uri: &str) -> Option<(&'static Tool, Map<String, Value>)> {
    let path = uri.strip_prefix(SCHEME)?;
    let parts: Vec<&str> = path.split('/').collect();
    let (tool, arguments) = match parts.as_slice() {
        ["services"] => (named("service_status")?, json!({})),
        ["actions"] => (named("list_actions")?, json!({})),
        ["proposals"] => (&LIST, json!({"kind": "proposal"})),
        ["spaces"] => (&LIST, json!({"kind": "space"})),
        [
            "spaces",
            id,
            list @ ("pages" | "tasks" | "refs" | "projects"),
        ] => {
            let kind = list.strip_suffix('s')?;
            (&LIST, json!({"kind": kind, "space_id": id}))
        }
        [
            list @ ("services" | "actions" | "proposals" | "spaces" | "projects" | "pages"
            | "tasks" | "refs"),
            id,
        ] => {
            let kind = list.strip_suffix('s')?;
            (named("read")?, json!({"kind": kind, "id": id}))
        }
        [search] if search.starts_with("search?") => {
            (named("search")?, json!({"query": words(uri)?}))
        }
        _ => return None,
    };
    match arguments {
        Value::Object(arguments) => Some((tool, arguments)),
        _ => None,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchWords {
    q: String,
}

fn words(uri: &str) -> Option<String> {
    let uri: Uri = uri.parse().ok()?;
    let query = axum::extract::Query::<SearchWords>::try_from_uri(&uri);
    query.ok().map(|query| query.0.q)
}

/// Reads it as the caller; whatever of it a stranger could have written marks the caller's token first.
pub(super) async fn read(toolbox: &Toolbox, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (Some((tool, arguments)), ToolHolder::Agent { .. }) = (reading(uri), &toolbox.holder)
    else {
        return Err(unknown(uri, "there is no such resource"));
    };
    match toolbox.use_tool(tool, arguments).await {
        Ok(outcome) => Ok(contents(uri, &outcome)),
        Err(error) => Err(failure(uri, &error)),
    }
}

fn contents(uri: &str, outcome: &Outcome) -> ReadResourceResult {
    let text = ResourceContents::text(outcome.value.text(), uri).with_mime_type(MIME);
    // What it says is this token's, and of this moment.
    ReadResourceResult::new(vec![text])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private)
}

/// A resource as a part of a prompt.
pub(super) async fn attached(toolbox: &Toolbox, uri: &str) -> Result<PromptMessage, ErrorData> {
    let read = read(toolbox, uri).await?;
    let text = read
        .contents
        .into_iter()
        .find_map(|contents| match contents {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        });
    let (uri, mime) = (uri.to_owned(), Some(MIME.to_owned()));
    Ok(PromptMessage::new_resource(
        Role::User,
        uri,
        mime,
        text,
        None,
        None,
        None,
    ))
}

fn failure(uri: &str, error: &ToolError) -> ErrorData {
    let message = told(error);
    match error.code {
        FailureCode::NotFound => unknown(uri, &message),
        FailureCode::Unavailable | FailureCode::Internal => {
            ErrorData::internal_error(message, None)
        }
        _ => ErrorData::invalid_params(message, None),
    }
}

fn unknown(uri: &str, message: &str) -> ErrorData {
    let uri = text::escaped(text::cut(uri, QUOTED_BYTES_MAX));
    ErrorData::resource_not_found(message.to_owned(), Some(json!({"uri": uri})))
}
