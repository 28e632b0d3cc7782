//! What the owner keeps, by rules: a task or a note is drafted, something is looked for, read out, and open tasks are listed. A draft
//! waits for the owner, so a sentence that is taken for one too many costs a no; still only what begins as such an order is one, and
//! a question, a negation or somebody else's lines never are.

mod asides;
mod heads;

use serde_json::{Value, json};
use void_domain::text as texts;

use self::heads::{NoteRequest, request_in};
use super::acts::reason;
use super::requests::QUEUED;
use super::results::{list, text, trouble};
use super::{Knowledge, Next};

/// Longer than this a title is only its beginning, and the text has the rest.
const TITLE_CHARS: usize = 80;
const QUERY_CHARS_MAX: usize = 200;
const HITS_SHOWN_MAX: usize = 8;
const READ_BYTES_MAX: usize = 2 * 1024;

/// `None`: it is about something else.
pub(super) fn next(turn: &Knowledge<'_>) -> Option<Next> {
    let Some(request) = request_in(turn.said) else {
        // To whoever keeps nothing the same words are about the lab.
        return turn
            .has_tool("propose_change")
            .then(|| asides::next(turn))?;
    };
    // Before this was hers to do, it was not: what she has no tool for is the rules' to answer.
    let tool = match request {
        NoteRequest::Task(_) | NoteRequest::Note(_) => "propose_change",
        NoteRequest::Search(_) | NoteRequest::ReadOut(_) => "search",
        NoteRequest::ReadThis | NoteRequest::OpenTasks => "context",
    };
    if !turn.has_tool(tool) {
        let said = "I keep no notes and look for none. The companion does: `void chat companion`. Nothing was written.";
        return Some(Next::say(said));
    }
    Some(match request {
        NoteRequest::Task("") => {
            Next::say("What shall the task say? *make a task: renew the certificate* drafts it.")
        }
        NoteRequest::Note("") => Next::say(
            "What shall the note say? *note that the spare key is in the drawer* drafts it.",
        ),
        NoteRequest::Task(words) => drafted(turn, "task", words),
        NoteRequest::Note(words) => drafted(turn, "page", words),
        NoteRequest::Search(words) => found(turn, words),
        NoteRequest::ReadOut(name) => read_out(turn, name),
        NoteRequest::ReadThis => read_this(turn),
        NoteRequest::OpenTasks => open_tasks(turn),
    })
}

/// Title and text of what was said: a task is its title, a note is its text under the beginning of it.
fn fields(kind: &str, words: &str) -> Value {
    let line = words.lines().next().unwrap_or_default().trim();
    let line = line.trim_end_matches(['.', ',', ';', '!']);
    let mut title: String = line.chars().take(TITLE_CHARS).collect();
    let is_cut = title.len() < line.len();
    if is_cut {
        let end = title.rfind(' ').unwrap_or(title.len());
        title.truncate(end);
        title.push('…');
    }
    // The name of a machine or a program is written as it is written.
    let first = title.split(' ').next().unwrap_or_default();
    let is_word = first
        .chars()
        .all(|letter| letter.is_alphabetic() || letter == ',');
    let mut letters = title.chars();
    let title: String = match letters.next() {
        Some(first) if is_word => first.to_uppercase().chain(letters).collect(),
        _ => title,
    };
    let is_whole = kind == "task" && !is_cut && words.lines().count() == 1;
    match is_whole {
        true => json!({"title": title}),
        false => json!({"title": title, "body": format!("{}\n", words.trim())}),
    }
}

/// Drafts it where the conversation belongs, or in the one space that there is.
fn drafted(turn: &Knowledge<'_>, kind: &str, words: &str) -> Next {
    if turn.is_second_attempt {
        return Next::say(
            "My first attempt at this was cut off, and Void's line says what it drafted. I do not repeat it by myself. If it is \
             still wanted, say so again.",
        );
    }
    let arguments = |space: Option<&str>| {
        let mut arguments = json!({"entity": kind, "op": "create", "fields": fields(kind, words), "reason": reason(turn)});
        if let (Some(space), Value::Object(members)) = (space, &mut arguments) {
            members.insert("space_id".to_owned(), json!(space));
        }
        arguments
    };
    let tried = turn.results("propose_change").count();
    let Some(result) = turn.result("propose_change") else {
        return Next::look("propose_change", arguments(None));
    };
    if let Some(error) = result.get("error") {
        // Without a space of its own a conversation has to be told one.
        if tried > 1 || text(error, "code") != "invalid" {
            return Next::say(format!(
                "I could not draft that: {}. Nothing was written.",
                text(error, "message")
            ));
        }
        return match only_space(turn) {
            Space::Known(id) => Next::look("propose_change", arguments(Some(&id))),
            Space::Unknown(next) => next,
        };
    }
    let (code, summary) = (text(result, "code"), text(result, "summary"));
    if text(result, "pending_change_id").is_empty() {
        let meaning = text(result, "meaning");
        return Next::say(format!(
            "It was not drafted: {meaning}. Nothing was written."
        ));
    }
    Next::say(format!(
        "I drafted it: {}. {QUEUED}{code}**. Nothing is written before that: `void inbox show {code}` shows it, *cancel that* \
         withdraws it.",
        one_line(summary)
    ))
}

enum Space {
    Known(String),
    /// What to do or to say instead.
    Unknown(Next),
}

/// The space of the conversation, or the one that there is.
fn only_space(turn: &Knowledge<'_>) -> Space {
    let Some(context) = turn.result("context") else {
        return Space::Unknown(Next::look("context", json!({})));
    };
    if let Some(said) = trouble(context) {
        return Space::Unknown(Next::say(said));
    }
    if let Some(own) = context.get("space") {
        return Space::Known(text(own, "id").to_owned());
    }
    match list(context, "spaces") {
        [one] => Space::Known(text(one, "id").to_owned()),
        [] => Space::Unknown(Next::say(
            "There is no space yet: `void kb new NAME --kind space` makes one.",
        )),
        several => {
            let names: Vec<String> = several.iter().filter_map(own_title).collect();
            Space::Unknown(Next::say(format!(
                "This chat belongs to no space, and there are several: {}. `void chat companion --space NAME` belongs to one.",
                names.join(", ")
            )))
        }
    }
}

/// What the owner answers for; a name that a stranger could have written is not said as hers.
fn own_title(entity: &Value) -> Option<String> {
    let title = entity.pointer("/content/title").and_then(Value::as_str)?;
    Some(format!("**{}**", one_line(title)))
}

fn found(turn: &Knowledge<'_>, words: &str) -> Next {
    let Some(result) = turn.result("search") else {
        return search(words);
    };
    if let Some(said) = trouble(result) {
        return Next::say(said);
    }
    let hits = list(result, "hits");
    match hits {
        [] => Next::say(format!("I found nothing for *{}*.", one_line(words))),
        hits => {
            let lines: Vec<String> = hits.iter().take(HITS_SHOWN_MAX).map(hit).collect();
            let has_more =
                hits.len() > HITS_SHOWN_MAX || result.get("more") == Some(&Value::Bool(true));
            let more = if has_more {
                "\n\nThere is more: `void kb search` shows it."
            } else {
                ""
            };
            Next::say(format!(
                "For *{}* I found:\n\n{}{more}\n\n*read out* with a title reads one.",
                one_line(words),
                lines.join("\n")
            ))
        }
    }
}

fn search(words: &str) -> Next {
    let query: String = words.chars().take(QUERY_CHARS_MAX).collect();
    Next::look("search", json!({"query": query}))
}

/// One line of a list: what it is and what it is called, and whose words that is.
fn hit(hit: &Value) -> String {
    let (kind, id) = (text(hit, "kind"), text(hit, "id"));
    let state = match text(hit, "state") {
        "" => String::new(),
        state => format!(", {state}"),
    };
    match (label(hit), text(hit, "untrusted_label")) {
        ("", "") => format!("- a {kind} that a stranger could have written (`{id}`){state}"),
        ("", theirs) => {
            let called = texts::value_in_quotes(theirs);
            format!("- a {kind} that a stranger could have written, called {called}{state}")
        }
        (own, _) => {
            let place = match one_line(text(hit, "snippet")) {
                place if place.is_empty() => String::new(),
                place => format!(": {place}"),
            };
            format!("- {kind} **{}**{state}{place}", one_line(own))
        }
    }
}

fn label(hit: &Value) -> &str {
    text(hit, "label")
}

/// What can be read out, by the name that was said; several are listed.
fn read_out(turn: &Knowledge<'_>, name: &str) -> Next {
    if let Some(read) = turn.result("read") {
        return told(read, name);
    }
    let Some(result) = turn.result("search") else {
        return search(name);
    };
    if let Some(said) = trouble(result) {
        return Next::say(said);
    }
    let hits: Vec<&Value> = list(result, "hits").iter().filter(is_readable).collect();
    match (
        exact(list(result, "hits"), name).as_slice(),
        hits.as_slice(),
    ) {
        ([one], _) | ([], [one]) => Next::look(
            "read",
            json!({"kind": text(one, "kind"), "id": text(one, "id")}),
        ),
        (_, []) => Next::say(format!(
            "There is nothing called *{}* here.",
            one_line(name)
        )),
        (_, several) => {
            let lines: Vec<String> = several
                .iter()
                .take(HITS_SHOWN_MAX)
                .map(|one| hit(one))
                .collect();
            Next::say(format!(
                "That may be several things. Say its whole title:\n\n{}",
                lines.join("\n")
            ))
        }
    }
}

fn is_readable(hit: &&Value) -> bool {
    ["page", "task", "ref", "project"].contains(&text(hit, "kind"))
}

/// What can be read out and is called so.
fn exact<'a>(hits: &'a [Value], name: &str) -> Vec<&'a Value> {
    let wanted = name.to_lowercase();
    let called = |hit: &&Value| {
        let titles = [label(hit), text(hit, "untrusted_label")];
        titles.iter().any(|title| title.to_lowercase() == wanted)
    };
    hits.iter().filter(is_readable).filter(called).collect()
}

/// *this*: what the owner looks at.
fn read_this(turn: &Knowledge<'_>) -> Next {
    if let Some(read) = turn.result("read") {
        return told(read, "");
    }
    let Some(context) = turn.result("context") else {
        return Next::look("context", json!({}));
    };
    if let Some(said) = trouble(context) {
        return Next::say(said);
    }
    let view = context.get("view");
    let (kind, id) = view.map_or(("", ""), |view| (text(view, "kind"), text(view, "id")));
    let is_here = view.is_some_and(|view| view.get("not_here").is_none());
    match is_here && ["page", "task", "ref", "project", "space"].contains(&kind) {
        true => Next::look("read", json!({"kind": kind, "id": id})),
        false => Next::say("I do not see what you mean by this. *read out* with a title reads it."),
    }
}

/// Reads it out; where something else was named, that is said. Empty: nothing was.
fn told(result: &Value, named: &str) -> Next {
    if let Some(said) = trouble(result) {
        return Next::say(said);
    }
    let entity = result.get("entity").unwrap_or(&Value::Null);
    let (own, theirs) = (entity.get("content"), entity.get("untrusted_content"));
    let Some(content) = own.or(theirs) else {
        return Next::say(
            "A stranger could have written that, so it is not handed out here: `void kb show` shows it.",
        );
    };
    let body = text(content, "text");
    let shown = texts::cut(body, READ_BYTES_MAX);
    let mut lines: Vec<String> = shown
        .lines()
        .map(|line| format!("> {}", texts::escaped(line)))
        .collect();
    if shown.len() < body.len() || content.get("next_offset").is_some() {
        lines.push("> …".to_owned());
    }
    if lines.is_empty() {
        lines.push("> (no text)".to_owned());
    }
    let title = one_line(text(content, "title"));
    let is_it = named.is_empty() || title.to_lowercase() == one_line(named).to_lowercase();
    let other = match is_it {
        true => String::new(),
        false => format!(
            "Nothing is called *{}*; this has its words. ",
            one_line(named)
        ),
    };
    let head = match own.is_some() {
        true => format!("**{title}**"),
        false => format!("A stranger could have written this, \"{title}\":"),
    };
    Next::say(format!("{other}{head}\n\n{}", lines.join("\n")))
}

fn open_tasks(turn: &Knowledge<'_>) -> Next {
    let Some(read) = turn.result("read") else {
        return match only_space(turn) {
            Space::Known(id) => Next::look("read", json!({"kind": "space", "id": id})),
            Space::Unknown(next) => next,
        };
    };
    if let Some(said) = trouble(read) {
        return Next::say(said);
    }
    let tasks = list(read, "open_tasks");
    if tasks.is_empty() {
        return Next::say("No task is open here.");
    }
    let lines: Vec<String> = tasks.iter().map(task).collect();
    let more = match read.get("more_open_tasks") {
        Some(Value::Bool(true)) => "\n\nThere are more: `void kb ls tasks --due` lists them.",
        _ => "",
    };
    Next::say(format!("Open tasks:\n\n{}{more}", lines.join("\n")))
}

fn task(task: &Value) -> String {
    let due = match text(task, "due") {
        "" => String::new(),
        due => format!(", due {due}"),
    };
    match own_title(task) {
        Some(title) => format!("- {title}{due}"),
        None => {
            let theirs = task
                .pointer("/untrusted_content/title")
                .and_then(Value::as_str);
            let called = theirs.map_or_else(String::new, |title| {
                format!(", called {}", texts::value_in_quotes(title))
            });
            format!("- a task that a stranger could have written{called}{due}")
        }
    }
}

fn one_line(words: &str) -> String {
    texts::escaped(words.trim())
}
