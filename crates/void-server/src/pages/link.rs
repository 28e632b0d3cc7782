//! One proposal alone: the page that a phone opens from a message. It is whole without a script, and
//! deciding is a plain form; a small script keeps it true afterwards.

mod changes;
mod decisions;
mod holds;
mod runbooks;
mod states;

use std::fmt::Write as _;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use void_api::actions::PendingDecideRequest;
use void_api::cards::CardResponse;
use void_api::services::ServiceResponse;
use void_control::callers::{self, Credential};
use void_control::freezes;
use void_control::proposals::{Decision, ProposalKey};
use void_domain::actors::Actor;
use void_domain::freezes::Freeze;
use void_domain::proposals::DisplayState;
use void_domain::text;
use void_domain::time::Timestamp;
use void_notify::Notifications;

use self::changes::change_html;
use self::decisions::decision_html;
use self::holds::hold_html;
use self::runbooks::{RUNBOOKS, runbooks_html};
use self::states::state_words;
use crate::access::Admitted;
use crate::app::App;
use crate::assets::{VERSION, guard_page};
use crate::errors::ApiError;
use crate::requests::collect;
use crate::routes;

/// The words of this page, from the page's own catalogue (`ui/strings.js`, the keys `link.…`): a key that
/// is missing there does not compile.
mod words {
    include!(concat!(env!("OUT_DIR"), "/link_words.rs"));
}

const FORM_BYTES_MAX: usize = 4 * 1024;

/// Without a script the page of what runs looks again by itself, so often and so many times; then there
/// is the link.
const LOOK_S: u32 = 3;
const LOOKS_MAX: u32 = 100;

pub(super) async fn show(
    State(app): State<App>,
    admitted: Option<Extension<Admitted>>,
    Path(code): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let Some(Extension(admitted)) = admitted else {
        return Ok(signed_out(&app, &code));
    };
    Ok(match find(&app, &admitted, &code).await? {
        Some(card) => {
            let reader = LinkViewer::of(&app, &admitted);
            let frozen = frozen(&app, &admitted).await?;
            let html = card_html(&card, &reader, frozen.as_deref(), None);
            let more = refresh(&card, looks_in(query.as_deref()));
            page(&app, StatusCode::OK, &card.row.label, &more, &html)
        }
        None => unknown(&app),
    })
}

fn signed_out(app: &App, code: &str) -> Response {
    let status = StatusCode::UNAUTHORIZED;
    page(app, status, words::SIGN_IN, "", &sign_in(code))
}

fn unknown(app: &App) -> Response {
    let status = StatusCode::NOT_FOUND;
    page(app, status, words::NOT_FOUND, "", &not_found())
}

/// How often a page without a script has looked again by itself; whatever else a query says means nothing.
fn looks_in(query: Option<&str>) -> u32 {
    (query.unwrap_or("").split('&'))
        .find_map(|pair| pair.strip_prefix("look="))
        .map_or(0, |text| text.parse().unwrap_or(LOOKS_MAX))
}

/// Whether it is under way, or ran and is being checked.
fn is_under_way(card: &CardResponse) -> bool {
    match card.row.status.as_ref() {
        "approved" | "running" => true,
        "executed" => card.row.verification.is_none(),
        _ => false,
    }
}

/// Looks again at this address, which only shows; a form that was sent is not sent again. Where a script
/// runs, the script does it.
fn refresh(card: &CardResponse, looks: u32) -> String {
    if !is_under_way(card) || looks >= LOOKS_MAX {
        return String::new();
    }
    format!(
        "<noscript><meta http-equiv=\"refresh\" content=\"{LOOK_S}; url=/inbox/{}?look={}\"></noscript>\n",
        escaped(&card.row.id),
        looks.saturating_add(1),
    )
}

async fn find(
    app: &App,
    admitted: &Admitted,
    code: &str,
) -> Result<Option<CardResponse>, ApiError> {
    match ProposalKey::parse(code) {
        Some(key) => routes::card(app.control(), &admitted.ctx, key).await,
        None => Ok(None),
    }
}

/// Why a yes starts nothing now.
async fn frozen(app: &App, admitted: &Admitted) -> Result<Option<String>, ApiError> {
    let now = app.control().clock().now();
    Ok(match freezes::current(app.control()).await? {
        freeze if !freeze.holds_at(now) => None,
        Freeze::Frozen(frozen) => {
            let moment = |at| app.notifications().moment(at);
            let who = text::escaped(&frozen.told_to(&admitted.ctx.actor, moment));
            Some(filled(words::FROZEN, "who", &who))
        }
        Freeze::Thawed => None,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    decision: String,
    digest: String,
    #[serde(default)]
    revision: Option<u64>,
    #[serde(default)]
    reason: String,
}

/// A form is sent by a browser with its cookie, so it has to show by its origin that the page it was on
/// is ours; a browser always says, and whoever does not say is refused.
pub(super) async fn decide(
    State(app): State<App>,
    admitted: Option<Extension<Admitted>>,
    Path(code): Path<String>,
    headers: HeaderMap,
    body: axum::body::Body,
) -> Result<Response, ApiError> {
    let Some(Extension(admitted)) = admitted else {
        return Ok(signed_out(&app, &code));
    };
    if !is_owner_by_session(&admitted) {
        callers::record_refusal(app.control(), &admitted.ctx, "decideByForm").await?;
        return Err(ApiError::owner_only());
    }
    if !headers.contains_key(header::ORIGIN) {
        return Err(ApiError::foreign_origin());
    }
    let bytes = collect(body, FORM_BYTES_MAX).await?;
    let form: Form = serde_urlencoded::from_bytes(&bytes)
        .map_err(|_| ApiError::invalid_field("form", "is not as expected"))?;
    let decision = match form.decision.as_str() {
        "approve" => Decision::Approve,
        "reject" => Decision::Reject,
        _ => {
            return Err(ApiError::invalid_field(
                "decision",
                "must be approve or reject",
            ));
        }
    };
    let Some(card) = find(&app, &admitted, &code).await? else {
        return Ok(unknown(&app));
    };
    let request = PendingDecideRequest {
        digest: Some(form.digest),
        revision: form.revision,
        reason: Some(form.reason).filter(|reason| !reason.is_empty()),
    };
    let (control, ctx, id) = (app.control(), &admitted.ctx, &card.row.id);
    match routes::decide(control, ctx, id, decision, request, Duration::ZERO).await {
        // Loading the page again must not send the form again.
        Ok(_) => Ok(Redirect::to(&format!("/inbox/{}", card.row.id)).into_response()),
        Err(error) => {
            let card = find(&app, &admitted, id).await?.unwrap_or(card);
            let reader = LinkViewer::of(&app, &admitted);
            // Who decided before is called as everywhere on this page.
            let problem = match card.row.status.as_ref() {
                "pending" => error.sentence(&app.shared().first_steps.called),
                _ => filled(
                    words::ALREADY,
                    "state",
                    &state_words(&card, reader.is_owner),
                ),
            };
            let frozen = frozen(&app, &admitted).await?;
            let html = card_html(&card, &reader, frozen.as_deref(), Some(&problem));
            let (status, label) = (error.status(), &card.row.label);
            Ok(page(&app, status, label, &refresh(&card, 0), &html))
        }
    }
}

/// Who reads the page, and by which clock.
struct LinkViewer<'a> {
    notifications: &'a Notifications,
    is_owner: bool,
    may_decide: bool,
}

impl<'a> LinkViewer<'a> {
    fn of(app: &'a App, admitted: &Admitted) -> Self {
        Self {
            notifications: app.notifications(),
            is_owner: admitted.ctx.actor.is_owner(),
            may_decide: is_owner_by_session(admitted),
        }
    }

    /// The server's own clock; a script writes it by the reader's.
    fn time_html(&self, at: &str) -> String {
        let moment = Timestamp::parse_rfc3339(at)
            .map_or_else(|| at.to_owned(), |parsed| self.notifications.moment(parsed));
        format!("<time datetime=\"{at}\">{}</time>", escaped(&moment))
    }
}

fn is_owner_by_session(admitted: &Admitted) -> bool {
    matches!(admitted.caller.credential, Credential::Session { .. })
        && matches!(admitted.ctx.actor, Actor::Owner { .. })
}

fn page(app: &App, status: StatusCode, title: &str, more: &str, main: &str) -> Response {
    let title = escaped(title);
    let mark = match app.control().is_rehearsal() {
        true => format!("<p class=\"rehearsal\">{}</p>\n", words::REHEARSAL),
        false => String::new(),
    };
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1, viewport-fit=cover\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Void</title>\n\
         <link rel=\"icon\" href=\"/ui/{VERSION}/icon.svg\" type=\"image/svg+xml\">\n\
         <script src=\"/ui/{VERSION}/theme.js\"></script>\n\
         <link rel=\"stylesheet\" href=\"/ui/{VERSION}/link.css\">\n\
         <script type=\"module\" src=\"/ui/{VERSION}/link.js\"></script>\n{more}</head>\n\
         <body class=\"alone\">\n<main>\n{mark}{main}</main>\n</body>\n</html>\n"
    );
    let mut response = (status, html).into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    guard_page(&mut response);
    response
}

/// Whoever comes from another site comes without the cookie, which is kept from such visits; a step
/// from this page brings it along.
fn sign_in(code: &str) -> String {
    let code = escaped(code);
    format!(
        "<section class=\"card\" data-state=\"signed-out\">\n<h1>{}</h1>\n<p>{}</p>\n\
         <p class=\"actions\"><a class=\"button primary\" href=\"/#/inbox/{code}\">{}</a>\n\
         <a class=\"button\" href=\"/inbox/{code}\">{}</a></p>\n</section>\n",
        words::SIGN_IN,
        words::SIGN_IN_WHY,
        words::SIGN_IN,
        words::CONTINUE,
    )
}

fn not_found() -> String {
    format!(
        "<section class=\"card\">\n<h1>{}</h1>\n<p>{}</p>\n\
         <p class=\"actions\"><a class=\"button\" href=\"/#/inbox\">{}</a></p>\n</section>\n",
        words::NO_REQUEST,
        words::NO_REQUEST_WHY,
        words::OPEN_INBOX,
    )
}

fn card_html(
    card: &CardResponse,
    reader: &LinkViewer<'_>,
    frozen: Option<&str>,
    problem: Option<&str>,
) -> String {
    let row = &card.row;
    let mut html = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<article class=\"card proposal\" data-id=\"{}\" data-status=\"{}\" data-shown=\"{}\" data-revision=\"{}\">\n\
         <p class=\"tier {}\">{}</p>\n<h1>{}</h1>\n<p class=\"state\" role=\"status\">{}</p>\n",
        escaped(&row.id),
        row.status,
        row.display_state,
        row.revision,
        row.tier,
        card.tier_words,
        escaped(&row.label),
        escaped(&state_words(card, reader.is_owner)),
    );
    if is_under_way(card) {
        let _ = writeln!(
            html,
            "<p><a href=\"/inbox/{}\">{}</a></p>",
            escaped(&row.id),
            words::LOOK_AGAIN
        );
    }
    if let Some(problem) = problem {
        let _ = writeln!(
            html,
            "<p class=\"notice problem\" role=\"alert\">{}</p>",
            escaped(problem)
        );
    }
    if let (Some(frozen), "pending") = (frozen, row.status.as_ref()) {
        let frozen = escaped(frozen);
        let _ = writeln!(
            html,
            "<p class=\"notice frozen-note\">{frozen} <a href=\"/#/\">{}</a></p>",
            words::THAW
        );
    }
    html.push_str("<dl class=\"facts\">\n");
    for (name, value) in facts(card, reader) {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{value}</dd>");
    }
    html.push_str("</dl>\n");
    if row.display_state == DisplayState::HeldFromAbove.as_str() {
        let _ = writeln!(html, "<p class=\"notice\">{}</p>", words::HELD);
    } else if row.status == "pending" {
        html.push_str(&decision_html(card, reader.may_decide, frozen.is_some()));
    }
    let _ = write!(
        html,
        "<p class=\"foot\"><a href=\"/#/inbox/{}\">{}</a> <span class=\"muted\">{}</span></p>\n</article>\n",
        escaped(&row.id),
        words::OPEN_IN_VOID,
        escaped(&row.code),
    );
    html
}

/// What the owner weighs, name by name, as HTML.
fn facts(card: &CardResponse, reader: &LinkViewer<'_>) -> Vec<(&'static str, String)> {
    let row = &card.row;
    let muted = |text: &str| format!("<span class=\"muted\">{text}</span>");
    let is_own = row.requested_by.kind == "owner" && reader.is_owner;
    let (by, mark) = match is_own {
        true => (words::YOU.to_owned(), words::OWN_WORDS.to_owned()),
        false => {
            let name = escaped(&row.requested_by.name);
            let mark = filled(words::WORDS_OF, "name", &name);
            (name, mark)
        }
    };
    // What nobody said is nobody's words.
    let why = match row.reason.as_deref() {
        Some(said) => quote(said, &mark),
        None => muted(words::NO_REASON),
    };
    let mut facts = vec![(words::WHY, why)];
    for later in &row.joined {
        facts.extend((later.reason.iter()).map(|said| (words::WHY_ALSO, quote(said, &mark))));
    }
    for hold in &row.holds {
        facts.push((words::FROM_ABOVE, hold_html(hold)));
    }
    if row.words_left_out > 0 {
        let count = row.words_left_out.to_string();
        facts.push((words::WHY_ALSO, filled(words::LEFT_OUT, "n", &count)));
    }
    if !card.evidence.is_empty() {
        let seen: Vec<String> = (card.evidence.iter())
            .map(|service| seen_html(service, reader))
            .collect();
        facts.push((words::SEEN, seen.join("<br>\n")));
    }
    if !card.read_before.is_empty() {
        let list = foreign(&card.read_before.join(", "));
        let why = muted(words::READ_BEFORE_WHY);
        facts.push((words::READ_BEFORE, format!("{list} {why}")));
    }
    let later = row.joined.iter().filter_map(|words| words.diff.as_ref());
    for diff in row.diff.iter().chain(later) {
        facts.push((
            words::CHANGE,
            format!(
                "<figure class=\"foreign\"><figcaption>{mark}</figcaption><pre class=\"diff\">{}</pre></figure>",
                foreign(diff)
            ),
        ));
    }
    facts.push(effect(card));
    if let Some(change) = &row.change {
        facts.push((
            words::CHANGES,
            change_html(change, card.difference.as_ref()),
        ));
    }
    if matches!(row.status.as_ref(), "pending" | "approved" | "running") {
        facts.push((words::CHECK, escaped(&card.checked_by)));
    }
    if !card.runbooks.is_empty() {
        facts.push((RUNBOOKS, runbooks_html(&card.runbooks)));
    }
    facts.push((binds(card), bound_html(card)));
    if let Some(inverse) = &card.inverse {
        facts.push((words::UNDONE_BY, escaped(&inverse.label)));
    }
    let short = |text: &str| text.chars().take(12).collect::<String>();
    let allowed = &card.allowed_by;
    let commit = allowed.commit.as_deref().map_or_else(
        || words::NO_COMMIT.to_owned(),
        |commit| filled(words::AT_COMMIT, "commit", &escaped(&short(commit))),
    );
    if let Some(id) = &allowed.id {
        facts.push((
            words::ALLOWED_BY,
            format!(
                "<code>{}</code> <code title=\"{}\">{}</code> {}",
                escaped(id),
                allowed.digest,
                short(&allowed.digest),
                muted(&commit),
            ),
        ));
    }
    facts.push((
        words::ASKED_BY,
        format!("{by}, {}", reader.time_html(&row.created_at)),
    ));
    if row.status == "pending" {
        facts.push((words::GOOD_UNTIL, reader.time_html(&row.expires_at)));
    }
    facts
}

/// What a yes does; once it is over, what it did or did not do.
fn effect(card: &CardResponse) -> (&'static str, String) {
    let sentence = match card.row.status.as_ref() {
        "pending" | "approved" | "running" => {
            let consequence = escaped(&card.consequence);
            let words = filled(words::EFFECT, "consequence", &consequence);
            return (words::IF_YES, words);
        }
        "executed" => words::HAS,
        "failed" => words::SHOULD_HAVE,
        "unknown" => words::MAY_HAVE,
        _ => words::WOULD_HAVE,
    };
    (words::WAS, filled(sentence, "past", &escaped(&card.past)))
}

/// What was bound, as it stands: a yes may be given, was given, or was not.
fn binds(card: &CardResponse) -> &'static str {
    match card.row.status.as_ref() {
        "pending" => words::BINDS,
        "approved" | "running" | "executed" | "failed" | "unknown" => words::BOUND,
        _ => words::WOULD_BIND,
    }
}

/// What the requester said, marked as its words.
fn quote(said: &str, mark: &str) -> String {
    format!(
        "<q>{}</q> <span class=\"muted\">{mark}</span>",
        foreign(said)
    )
}

/// Every value that a yes binds, whole and outside any fold.
fn bound_html(card: &CardResponse) -> String {
    let mut html = String::from("<dl class=\"bound\">");
    for bound in &card.bound {
        let class = if bound.is_param { "chosen" } else { "written" };
        let (name, value) = (escaped(&bound.name), escaped(&bound.value));
        let _ = write!(
            html,
            "<dt class=\"{class}\">{name}</dt><dd><code>{value}</code></dd>"
        );
    }
    html.push_str("</dl>");
    html
}

/// What Void saw of a service, and when it looked.
fn seen_html(service: &ServiceResponse, reader: &LinkViewer<'_>) -> String {
    let state = match service.status.as_ref() {
        "up" => words::UP,
        "down" => words::DOWN,
        _ => words::NOT_KNOWN,
    };
    let looked = service.checked_at.as_deref().map_or_else(
        || words::NEVER_LOOKED.to_owned(),
        |at| filled(words::LOOKED, "at", &reader.time_html(at)),
    );
    format!(
        "{}: {state} <span class=\"muted\">{looked}</span>",
        escaped(&service.label)
    )
}

/// A sentence of the catalogue with its one gap filled.
fn filled(sentence: &str, name: &str, value: &str) -> String {
    sentence.replace(&format!("{{{name}}}"), value)
}

/// What a requester wrote, with characters that would make it look like something else shown as such.
fn foreign(text: &str) -> String {
    escaped(&text::escaped_lines(text))
}

/// Text as text, in an element or in a quoted attribute.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}
