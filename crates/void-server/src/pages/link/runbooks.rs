//! What the owner's own pages say about what a request is about, word for word and marked as theirs.

use void_api::runbooks::RunbookResponse;

use super::{escaped, foreign};

pub(super) const RUNBOOKS: &str = "Runbooks";
const FROM: &str = "from your page";
const FOREIGN: &str = "from a page that a stranger could have written";
const UNNAMED: &str = "a page";

pub(super) fn runbooks_html(runbooks: &[RunbookResponse]) -> String {
    let runbooks: Vec<String> = runbooks.iter().map(runbook_html).collect();
    runbooks.join("<br>\n")
}

fn runbook_html(runbook: &RunbookResponse) -> String {
    let title = foreign(runbook.title.as_deref().unwrap_or(UNNAMED));
    let link = format!(
        "<a href=\"/#/pages/{}\">{title}</a>",
        escaped(&runbook.page_id)
    );
    let whose = if runbook.foreign { FOREIGN } else { FROM };
    match &runbook.says {
        Some(says) => format!(
            "{link}: <q>{}</q> <span class=\"muted\">{whose}</span>",
            foreign(says)
        ),
        None => format!("{link} <span class=\"muted\">{whose}</span>"),
    }
}
