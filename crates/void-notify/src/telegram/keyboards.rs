//! Buttons. Each carries a key of its own and nothing else; what a yes needs is decided by policy.

use serde_json::{Value, json};
use void_control::notification_keys::{self as keys, Subject};
use void_control::proposals::Listed;
use void_domain::alerts::Alert;
use void_domain::mutes::{Mute, Muted};
use void_domain::notifications::messages::{self, NotificationMessage};
use void_domain::notifications::{Because, Meaning, MuteFor, OptionNumber, Target};
use void_domain::policy::{Offer, offer};
use void_domain::proposals::Proposal;
use void_domain::questions::Question;
use void_store::StoreError;

use crate::notifications::Notifications;

fn button(text: &str, key: &str) -> Value {
    json!({"text": text, "callback_data": key})
}

pub(super) fn keyboard(rows: &[Vec<Value>]) -> Value {
    json!({"inline_keyboard": rows})
}

/// Under a message about a proposal: what can be done with it from here.
pub(super) async fn card(
    notify: &Notifications,
    user: i64,
    proposal: &Proposal,
    message: &NotificationMessage,
) -> Result<Value, StoreError> {
    let link = link_button(notify.notifiers.link(proposal.code.as_str()));
    if !messages::asks(proposal) {
        return Ok(keyboard(
            &link.map(|link| vec![vec![link]]).unwrap_or_default(),
        ));
    }
    let target = Target::Telegram { user };
    let meanings = [Meaning::Ask, Meaning::Reject, Meaning::Details];
    let keys = keys::mint(
        notify.control(),
        &target,
        Subject::Proposal(proposal),
        &meanings,
    )
    .await?;
    let [ask, reject, details] = keys.as_slice() else {
        return Ok(keyboard(&[]));
    };
    // What cannot be read whole here is not approved here.
    let offered = match notify.notifiers.telegram() {
        Some(bot) if message.is_whole => offer(bot.surface(user), proposal.subject.risk),
        Some(_) | None => Offer::LinkOnly,
    };
    let mut first = match offered {
        Offer::TwoTaps => vec![button("Approve…", ask)],
        Offer::OneTap => {
            let key = keys::mint_approval(notify.control(), &target, proposal).await?;
            vec![button("Approve", &key)]
        }
        Offer::LinkOnly => link.into_iter().collect(),
    };
    first.push(button("Reject", reject));
    first.push(button("Details", details));
    Ok(keyboard(&[first]))
}

fn link_button(link: Option<String>) -> Option<Value> {
    let link = link?;
    // Telegram refuses buttons with addresses that no phone could open.
    let opens = link.starts_with("https://") || !link.contains("//localhost");
    opens.then(|| json!({"text": "Open", "url": link}))
}

/// After the first tap: what will happen, once more.
pub(super) async fn confirm(
    notify: &Notifications,
    target: &Target,
    proposal: &Proposal,
) -> Result<Value, StoreError> {
    let meanings = [Meaning::Approve, Meaning::Back];
    let keys = keys::mint(
        notify.control(),
        target,
        Subject::Proposal(proposal),
        &meanings,
    )
    .await?;
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
    notify: &Notifications,
    target: &Target,
    proposal: &Proposal,
) -> Result<Value, StoreError> {
    let mut meanings: Vec<Meaning> = Because::ALL.map(Meaning::RejectBecause).to_vec();
    meanings.push(Meaning::Back);
    let keys = keys::mint(
        notify.control(),
        target,
        Subject::Proposal(proposal),
        &meanings,
    )
    .await?;
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
    notify: &Notifications,
    target: &Target,
    waiting: &[Listed],
) -> Result<Value, StoreError> {
    const LABEL_CHARS_MAX: usize = 40;
    let mut rows = Vec::new();
    for Listed { proposal, .. } in waiting {
        let keys = keys::mint(
            notify.control(),
            target,
            Subject::Proposal(proposal),
            &[Meaning::Show],
        )
        .await?;
        let label = void_domain::text::escaped(&proposal.subject.label);
        let label: String = label.chars().take(LABEL_CHARS_MAX).collect();
        let text = format!("{} {label}", proposal.code);
        rows.extend(keys.iter().map(|key| vec![button(&text, key)]));
    }
    Ok(keyboard(&rows))
}

/// Under a message about what is down: what may be muted, or told again.
pub(super) async fn alert(
    notify: &Notifications,
    target: &Target,
    alert: &Alert,
    mute: Option<&Mute>,
) -> Result<Value, StoreError> {
    let subject = alert.to_mute();
    let meanings: Vec<Meaning> = match (mute, &subject) {
        _ if alert.is_over() => Vec::new(),
        (Some(_), _) => vec![Meaning::Unmute],
        (None, Some(_)) => MuteFor::ALL.map(Meaning::Mute).to_vec(),
        (None, None) => Vec::new(),
    };
    let keys = keys::mint(notify.control(), target, Subject::Alert(alert), &meanings).await?;
    let label = |meaning: &Meaning| match (meaning, &subject) {
        (Meaning::Mute(lasts), Some(Muted::Host(name))) => {
            let name = void_domain::text::escaped(name);
            format!("Mute {name} {}", lasts.words())
        }
        (Meaning::Mute(lasts), _) => format!("Mute {}", lasts.words()),
        _ => "Unmute".to_owned(),
    };
    let labelled = meanings.iter().map(label).zip(&keys);
    let mut row: Vec<Value> = labelled.map(|(label, key)| button(&label, key)).collect();
    row.extend(link_button(notify.notifiers.alert_link(alert)));
    Ok(keyboard(&[row]))
}

/// Under a question: one button for each option, and the way to answer in other words.
pub(super) async fn question(
    notify: &Notifications,
    user: i64,
    question: &Question,
    message: &NotificationMessage,
) -> Result<Value, StoreError> {
    if !question.state.is_open() {
        return Ok(keyboard(&[]));
    }
    let mut rows = Vec::new();
    // What cannot be read whole here is not answered here.
    if message.is_whole {
        let options = question.words.options();
        let numbers = (1..).map_while(OptionNumber::new).take(options.len());
        let meanings: Vec<Meaning> = numbers.map(Meaning::Option).collect();
        let (target, subject) = (Target::Telegram { user }, Subject::Question(question));
        let keys = keys::mint(notify.control(), &target, subject, &meanings).await?;
        let buttons = options.iter().zip(&keys);
        rows.extend(buttons.map(|(option, key)| vec![button(option, key)]));
    }
    let link = link_button(notify.notifiers.inbox_link());
    rows.extend(link.map(|link| vec![link]));
    Ok(keyboard(&rows))
}

pub(super) async fn test(notify: &Notifications, target: &Target) -> Result<Value, StoreError> {
    let keys = keys::mint(notify.control(), target, Subject::Nothing, &[Meaning::Test]).await?;
    let row = keys.iter().map(|key| button("It works", key)).collect();
    Ok(keyboard(&[row]))
}
