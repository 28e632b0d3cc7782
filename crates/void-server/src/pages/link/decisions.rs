//! How the owner decides on the link page: a yes and a no, each in two steps, or why there is no way to.

use void_api::cards::CardResponse;

use super::changes::moved_html;
use super::{escaped, filled, words};

pub(super) fn decision_html(card: &CardResponse, may_decide: bool, is_frozen: bool) -> String {
    let row = &card.row;
    if let Some(moved) = &card.moved {
        return moved_html(moved);
    }
    if card.changed {
        return format!("<p class=\"notice caution\">{}</p>\n", words::CHANGED);
    }
    if !may_decide {
        return format!("<p class=\"notice\">{}</p>\n", words::OWNER_DECIDES);
    }
    let form = |decision: &str, body: &str| {
        format!(
            "<form method=\"post\" action=\"/inbox/{}\" data-sending=\"{}\">\
             <input type=\"hidden\" name=\"digest\" value=\"{}\">\
             <input type=\"hidden\" name=\"revision\" value=\"{}\">\
             <input type=\"hidden\" name=\"decision\" value=\"{decision}\">{body}</form>\n",
            escaped(&row.id),
            words::SENDING,
            row.digest,
            row.revision,
        )
    };
    let approve = if is_frozen {
        let name = words::APPROVE;
        format!(
            "<p><button class=\"button primary\" type=\"button\" disabled>{name}</button></p>\n"
        )
    } else if card.needs_login {
        format!(
            "<p class=\"notice caution\">{} <a href=\"/#/inbox/{}\">{}</a></p>\n",
            words::NEEDS_SIGN_IN,
            escaped(&row.id),
            words::CONTINUE_IN_VOID,
        )
    } else {
        let consequence = escaped(&card.consequence);
        let yes = filled(words::YES, "consequence", &consequence);
        let yes = format!("<button class=\"button danger\">{yes}</button>");
        step("primary", words::APPROVE, &form("approve", &yes))
    };
    let reject = format!(
        "<label class=\"field\"><span>{}</span>\
         <input name=\"reason\" maxlength=\"400\" autocomplete=\"off\"></label>\
         <button class=\"button\">{}</button>",
        words::WHY_NOT,
        words::REJECT_IT,
    );
    let reject = step("", words::REJECT, &form("reject", &reject));
    format!("<div class=\"decide\">\n{approve}{reject}</div>\n")
}

/// Two taps in different places, without a script.
fn step(kind: &str, name: &str, body: &str) -> String {
    format!(
        "<details class=\"step\"><summary class=\"button {kind}\">{name}</summary>\n{body}</details>\n"
    )
}
