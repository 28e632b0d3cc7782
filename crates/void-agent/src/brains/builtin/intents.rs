//! What the owner wants, and how it is done step by step with the tools' answers.

use serde_json::{Map, Value, json};

use super::words::{fit, has_any, has_phrase, words};
use super::{Next, Seen};

pub(super) enum Intent {
    /// "what is wrong?": look, and fix what a safe action can fix.
    Check,
    /// "how is everything?": look only.
    Status,
    /// "what can you do?"
    Abilities,
    /// "why is X down?", "is X up?"
    Explain,
    /// "restart caddy", "stop iventoy"
    Do(&'static str),
    /// "did it work?"
    FollowUp,
    /// "approve it", "yes": not hers to do.
    Approve,
    Greet,
    Unclear,
}

const RULES: &str = "I am the built-in rule brain: I know a few kinds of questions and no more.";

impl Intent {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let words = words(seen.said);
        let any = |wanted: &[&str]| has_any(&words, wanted);
        let phrase = |wanted: &[&str]| has_phrase(&words, wanted);
        if any(&["approve", "approved", "confirm"]) || phrase(&["say yes", "nod to", "go ahead"]) {
            return Self::Approve;
        }
        if any(&["why"]) {
            return Self::Explain;
        }
        if phrase(&[
            "did it work",
            "did that work",
            "did it help",
            "is it done",
            "what happened",
            "any news",
        ]) || phrase(&[
            "did it run",
            "has it run",
            "and now",
            "how did it go",
            "did you do it",
            "what became of it",
        ]) {
            return Self::FollowUp;
        }
        for (verb, spoken) in [
            (
                "restart",
                &[
                    "restart", "reload", "bounce", "kick", "revive", "fix", "repair",
                ][..],
            ),
            ("reboot", &["reboot", "power-cycle", "powercycle"]),
            ("stop", &["stop", "shutdown", "halt", "kill", "off", "shut"]),
            ("start", &["start", "boot", "launch", "on", "wake"]),
        ] {
            let asks = !phrase(&["what is on", "going on", "turned on"]) || verb != "start";
            if asks && any(spoken) && !phrase(&["what can", "which actions", "can you do"]) {
                // "fix what is wrong" is a look first.
                if any(&["fix", "repair"])
                    && (any(&["everything", "anything", "it", "wrong", "what's"]))
                {
                    return Self::Check;
                }
                return Self::Do(verb);
            }
        }
        if phrase(&[
            "what can you",
            "what may you",
            "what do you do",
            "who are you",
            "which actions",
            "list actions",
        ]) || any(&["help", "abilities", "actions", "commands"])
        {
            return Self::Abilities;
        }
        if any(&[
            "wrong", "broken", "problem", "problems", "trouble", "issue", "issues", "failing",
            "red", "alarm",
        ]) || phrase(&[
            "is anything down",
            "what is down",
            "what's down",
            "anything down",
            "look after",
        ]) {
            return Self::Check;
        }
        if any(&["down", "up", "alive", "reachable", "working", "running"]) {
            return Self::Explain;
        }
        if any(&[
            "status",
            "state",
            "health",
            "healthy",
            "overview",
            "services",
            "everything",
            "lab",
        ]) || phrase(&[
            "how is",
            "how are",
            "how's",
            "all good",
            "all well",
            "what's up",
            "check",
        ]) {
            return Self::Status;
        }
        if any(&[
            "hello", "hi", "hey", "moin", "morning", "evening", "thanks", "thank",
        ]) {
            return Self::Greet;
        }
        Self::Unclear
    }

    pub(super) fn next(self, seen: &Seen<'_>) -> Next {
        match self {
            Self::Check => check(seen),
            Self::Status => status(seen),
            Self::Abilities => abilities(seen),
            Self::Explain => explain(seen),
            Self::Do(verb) => act(seen, verb),
            Self::FollowUp => follow_up(seen),
            Self::Approve => Next::Say(
                "Only you approve, and not through me: `void inbox ls` shows what waits, \
                 `void inbox approve CODE` says yes."
                    .to_owned(),
            ),
            Self::Greet => Next::Say(format!(
                "Hello! {RULES} Ask me *what is wrong?*, or tell me *restart caddy*."
            )),
            Self::Unclear => Next::Say(format!(
                "I did not understand that. {RULES} Try: *what is wrong?*, *why is caddy down?*, \
                 *restart caddy*, *stop iventoy*, *did it work?*, *what can you do?*"
            )),
        }
    }
}

fn use_tool(tool: &'static str, arguments: Value) -> Next {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Next::Use { tool, arguments }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or("")
}

fn list<'a>(result: &'a Value, name: &str) -> &'a [Value] {
    result
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// What a tool could not tell, in words.
fn trouble(result: &Value) -> Option<Next> {
    let error = result.get("error")?;
    let message = text(error, "message");
    Some(Next::Say(format!("I could not look: {message}")))
}

fn why(service: &Value) -> String {
    let reason = text(service, "reason").replace('_', " ");
    match (text(service, "status"), reason.as_str()) {
        ("up", _) => "is up".to_owned(),
        (status, "") => format!("is {status}"),
        (status, reason) => format!("is {status} ({reason})"),
    }
}

fn name(service: &Value) -> &str {
    match text(service, "label") {
        "" => text(service, "id"),
        label => label,
    }
}

fn status(seen: &Seen<'_>) -> Next {
    let Some(found) = seen.result("service_status") else {
        return use_tool("service_status", json!({}));
    };
    if let Some(next) = trouble(found) {
        return next;
    }
    let services = list(found, "services");
    if services.is_empty() {
        return Next::Say(
            "No service is watched here, so I cannot say how anything is.".to_owned(),
        );
    }
    let lines: Vec<String> = services
        .iter()
        .map(|service| format!("- {} {}", name(service), why(service)))
        .collect();
    Next::Say(lines.join("\n"))
}

/// Looks; the first thing that is down and has a safe action is tried, once.
fn check(seen: &Seen<'_>) -> Next {
    let Some(found) = seen.result("service_status") else {
        return use_tool("service_status", json!({}));
    };
    if let Some(next) = trouble(found) {
        return next;
    }
    let services = list(found, "services");
    let bad: Vec<&Value> = services
        .iter()
        .filter(|service| text(service, "status") != "up")
        .collect();
    if services.is_empty() {
        return Next::Say("No service is watched here, so I cannot see anything wrong.".to_owned());
    }
    if bad.is_empty() {
        return Next::Say(format!("All {} watched services are up.", services.len()));
    }
    let Some(actions) = seen.result("list_actions") else {
        return use_tool("list_actions", json!({}));
    };
    let seen_lines: Vec<String> = bad
        .iter()
        .map(|service| format!("- {} {}", name(service), why(service)))
        .collect();
    let seen_lines = seen_lines.join("\n");
    if let Some(result) = seen.result("propose_action") {
        return Next::Say(format!(
            "{seen_lines}\n\nI tried the safe action for it. {}",
            came_of_it(result)
        ));
    }
    let helping = bad.iter().find_map(|service| {
        let actions = list(actions, "actions").iter();
        let mut confirmed =
            actions.filter(|action| text(action, "confirmed_by") == text(service, "id"));
        let down = text(service, "status") == "down";
        Some((
            *service,
            confirmed.find(|action| text(action, "tier") == "safe")?,
        ))
        .filter(|_| down)
    });
    match helping {
        Some((service, action)) if seen.can_propose => {
            let reason = format!(
                "{} {}; this is the safe action for it.",
                name(service),
                why(service)
            );
            use_tool(
                "propose_action",
                json!({"action_id": text(action, "id"), "reason": reason}),
            )
        }
        Some((_, action)) => Next::Say(format!(
            "{seen_lines}\n\n{} may help; I may only look, so it is yours to run.",
            text(action, "label")
        )),
        None => Next::Say(format!(
            "{seen_lines}\n\nI know no safe action for it. *What can you do?* lists what there is."
        )),
    }
}

fn came_of_it(result: &Value) -> String {
    if let Some(error) = result.get("error") {
        return format!("I could not do it: {}", text(error, "message"));
    }
    let code = text(result, "code");
    let reason = text(result, "reason").replace('_', " ");
    match (text(result, "outcome"), text(result, "verification")) {
        ("executed", "verified") => "It ran, and the check confirmed it.".to_owned(),
        ("executed", "failed") => "It ran, but the check says that it did not help.".to_owned(),
        ("executed", _) => "It ran, but nobody has confirmed that it helped.".to_owned(),
        ("queued", _) => format!(
            "It waits for your yes: **{code}**. Nothing has run. `void inbox approve {code}` says yes."
        ),
        ("running", _) => {
            format!("It is still running ({code}). Ask me *did it work?* in a moment.")
        }
        ("unknown", _) => format!("Whether it ran is not known ({code}); I will not repeat it."),
        (_, _) if reason.is_empty() => format!("It did not run: {}", text(result, "meaning")),
        (_, _) => format!("It did not run ({reason}). {}", text(result, "meaning")),
    }
}

fn abilities(seen: &Seen<'_>) -> Next {
    let Some(found) = seen.result("list_actions") else {
        return use_tool("list_actions", json!({}));
    };
    if let Some(next) = trouble(found) {
        return next;
    }
    let part = |tier: &str| {
        let actions = list(found, "actions").iter();
        let lines: Vec<String> = actions
            .filter(|action| text(action, "tier") == tier)
            .map(|action| format!("- {} (`{}`)", text(action, "label"), text(action, "id")))
            .collect();
        lines.join("\n")
    };
    let (safe, risky) = (part("safe"), part("risky"));
    let mut said = format!("{RULES} I can look at services");
    if safe.is_empty() && risky.is_empty() {
        return Next::Say(format!(
            "{said}. The catalogue is empty, so there is nothing I could do."
        ));
    }
    said.push_str(if seen.can_propose {
        ", and I can name these actions."
    } else {
        ". I may not act; these exist for others."
    });
    if !safe.is_empty() {
        said.push_str(&format!("\n\nAt once:\n{safe}"));
    }
    if !risky.is_empty() {
        said.push_str(&format!("\n\nOnly with your yes:\n{risky}"));
    }
    Next::Say(said)
}

/// The service that was meant.
fn meant<'a>(seen: &Seen<'_>, services: &'a [Value]) -> Option<&'a Value> {
    let words = words(seen.said);
    let scored = services.iter().map(|service| {
        let names = format!("{} {}", text(service, "id"), text(service, "label")).to_lowercase();
        (fit(&words, &names), service)
    });
    scored
        .filter(|(score, _)| *score > 0)
        .max_by_key(|(score, _)| *score)
        .map(|(_, service)| service)
}

fn explain(seen: &Seen<'_>) -> Next {
    let Some(found) = seen.result("service_status") else {
        return use_tool("service_status", json!({}));
    };
    if let Some(next) = trouble(found) {
        return next;
    }
    let services = list(found, "services");
    let Some(service) = meant(seen, services) else {
        let known: Vec<&str> = services.iter().map(|service| text(service, "id")).collect();
        return Next::Say(format!(
            "I do not know which service you mean. I watch: {}.",
            known.join(", ")
        ));
    };
    let mut said = format!("{} {}", name(service), why(service));
    if !text(service, "since").is_empty() {
        said.push_str(&format!(", since {}", text(service, "since")));
    }
    said.push('.');
    if text(service, "status") != "up" {
        said.push_str(match text(service, "reason") {
            "refused" => " Nothing listens on its port: most likely its process is not running.",
            "timed_out" | "unreachable" => {
                " Its machine does not answer: it may be off or cut off."
            }
            "wrong_status" => " It answers, but not with the status that means up.",
            "stopped" => " Its guest is not running.",
            _ => " More than that a check cannot see.",
        });
        let actions = list(service, "actions");
        if let Some(action) = actions.first().and_then(Value::as_str) {
            said.push_str(&format!(" `{action}` may help; tell me to, and I will."));
        }
    }
    Next::Say(said)
}

/// The action that was meant, among those with that verb.
fn act(seen: &Seen<'_>, verb: &'static str) -> Next {
    if let Some(result) = seen.result("propose_action") {
        return Next::Say(came_of_it(result));
    }
    let Some(found) = seen.result("list_actions") else {
        return use_tool("list_actions", json!({}));
    };
    if let Some(next) = trouble(found) {
        return next;
    }
    let words = words(seen.said);
    let verbs: &[&str] = match verb {
        "stop" => &["stop", "shutdown"],
        // Whoever says restart of a guest means a reboot.
        "restart" => &["restart", "reboot"],
        "reboot" => &["reboot", "restart"],
        _ => &["start"],
    };
    let mut best: Vec<(usize, usize, &Value)> = Vec::new();
    for action in list(found, "actions") {
        let id = text(action, "id");
        let Some(rank) = verbs.iter().position(|verb| id.starts_with(verb)) else {
            continue;
        };
        let names =
            format!("{id} {} {}", text(action, "label"), text(action, "target")).to_lowercase();
        let score = fit(&words, &names);
        if score > 0 {
            best.push((score, verbs.len() - rank, action));
        }
    }
    best.sort_by_key(|(score, rank, _)| std::cmp::Reverse((*score, *rank)));
    match best.as_slice() {
        [] => {
            let close: Vec<&str> = list(found, "actions")
                .iter()
                .map(|action| text(action, "id"))
                .filter(|id| verbs.iter().any(|verb| id.starts_with(verb)))
                .collect();
            let known = if close.is_empty() {
                "There is none of that kind.".to_owned()
            } else {
                format!("Of that kind there are: {}.", close.join(", "))
            };
            Next::Say(format!("I know no action for that. {known}"))
        }
        [(first, rank, _), (second, other, _), ..] if first == second && rank == other => {
            let ids: Vec<&str> = best
                .iter()
                .filter(|(score, _, _)| score == first)
                .map(|(_, _, action)| text(action, "id"))
                .collect();
            Next::Say(format!("Which one do you mean: {}?", ids.join(", ")))
        }
        [(_, _, action), ..] if seen.can_propose => {
            let reason = format!("The owner asked for it in chat: \"{}\"", seen.said.trim());
            let reason: String = reason.chars().take(500).collect();
            use_tool(
                "propose_action",
                json!({"action_id": text(action, "id"), "reason": reason}),
            )
        }
        [(_, _, action), ..] => Next::Say(format!(
            "That would be `{}`. I may only look; it is yours to run.",
            text(action, "id")
        )),
    }
}

/// The last code that was mentioned, asked about.
fn follow_up(seen: &Seen<'_>) -> Next {
    if let Some(found) = seen.result("proposal_status") {
        if let Some(next) = trouble(found) {
            return next;
        }
        return Next::Say(format!("{}: {}", text(found, "label"), came_of_it(found)));
    }
    let code = seen.earlier.iter().rev().find_map(|said| {
        let (_, after) = said.split_once("**")?;
        let (code, _) = after.split_once("**")?;
        (code.len() >= 4 && code.chars().all(|c| c.is_ascii_alphanumeric())).then_some(code)
    });
    if let Some(code) = code {
        return use_tool("proposal_status", json!({"proposal": code}));
    }
    // Nothing waits from before: how it is now is the answer.
    status(seen)
}
