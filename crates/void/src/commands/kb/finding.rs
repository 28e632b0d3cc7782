//! Which one is meant by a title or an id. An id is of whatever kind has it; a title has to mean exactly one thing, and if it
//! means several, they are named.

use serde::Deserialize;
use void_api::bounds::UUID;
use void_api::search::SearchResponse;
use void_api::spaces::SpacesResponse;
use void_domain::failures::FailureCode;
use void_domain::ids::SpaceId;
use void_domain::knowledge::Title;
use void_domain::limits::SEARCH_RESULTS_MAX;
use void_domain::text;

use super::super::quoted;
use super::super::run::segment;
use crate::cli::{KbKind, KbNamedArgs};
use crate::client::{Client, next_page, read};
use crate::exit::{CommandError, Exit};

/// How many rows of each kind are looked through for a title that no search finds, in pages as long as the server gives.
const LOOKED_THROUGH_MAX: usize = 10_000;
const PAGE_ROWS: u32 = 500;
/// How many of one title are named.
const NAMED_MAX: usize = 8;

const KINDS: [KbKind; 4] = [KbKind::Page, KbKind::Task, KbKind::Project, KbKind::Ref];

/// The first word of its paths.
pub(super) const fn noun(kind: KbKind) -> &'static str {
    match kind {
        KbKind::Page => "pages",
        KbKind::Task => "tasks",
        KbKind::Ref => "refs",
        KbKind::Project => "projects",
        KbKind::Space => "spaces",
    }
}

/// What a search calls it.
pub(super) const fn word(kind: KbKind) -> &'static str {
    match kind {
        KbKind::Page => "page",
        KbKind::Task => "task",
        KbKind::Ref => "ref",
        KbKind::Project => "project",
        KbKind::Space => "space",
    }
}

#[derive(Debug, Clone)]
pub(super) struct Found {
    pub kind: KbKind,
    pub id: String,
    /// The id of the space that it is in, as far as it is known.
    space: Option<String>,
}

impl Found {
    pub(super) fn path(&self) -> String {
        format!("/api/{}/{}", noun(self.kind), segment(&self.id))
    }
}

/// What a row of any list says of this.
#[derive(Debug, Deserialize)]
struct TitledRow {
    id: String,
    title: String,
}

/// Whether what was thrown away is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Among {
    There,
    Deleted,
}

pub(super) async fn find(client: &Client, named: &KbNamedArgs) -> Result<Found, CommandError> {
    find_among(client, named, Among::There).await
}

/// Something that was thrown away. Its id alone does not say what it is, so all kinds are looked through.
pub(super) async fn find_deleted(
    client: &Client,
    named: &KbNamedArgs,
) -> Result<Found, CommandError> {
    find_among(client, named, Among::Deleted).await
}

/// What is there, or else what was thrown away: its history stays.
pub(super) async fn find_even_deleted(
    client: &Client,
    named: &KbNamedArgs,
) -> Result<Found, CommandError> {
    match find(client, named).await {
        Err(missing) if missing.exit == Exit::NotFound => {
            let deleted = find_deleted(client, named).await;
            deleted.map_err(|_| missing)
        }
        found => found,
    }
}

async fn find_among(
    client: &Client,
    named: &KbNamedArgs,
    among: Among,
) -> Result<Found, CommandError> {
    let kinds: Vec<KbKind> = match named.kind {
        Some(kind) => vec![kind],
        None => KINDS.into_iter().chain([KbKind::Space]).collect(),
    };
    if is_id(&named.name) && among == Among::There {
        return of_id(client, &kinds, &named.name).await;
    }
    let mut found = match among {
        Among::There => searched(client, named, &kinds).await?,
        Among::Deleted => Vec::new(),
    };
    // A title without a word, or of what is thrown away, is in no index.
    let walked: &[KbKind] = if found.is_empty() { &kinds } else { &[] };
    let mut others = Vec::new();
    for kind in walked.iter().copied() {
        for list in lists_of(client, kind, named.space.as_deref(), among).await? {
            found.extend(titled(client, (kind, &list), &named.name, &mut others).await?);
        }
    }
    match (found.len(), found.pop()) {
        (1, Some(one)) => Ok(one),
        (_, None) => Err(nothing(&named.name, &others)),
        (_, Some(last)) => {
            found.push(last);
            Err(several(&named.name, &found, &all_spaces(client).await?))
        }
    }
}

/// Which ones have the same title, and what tells them apart.
fn several(name: &str, found: &[Found], spaces: &[(String, String)]) -> CommandError {
    let title_of = |id: &String| spaces.iter().find(|(one, _)| one == id);
    let told = |one: &Found| {
        let space = one.space.as_ref().and_then(title_of);
        let place = space.map(|(_, title)| format!(" in {}", text::value_in_quotes(title)));
        let place = place.unwrap_or_default();
        format!("{} {}{place}", word(one.kind), one.id)
    };
    let all: Vec<String> = found.iter().take(NAMED_MAX).map(told).collect();
    let message = format!(
        "{} things are called \"{}\": {}",
        found.len(),
        text::escaped(name),
        all.join(", ")
    );
    let first = found.first();
    let differ = |of: fn(&Found) -> String| found.iter().any(|one| Some(of(one)) != first.map(of));
    let way = if differ(|one| one.space.clone().unwrap_or_default()) {
        "add --space, or use the id instead of the title"
    } else if differ(|one| word(one.kind).to_owned()) {
        "add --kind, or use the id instead of the title"
    } else {
        "use the id instead of the title"
    };
    CommandError::usage(message).next(way)
}

/// What has this very title, found by its words.
async fn searched(
    client: &Client,
    named: &KbNamedArgs,
    kinds: &[KbKind],
) -> Result<Vec<Found>, CommandError> {
    let phrase = format!("\"{}\"", named.name.replace('"', " "));
    let mut path = format!(
        "/api/search?limit={SEARCH_RESULTS_MAX}&q={}",
        segment(&phrase)
    );
    if let Some(space) = &named.space {
        let space = of_space(client, Some(space)).await?;
        path.push_str(&format!("&space={}", segment(&space)));
    }
    if let [kind] = kinds {
        path.push_str(&format!("&kind={}", word(*kind)));
    }
    let SearchResponse { results, .. } = match client.get_as(&path).await {
        // It has no words, or too many.
        Err(error) if error.exit == Exit::Usage => return Ok(Vec::new()),
        answer => answer?,
    };
    let meant = results.into_iter().filter_map(|hit| {
        let kind = kinds.iter().find(|kind| word(**kind) == hit.kind)?;
        is_title(&hit.title, &named.name).then_some(Found {
            kind: *kind,
            id: hit.id,
            space: hit.space_id,
        })
    });
    Ok(meant.collect())
}

/// `others` are the titles that there are.
fn nothing(name: &str, others: &[String]) -> CommandError {
    let message = format!("there is nothing called \"{}\"", text::escaped(name));
    let folded = name.to_lowercase();
    let titles: Vec<String> = others.iter().map(|title| title.to_lowercase()).collect();
    let nearest = text::nearest(&folded, titles.iter().map(String::as_str));
    let near = nearest.and_then(|near| titles.iter().position(|title| title == near));
    let message = match near.and_then(|at| others.get(at)) {
        Some(near) => format!("{message}; did you mean {}?", text::value_in_quotes(near)),
        None => message,
    };
    let look = format!("void kb search {}", quoted(name));
    CommandError::new(FailureCode::NotFound, message).next(look)
}

pub(super) fn is_id(name: &str) -> bool {
    // Ids of all kinds are written alike.
    debug_assert!(UUID.starts_with('^'));
    name.parse::<SpaceId>().is_ok()
}

async fn of_id(client: &Client, kinds: &[KbKind], id: &str) -> Result<Found, CommandError> {
    for kind in kinds {
        let found = Found {
            kind: *kind,
            id: id.to_owned(),
            space: None,
        };
        match client.get(&found.path()).await {
            Ok(_) => return Ok(found),
            Err(error) if error.exit == Exit::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(nothing(id, &[]))
}

/// A list of one kind; of what is in a space, of which.
struct List {
    path: String,
    space: Option<String>,
}

/// The lists in which something of this kind may be.
async fn lists_of(
    client: &Client,
    kind: KbKind,
    space: Option<&str>,
    among: Among,
) -> Result<Vec<List>, CommandError> {
    let deleted = match among {
        Among::There => "",
        Among::Deleted => "&deleted=true",
    };
    if kind == KbKind::Space {
        return Ok(match space {
            // A space is in no other one.
            Some(_) => Vec::new(),
            None => vec![List {
                path: format!("/api/spaces?limit={PAGE_ROWS}{deleted}"),
                space: None,
            }],
        });
    }
    let spaces = match space {
        Some(space) => vec![of_space(client, Some(space)).await?],
        None => all_spaces(client)
            .await?
            .into_iter()
            .map(|(id, _)| id)
            .collect(),
    };
    let list = |id: String| {
        let noun = noun(kind);
        let path = format!(
            "/api/spaces/{}/{noun}?limit={PAGE_ROWS}{deleted}",
            segment(&id)
        );
        List {
            path,
            space: Some(id),
        }
    };
    Ok(spaces.into_iter().map(list).collect())
}

/// What has this title in a list; `others` gets the titles that are not it.
async fn titled(
    client: &Client,
    (kind, list): (KbKind, &List),
    name: &str,
    others: &mut Vec<String>,
) -> Result<Vec<Found>, CommandError> {
    let path = &list.path;
    let mut found = Vec::new();
    let (mut cursor, mut seen) = (None::<String>, 0);
    loop {
        let from = cursor.map(|cursor| format!("&cursor={}", segment(&cursor)));
        let page = client
            .get(&format!("{path}{}", from.unwrap_or_default()))
            .await?;
        let rows: Vec<TitledRow> = match page.get(noun(kind)) {
            Some(rows) => read(rows.clone())?,
            None => Vec::new(),
        };
        seen += rows.len();
        let is_meant = |row: &TitledRow| row.id == name || is_title(&row.title, name);
        let (meant, rest): (Vec<TitledRow>, Vec<TitledRow>) = rows.into_iter().partition(is_meant);
        found.extend(meant.into_iter().map(|row| Found {
            kind,
            id: row.id,
            space: list.space.clone(),
        }));
        others.extend(rest.into_iter().map(|row| row.title));
        cursor = next_page(&page)?;
        if cursor.is_none() || seen >= LOOKED_THROUGH_MAX || found.len() > NAMED_MAX {
            return Ok(found);
        }
    }
}

/// Titles are alike as for a link: capitals and runs of blanks make no difference.
fn is_title(title: &str, name: &str) -> bool {
    match (Title::parse(title), Title::parse(name)) {
        (Ok(title), Ok(name)) => title.key() == name.key(),
        _ => title == name,
    }
}

/// Ids and titles of all spaces; there are few.
pub(in super::super) async fn all_spaces(
    client: &Client,
) -> Result<Vec<(String, String)>, CommandError> {
    let path = format!("/api/spaces?limit={PAGE_ROWS}");
    let SpacesResponse { spaces, .. } = client.get_as(&path).await?;
    let pair = |space: void_api::spaces::SpaceHeadResponse| (space.entity.id, space.entity.title);
    Ok(spaces.into_iter().map(pair).collect())
}

/// The id of the space that is meant: by title or id, or the only one.
pub(in super::super) async fn of_space(
    client: &Client,
    named: Option<&str>,
) -> Result<String, CommandError> {
    let all = all_spaces(client).await?;
    let meant: Vec<&(String, String)> = match named {
        Some(name) => {
            let is_meant = |(id, title): &&(String, String)| id == name || is_title(title, name);
            all.iter().filter(is_meant).collect()
        }
        None => all.iter().collect(),
    };
    match (meant.as_slice(), named) {
        ([(id, _)], _) => Ok(id.clone()),
        ([], Some(name)) => {
            let message = format!("there is no space called \"{}\"", text::escaped(name));
            Err(CommandError::new(FailureCode::NotFound, message).next("void kb ls spaces"))
        }
        ([], None) => {
            let message = "there is no space";
            let next = "void kb new Home --kind space";
            Err(CommandError::new(FailureCode::NotFound, message).next(next))
        }
        (several, _) => {
            let titles = several
                .iter()
                .take(NAMED_MAX)
                .map(|(_, title)| title.as_str());
            let titles: Vec<&str> = titles.collect();
            let message = format!("say which space: {}", text::escaped(&titles.join(", ")));
            Err(CommandError::usage(message).next("add --space with its title or id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_alike_as_links_take_them() {
        for (title, name, is_alike) in [
            ("Restart Caddy", "restart  caddy", true),
            ("Größe", "GRÖSSE", false),
            ("Größe", "größe", true),
            ("a", "b", false),
            ("a", "", false),
        ] {
            assert_eq!(is_title(title, name), is_alike, "{title} {name}");
        }
        assert!(is_id("019a0000-0000-7000-8000-000000000000"));
        assert!(!is_id("Welcome"));
    }
}
