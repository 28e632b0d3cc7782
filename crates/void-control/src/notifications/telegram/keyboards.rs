//! Buttons. Each carries a key of its own and nothing else; what a yes needs is decided by policy.

use serde_json::{Value, json};
use void_domain::notifications::messages::{self, Message};
use void_domain::notifications::{Because, Meaning, Target};
use void_domain::policy::{Offer, offer};
use void_domain::proposals::Proposal;
use void_store::StoreError;

use crate::control::Control;
use crate::notifications::keys;

fn button(text: &str, key: &str) -> Value {
    json!({"text": text, "callback_data": key})
}

pub(super) fn keyboard(rows: &[Vec<Value>]) -> Value {
    json!({"inline_keyboard": rows})
}

/// Under a message about a proposal: what can be done with it from here.
pub(super) async fn card(
    control: &Control,
    user: i64,
    proposal: &Proposal,
    message: &Message,
) -> Result<Value, StoreError> {
    let link = link_button(control, proposal);
    if !messages::asks(proposal) {
        return Ok(keyboard(
            &link.map(|link| vec![vec![link]]).unwrap_or_default(),
        ));
    }
    let target = Target::Telegram { user };
    let meanings = [Meaning::Ask, Meaning::Reject, Meaning::Details];
    let keys = keys::mint(control, &target, Some(proposal), &meanings).await?;
    let [ask, reject, details] = keys.as_slice() else {
        return Ok(keyboard(&[]));
    };
    // What cannot be read whole here is not approved here.
    let offered = match control.notifiers.telegram() {
        Some(bot) if message.is_whole => offer(bot.surface(user), proposal.wish.risk),
        Some(_) | None => Offer::LinkOnly,
    };
    let mut first = match offered {
        Offer::TwoTaps => vec![button("Approve…", ask)],
        Offer::OneTap => {
            let key = keys::mint_approval(control, &target, proposal).await?;
            vec![button("Approve", &key)]
        }
        Offer::LinkOnly => link.into_iter().collect(),
    };
    first.push(button("Reject", reject));
    first.push(button("Details", details));
    Ok(keyboard(&[first]))
}

fn link_button(control: &Control, proposal: &Proposal) -> Option<Value> {
    let link = control.notifiers.link(proposal.code.as_str())?;
    // Telegram refuses buttons with addresses that no phone could open.
    let opens = link.starts_with("https://") || !link.contains("//localhost");
    opens.then(|| json!({"text": "Open", "url": link}))
}

/// After the first tap: what will happen, once more.
pub(super) async fn confirm(
    control: &Control,
    target: &Target,
    proposal: &Proposal,
) -> Result<Value, StoreError> {
    let meanings = [Meaning::Approve, Meaning::Back];
    let keys = keys::mint(control, target, Some(proposal), &meanings).await?;
    let [approve, back] = keys.as_slice() else {
        return Ok(keyboard(&[]));
    };
    Ok(keyboard(&[
        vec![button(&messages::yes_button(proposal), approve)],
        vec![button("Back", back)],
    ]))
}

/// Quick reasons; the requester hears them.
pub(super) async fn reasons(
    control: &Control,
    target: &Target,
    proposal: &Proposal,
) -> Result<Value, StoreError> {
    let mut meanings: Vec<Meaning> = Because::ALL.map(Meaning::RejectBecause).to_vec();
    meanings.push(Meaning::Back);
    let keys = keys::mint(control, target, Some(proposal), &meanings).await?;
    let labels = Because::ALL
        .map(Because::button)
        .into_iter()
        .chain(["Back"]);
    let buttons: Vec<Value> = labels
        .zip(&keys)
        .map(|(label, key)| button(label, key))
        .collect();
    let rows: Vec<Vec<Value>> = buttons.chunks(2).map(<[Value]>::to_vec).collect();
    Ok(keyboard(&rows))
}

/// One button per proposal of a list.
pub(super) async fn choices(
    control: &Control,
    target: &Target,
    proposals: &[Proposal],
) -> Result<Value, StoreError> {
    const LABEL_CHARS_MAX: usize = 40;
    let mut rows = Vec::new();
    for proposal in proposals {
        let keys = keys::mint(control, target, Some(proposal), &[Meaning::Show]).await?;
        let label = void_domain::text::escaped(&proposal.wish.label);
        let label: String = label.chars().take(LABEL_CHARS_MAX).collect();
        let text = format!("{} {label}", proposal.code);
        rows.extend(keys.iter().map(|key| vec![button(&text, key)]));
    }
    Ok(keyboard(&rows))
}

pub(super) async fn test(control: &Control, target: &Target) -> Result<Value, StoreError> {
    let keys = keys::mint(control, target, None, &[Meaning::Test]).await?;
    let row = keys.iter().map(|key| button("It works", key)).collect();
    Ok(keyboard(&[row]))
}
