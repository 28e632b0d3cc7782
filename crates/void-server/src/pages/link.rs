//! One proposal alone: the page that a phone opens from a message. It is whole without a script, and
//! deciding is a plain form; a small script keeps it true afterwards.

use std::fmt::Write as _;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use void_control::access::Credential;
use void_control::proposals::{Answer, ProposalKey};
use void_domain::actors::Actor;
use void_domain::text;

use crate::access::Admitted;
use crate::app::App;
use crate::assets::{VERSION, guard_page};
use crate::errors::ApiError;
use crate::requests::collect;
use crate::routes::{self, CardResponse, DecideRequest};

const FORM_BYTES_MAX: usize = 4 * 1024;

pub(super) async fn show(
    State(app): State<App>,
    admitted: Option<Extension<Admitted>>,
    Path(code): Path<String>,
) -> Result<Response, ApiError> {
    let Some(Extension(admitted)) = admitted else {
        return Ok(page(StatusCode::UNAUTHORIZED, "Sign in", &sign_in(&code)));
    };
    Ok(match find(&app, &admitted, &code).await? {
        Some(card) => {
            let may_decide = is_owner_by_session(&admitted);
            page(
                StatusCode::OK,
                &card.row.label,
                &card_html(&card, may_decide, None),
            )
        }
        None => page(StatusCode::NOT_FOUND, "Not found", &not_found()),
    })
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    decision: String,
    digest: String,
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
        return Ok(page(StatusCode::UNAUTHORIZED, "Sign in", &sign_in(&code)));
    };
    if !is_owner_by_session(&admitted) {
        return Err(ApiError::owner_only());
    }
    if !headers.contains_key(header::ORIGIN) {
        return Err(ApiError::foreign_origin());
    }
    let bytes = collect(body, FORM_BYTES_MAX).await?;
    let form: Form = serde_urlencoded::from_bytes(&bytes)
        .map_err(|_| ApiError::invalid_field("form", "is not as expected"))?;
    let answer = match form.decision.as_str() {
        "approve" => Answer::Approve,
        "reject" => Answer::Reject,
        _ => {
            return Err(ApiError::invalid_field(
                "decision",
                "must be approve or reject",
            ));
        }
    };
    let Some(card) = find(&app, &admitted, &code).await? else {
        return Ok(page(StatusCode::NOT_FOUND, "Not found", &not_found()));
    };
    let request = DecideRequest {
        digest: Some(form.digest),
        reason: Some(form.reason).filter(|reason| !reason.is_empty()),
    };
    let (control, ctx, id) = (app.control(), &admitted.ctx, &card.row.id);
    match routes::decide(control, ctx, id, answer, request, Duration::ZERO).await {
        // Loading the page again must not send the form again.
        Ok(_) => Ok(Redirect::to(&format!("/inbox/{}", card.row.id)).into_response()),
        Err(error) => {
            let card = find(&app, &admitted, id).await?.unwrap_or(card);
            let html = card_html(&card, true, Some(&error.sentence()));
            Ok(page(error.status(), &card.row.label, &html))
        }
    }
}

fn is_owner_by_session(admitted: &Admitted) -> bool {
    matches!(admitted.caller.credential, Credential::Session { .. })
        && matches!(admitted.ctx.actor, Actor::Owner { .. })
}

fn page(status: StatusCode, title: &str, main: &str) -> Response {
    let title = escaped(title);
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1, viewport-fit=cover\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · Void</title>\n\
         <link rel=\"icon\" href=\"/ui/{VERSION}/icon.svg\" type=\"image/svg+xml\">\n\
         <script src=\"/ui/{VERSION}/theme.js\"></script>\n\
         <link rel=\"stylesheet\" href=\"/ui/{VERSION}/link.css\">\n\
         <script type=\"module\" src=\"/ui/{VERSION}/link.js\"></script>\n</head>\n\
         <body class=\"alone\">\n<main>\n{main}</main>\n</body>\n</html>\n"
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
        "<section class=\"card\" data-state=\"signed-out\">\n<h1>One more step</h1>\n\
         <p>Your browser did not say who you are. If you are signed in here, continue.</p>\n\
         <p class=\"actions\"><a class=\"button primary\" href=\"/inbox/{code}\">Continue</a>\n\
         <a class=\"button\" href=\"/#/inbox/{code}\">Sign in</a></p>\n</section>\n"
    )
}

fn not_found() -> String {
    "<section class=\"card\">\n<h1>There is no such request</h1>\n\
     <p>It may have been typed wrongly, or it belongs to another lab.</p>\n\
     <p class=\"actions\"><a class=\"button\" href=\"/#/inbox\">Open the Inbox</a></p>\n</section>\n"
        .to_owned()
}

fn card_html(card: &CardResponse, may_decide: bool, problem: Option<&str>) -> String {
    let row = &card.row;
    let mut html = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<article class=\"card proposal\" data-id=\"{}\" data-status=\"{}\" data-verification=\"{}\">\n\
         <p class=\"tier {}\">{}</p>\n<h1>{}</h1>\n<p class=\"state\" role=\"status\">{}</p>\n",
        escaped(&row.id),
        row.status,
        row.verification.unwrap_or(""),
        row.tier,
        card.tier_words,
        escaped(&row.label),
        escaped(&state_words(card)),
    );
    if let Some(problem) = problem {
        let _ = writeln!(
            html,
            "<p class=\"notice problem\" role=\"alert\">{}</p>",
            escaped(problem)
        );
    }
    html.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: &str| {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{value}</dd>");
    };
    let words = row.reason.as_deref().unwrap_or("No reason was given.");
    let by = escaped(&row.requested_by.name);
    fact(
        "Why",
        &format!(
            "<q>{}</q> <span class=\"muted\">{by}’s words</span>",
            foreign(words)
        ),
    );
    if !card.read_before.is_empty() {
        let list = foreign(&card.read_before.join(", "));
        fact(
            "Read before",
            &format!("{list} <span class=\"muted\">not yours; may have misled</span>"),
        );
    }
    if let Some(diff) = &row.diff {
        fact(
            "Change",
            &format!("<pre class=\"diff\">{}</pre>", foreign(diff)),
        );
    }
    fact("If yes", &escaped(&format!("It {}.", card.consequence)));
    if let Some(inverse) = &card.inverse {
        fact("Undone by", &escaped(&inverse.label));
    }
    let commit = card.allowed_by.commit.as_deref().unwrap_or("no commit");
    let short = |text: &str| text.chars().take(12).collect::<String>();
    fact(
        "Allowed by",
        &format!(
            "<code>{}</code> <code title=\"{}\">{}</code> <span class=\"muted\">at {}</span>",
            escaped(&card.allowed_by.id),
            card.allowed_by.digest,
            short(&card.allowed_by.digest),
            escaped(&short(commit)),
        ),
    );
    let at = |at: &str| format!("<time datetime=\"{at}\">{at}</time>");
    fact("Asked by", &format!("{by}, {}", at(&row.created_at)));
    if row.status == "pending" {
        fact("Good until", &at(&row.expires_at));
    }
    html.push_str("</dl>\n");
    if row.status == "pending" {
        html.push_str(&decision_html(card, may_decide));
    }
    let _ = write!(
        html,
        "<p class=\"foot\"><a href=\"/#/inbox/{}\">Open in Void</a> <span class=\"muted\">{}</span></p>\n</article>\n",
        escaped(&row.id),
        escaped(&row.code),
    );
    html
}

fn decision_html(card: &CardResponse, may_decide: bool) -> String {
    let row = &card.row;
    if card.changed {
        return "<p class=\"notice caution\">What was asked for has changed since. It cannot be approved; \
                ask for it again.</p>\n"
            .to_owned();
    }
    if !may_decide {
        return "<p class=\"notice\">Only the owner decides.</p>\n".to_owned();
    }
    let form = |decision: &str, body: &str| {
        format!(
            "<form method=\"post\" action=\"/inbox/{}\"><input type=\"hidden\" name=\"digest\" value=\"{}\">\
             <input type=\"hidden\" name=\"decision\" value=\"{decision}\">{body}</form>\n",
            escaped(&row.id),
            row.digest
        )
    };
    let approve = if card.needs_login {
        format!(
            "<p class=\"notice caution\">This may cut you off: it needs a fresh sign-in. \
             <a href=\"/#/inbox/{}\">Continue in Void</a></p>\n",
            escaped(&row.id)
        )
    } else {
        let yes = format!(
            "<button class=\"button danger\">Yes: it {}</button>",
            escaped(&card.consequence)
        );
        format!(
            "<details class=\"step\"><summary class=\"button primary\">Approve…</summary>\n{}</details>\n",
            form("approve", &yes)
        )
    };
    let reject = "<label class=\"field\"><span>Why not? (optional)</span>\
                  <input name=\"reason\" maxlength=\"400\" autocomplete=\"off\"></label>\
                  <button class=\"button\">Reject it</button>";
    let reject = format!(
        "<details class=\"step\"><summary class=\"button\">Reject…</summary>\n{}</details>\n",
        form("reject", reject)
    );
    format!("<div class=\"decide\">\n{approve}{reject}</div>\n")
}

fn state_words(card: &CardResponse) -> String {
    let row = &card.row;
    let by = row.resolved_by.as_deref().unwrap_or("the system");
    let error = row
        .error
        .as_ref()
        .map_or("", |error| error.message.as_str());
    match (row.status, row.verification) {
        ("pending", _) => "Waits for your yes".to_owned(),
        ("approved", _) => "Approved, sent".to_owned(),
        ("running", _) => "Running".to_owned(),
        ("executed", Some("verified")) => "Done, checked".to_owned(),
        ("executed", Some("failed")) => "Ran, and its check failed".to_owned(),
        ("executed", _) => "Ran, not confirmed".to_owned(),
        ("failed", _) => format!("Failed: {error}"),
        ("rejected", _) => format!("Rejected by {by}"),
        ("expired", _) => "Expired; nothing ran".to_owned(),
        ("cancelled", _) => format!("Withdrawn: {error}"),
        ("unknown", _) => "Nobody knows whether it ran".to_owned(),
        (status, _) => format!("{status}: {error}"),
    }
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
