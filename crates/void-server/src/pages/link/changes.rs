//! What a change means and every word of it, as Void itself found out.

use std::fmt::Write as _;

use void_api::cards::{DifferencePartResponse, DifferenceResponse, MovedBaseResponse};
use void_api::proposals::ChangeResponse;
use void_api::revisions::DiffSpanResponse;
use void_domain::text;

use super::{escaped, foreign};

/// What the fold says that has the same once more.
const UNIFIED: &str = "The same as a unified diff";
/// Where a part begins.
const LINE: &str = "From line";
/// How a span hides, for who hovers over it; the sentences of the summary say it to everybody.
const HIDES: &str = "This hides from a reader";

/// Why there is no way to say yes.
const MOVED: &str = "It was changed since this was drafted, so nothing of the draft is applied. Open it in Void to ask again for the same against what is there now. This is what was changed meanwhile:";
const GONE: &str =
    "What this would change was thrown away meanwhile, so nothing of the draft is applied.";

pub(super) fn change_html(
    change: &ChangeResponse,
    difference: Option<&DifferenceResponse>,
) -> String {
    let mut html = String::from("<ul class=\"changes\">");
    // Writing to a string cannot fail.
    for line in &change.summary {
        let _ = write!(html, "<li>{}</li>", foreign(line));
    }
    html.push_str("</ul>");
    let Some(difference) = difference else {
        let _ = write!(html, "<pre class=\"diff\">{}</pre>", foreign(&change.diff));
        return html;
    };
    for part in &difference.parts {
        html.push_str(&part_html(part));
    }
    let lines = change.diff.split('\n').map(text::told_apart);
    let lines = escaped(&lines.collect::<Vec<String>>().join("\n"));
    let unified = format!("<pre class=\"diff\">{lines}</pre>");
    let _ = write!(
        html,
        "<details><summary>{UNIFIED}</summary>{unified}</details>"
    );
    html
}

/// Instead of a way to say yes: what there is now, and that nothing is applied.
pub(super) fn moved_html(moved: &MovedBaseResponse) -> String {
    if moved.gone {
        return format!("<p class=\"notice caution\">{GONE}</p>\n");
    }
    let parts = moved
        .difference
        .iter()
        .flat_map(|difference| &difference.parts);
    let parts: String = parts.map(part_html).collect();
    format!("<div class=\"notice caution\"><p>{MOVED}</p>{parts}</div>\n")
}

fn part_html(part: &DifferencePartResponse) -> String {
    let spans: String = part.spans.iter().map(span_html).collect();
    let line = part.line;
    format!(
        "<figure class=\"words\"><figcaption class=\"muted small\">{LINE} {line}</figcaption>\
         <pre class=\"diff words\">{spans}</pre></figure>"
    )
}

fn span_html(span: &DiffSpanResponse) -> String {
    let text = escaped(&span.text);
    let hides = match span.hidings.is_empty() {
        true => String::new(),
        false => format!(" class=\"hides\" title=\"{HIDES}\""),
    };
    match span.kind.as_ref() {
        "added" => format!("<ins{hides}>{text}</ins>"),
        "removed" => format!("<del{hides}>{text}</del>"),
        _ => text,
    }
}
