//! Hears what comes from Telegram: taps on buttons, and a few commands. Everything passes one gate,
//! every tap is answered, and nothing that is unknown means anything.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use void_control::allowances::allowance;
use void_control::facts;
use void_control::notification_keys as keys;
use void_control::proposals::{DecideError, Decision};
use void_domain::actors::{Actor, person};
use void_domain::notifications::messages::Room;
use void_domain::notifications::{About, Key, Meaning, Target, messages};
use void_domain::policy::{Allowance, Offer, Refusal, offer};
use void_domain::proposals::Proposal;
use void_domain::text;
use void_store::notifications;
use void_store::{StoreError, proposals};

use super::{
    Bot, CallError, admit, alert_taps, chats, commands, is_broken, keyboards, question_taps,
};
use crate::acts::{self, owner_ctx};
use crate::notifications::{Notifications, frame, message_about};
use crate::notifiers::Way;

const UPDATES_MAX: u32 = 50;
/// What the network may take on top of the time that a question stays open.
const POLL_MARGIN: Duration = Duration::from_secs(15);
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// An update that cannot be handled is left behind after this many tries.
const HANDLE_TRIES_MAX: u32 = 5;

/// Asks for updates for as long as this instance holds the lease.
pub(crate) async fn listen(notify: Notifications, mut holds: watch::Receiver<bool>) {
    let Some(bot) = notify.notifiers.telegram() else {
        return;
    };
    let mut stopping = notify.control().stopping();
    let mut place = MessageRef::default();
    let mut pause = PAUSE_FIRST;
    loop {
        let stopped = tokio::select! {
            held = holds.wait_for(|holds| *holds) => held.is_err(),
            _ = stopping.wait_for(|stop| *stop) => true,
        };
        if stopped {
            return;
        }
        let heard = tokio::select! {
            heard = ask(&notify, bot, &mut place) => heard,
            _ = stopping.wait_for(|stop| *stop) => return,
        };
        if heard {
            pause = PAUSE_FIRST;
            continue;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Where we are in the stream of updates.
#[derive(Default)]
struct MessageRef {
    /// The first update that was not handled yet.
    next: i64,
    tries: u32,
}

/// One question and what it brings; `false` if something is wrong and a pause would help.
async fn ask(notify: &Notifications, bot: &Bot, place: &mut MessageRef) -> bool {
    let params = json!({
        "offset": place.next,
        "limit": UPDATES_MAX,
        "timeout": bot.poll_for.as_secs(),
        "allowed_updates": ["message", "callback_query"],
    });
    let updates = match bot
        .call("getUpdates", params, bot.poll_for + POLL_MARGIN)
        .await
    {
        Ok(updates) => updates,
        Err(error) => {
            is_broken(notify, &poll_problem(&error));
            return false;
        }
    };
    if let Some(standings) = notify.notifiers.standings() {
        standings.works(Way::Polling, notify.now());
    }
    for update in updates.as_array().into_iter().flatten() {
        let Some(number) = update.get("update_id").and_then(Value::as_i64) else {
            continue;
        };
        if let Err(error) = handle(notify, bot, update).await {
            place.tries += 1;
            tracing::error!(%error, tries = place.tries, "an update could not be handled");
            if place.tries < HANDLE_TRIES_MAX {
                place.next = number;
                return false;
            }
        }
        place.tries = 0;
        // Updates may come twice or out of order; the stream is confirmed up to the newest.
        place.next = place.next.max(number.saturating_add(1));
    }
    true
}

fn poll_problem(error: &CallError) -> String {
    match error {
        CallError::Refused { code: 409, words, .. } if words.contains("webhook") => {
            "a webhook is set for this bot, so it cannot be polled (409); remove it with deleteWebhook".to_owned()
        }
        CallError::Refused { code: 409, .. } => {
            "another program is polling this bot (409); stop it, or use a bot of its own".to_owned()
        }
        CallError::Refused { code: 401 | 404, .. } => "telegram refused the bot's token".to_owned(),
        other => other.words(),
    }
}

async fn handle(notify: &Notifications, bot: &Bot, update: &Value) -> Result<(), StoreError> {
    if let Some(callback) = update.get("callback_query") {
        let answer = tapped(notify, bot, callback).await?;
        if let Some(id) = callback.get("id").and_then(Value::as_str) {
            bot.answer(id, &answer).await;
        }
    } else if let Some(message) = update.get("message") {
        commands::heard(notify, bot, message).await?;
    }
    Ok(())
}

const NOT_FOR_YOU: &str = "This is not for you.";
const TOO_EARLY: &str = "Not ready yet. Tap again.";
/// How long a message that was just sent takes to be noted, at most.
const NOTED_WITHIN: Duration = Duration::from_secs(2);
const NOTED_LOOK: Duration = Duration::from_millis(20);
const CHANGED: &str = "It was asked for again, with more to read. Look at the message once more.";
pub(super) const TOO_OLD: &str =
    "This button is out of date. Look at the newest message, or send /inbox.";

/// A tap, checked from the outside in: who, where, which key. What the person reads as an answer.
async fn tapped(notify: &Notifications, bot: &Bot, callback: &Value) -> Result<String, StoreError> {
    let (from, message) = (&callback["from"], &callback["message"]);
    let Some(target) = admit(notify, from, &message["chat"]).await? else {
        record_stranger(notify, from, &message["chat"]).await?;
        return Ok(NOT_FOR_YOU.to_owned());
    };
    let data = callback
        .get("data")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let Some(key) = keys::find(notify.control(), data).await? else {
        return Ok(TOO_OLD.to_owned());
    };
    let number = message
        .get("message_id")
        .and_then(Value::as_i64)
        .unwrap_or_default();
    let is_forwarded = ["forward_origin", "forward_from", "forward_date", "via_bot"]
        .into_iter()
        .any(|member| message.get(member).is_some());
    if key.target != target || is_forwarded {
        record_stranger(notify, from, &message["chat"]).await?;
        return Ok(TOO_OLD.to_owned());
    }
    let tap = Tap {
        notify,
        bot,
        target,
        key,
        number,
    };
    tap.act().await
}

/// Whoever taps without being the owner is on the record.
async fn record_stranger(
    notify: &Notifications,
    from: &Value,
    chat: &Value,
) -> Result<(), StoreError> {
    let detail = json!({
        "channel": "telegram",
        "user": from.get("id").and_then(Value::as_i64),
        "chat": chat.get("id").and_then(Value::as_i64),
    });
    let (context, at) = (
        notify.control().context(&notify.control().system_ctx()?),
        notify.now(),
    );
    notify
        .store()
        .write(move |tx| {
            Box::pin(async move {
                facts::audit(tx, &context, at, "notification.refused", None, detail).await
            })
        })
        .await
}

/// A tap by the owner on a button of ours.
struct Tap<'a> {
    notify: &'a Notifications,
    bot: &'a Bot,
    target: Target,
    key: Key,
    /// The message that the button is under.
    number: i64,
}

impl Tap<'_> {
    async fn act(self) -> Result<String, StoreError> {
        let id = match self.key.about {
            About::Nothing => {
                self.show(keyboards::keyboard(&[])).await;
                return Ok("It works.".to_owned());
            }
            About::Alert(id) => {
                let (notify, bot) = (self.notify, self.bot);
                return alert_taps::tapped(notify, bot, &self.target, &self.key, id).await;
            }
            About::Question(id) => {
                let (notify, bot) = (self.notify, self.bot);
                return question_taps::tapped(notify, bot, &self.target, &self.key, id).await;
            }
            About::Proposal(id, _) => id,
        };
        let notify = self.notify;
        let found = notify
            .store()
            .read(move |tx| Box::pin(proposals::find(tx, id)))
            .await?;
        let Some(proposal) = found.map(|stored| stored.proposal) else {
            return Ok(TOO_OLD.to_owned());
        };
        if self.key.meaning == Meaning::Show {
            return self.show_again(&proposal).await;
        }
        match self.noted(&proposal).await? {
            Some(number) if number == self.number.to_string() => {}
            Some(_) => {
                // A copy that nobody remembers: it loses its buttons.
                self.show(keyboards::keyboard(&[])).await;
                return Ok(TOO_OLD.to_owned());
            }
            None => return Ok(TOO_EARLY.to_owned()),
        }
        let is_late = self.key.expires_at <= notify.now();
        match self.key.meaning {
            Meaning::Details => {
                for part in messages::details(&proposal, &frame(notify).await?) {
                    self.say(&part).await;
                }
                Ok(String::new())
            }
            // The outbox brings the message up to date.
            _ if !messages::asks(&proposal) => Ok(already(&proposal)),
            // It stands under an older text, which is about to be brought up to date too.
            Meaning::Ask | Meaning::Approve | Meaning::Back
                if self.key.revision != proposal.revision =>
            {
                Ok(CHANGED.to_owned())
            }
            Meaning::Approve if is_late => {
                self.back(&proposal).await?;
                Ok("That took too long, nothing ran. Tap Approve… again.".to_owned())
            }
            Meaning::Ask => {
                if let Some(why) = self.not_here(&proposal).await? {
                    return Ok(elsewhere(notify, &proposal, &why));
                }
                let keyboard = keyboards::confirm(notify, &self.target, &proposal).await?;
                self.show(keyboard).await;
                Ok(String::new())
            }
            Meaning::Reject => {
                let keyboard = keyboards::reasons(notify, &self.target, &proposal).await?;
                self.show(keyboard).await;
                Ok("Why not?".to_owned())
            }
            Meaning::Back => {
                self.back(&proposal).await?;
                Ok(String::new())
            }
            Meaning::Approve => self.decide(&proposal, Decision::Approve).await,
            Meaning::RejectBecause(_) => self.decide(&proposal, Decision::Reject).await,
            Meaning::Show
            | Meaning::Test
            | Meaning::Mute(_)
            | Meaning::Unmute
            | Meaning::Option(_) => Ok(TOO_OLD.to_owned()),
        }
    }

    /// The message that shows the proposal in this chat. A quick finger may be here before it is noted.
    async fn noted(&self, proposal: &Proposal) -> Result<Option<String>, StoreError> {
        let end = tokio::time::Instant::now() + NOTED_WITHIN;
        loop {
            let (id, target) = (proposal.id, self.target.clone());
            let found = self.notify.store().read(move |tx| {
                Box::pin(async move { notifications::find_message(tx, id, &target).await })
            });
            let message_ref = found.await?.and_then(|message| message.message_ref);
            if message_ref.is_some() || tokio::time::Instant::now() >= end {
                return Ok(message_ref);
            }
            tokio::time::sleep(NOTED_LOOK).await;
        }
    }

    /// Why a yes would not count here. The decision itself is judged again.
    async fn not_here(&self, proposal: &Proposal) -> Result<Option<String>, StoreError> {
        let (control, surface) = (self.notify.control().clone(), self.bot.surface(self.user()));
        if offer(surface, proposal.subject.risk) == Offer::LinkOnly {
            return Ok(Some(DecideError::OtherSurfaceNeeded.to_string()));
        }
        let now = self.notify.now();
        let allowance = self
            .notify
            .store()
            .read(move |tx| Box::pin(async move { allowance(tx, &control, surface, now).await }));
        Ok(match allowance.await? {
            Allowance::Left => None,
            Allowance::Spent { per_day } => Some(Refusal::AllowanceSpent { per_day }.message()),
        })
    }

    async fn decide(&self, proposal: &Proposal, answer: Decision) -> Result<String, StoreError> {
        let surface = self.bot.surface(self.user());
        let ctx = owner_ctx(self.notify, Actor::Owner { surface })?;
        match acts::decide(self.notify, &ctx, &self.key, answer).await {
            Ok(_) if answer == Decision::Approve => Ok("Approved.".to_owned()),
            Ok(_) => Ok("Rejected.".to_owned()),
            Err(DecideError::Store(error)) => Err(error),
            Err(error) => {
                let why = text::escaped(&error.to_string());
                match self.not_here(proposal).await? {
                    Some(_) if answer == Decision::Approve => {
                        // The key is used up; the card gets new ones.
                        self.back(proposal).await?;
                        Ok(elsewhere(self.notify, proposal, &why))
                    }
                    Some(_) | None => Ok(why),
                }
            }
        }
    }

    async fn back(&self, proposal: &Proposal) -> Result<(), StoreError> {
        let message = message_about(self.notify, proposal, Room::TELEGRAM).await?;
        let keyboard = keyboards::card(self.notify, self.user(), proposal, &message).await?;
        self.show(keyboard).await;
        Ok(())
    }

    /// A new message about a proposal of a list; the old one loses its buttons.
    async fn show_again(&self, proposal: &Proposal) -> Result<String, StoreError> {
        if !messages::asks(proposal) {
            return Ok(already(proposal));
        }
        let (id, target, now) = (proposal.id, self.target.clone(), self.notify.now());
        let shown = self.notify.store().write(move |tx| {
            Box::pin(async move { notifications::show_again(tx, id, &target, now).await })
        });
        let old: Option<String> = shown.await?;
        if let Some(old) = old.and_then(|old| old.parse().ok()) {
            let empty = keyboards::keyboard(&[]);
            self.interactively(|| self.bot.edit_keyboard(self.user(), old, empty.clone()))
                .await;
        }
        Ok(String::new())
    }

    async fn show(&self, keyboard: Value) {
        let edit = || {
            self.bot
                .edit_keyboard(self.user(), self.number, keyboard.clone())
        };
        self.interactively(edit).await;
    }

    async fn say(&self, text: &str) {
        self.interactively(|| self.bot.say(self.user(), text, None))
            .await;
    }

    /// Somebody looks at the screen and waits.
    async fn interactively<T, F>(&self, call: impl Fn() -> F)
    where
        F: Future<Output = Result<T, CallError>>,
    {
        chats::patiently(self.notify, &self.target, call).await;
    }

    const fn user(&self) -> i64 {
        match self.target {
            Target::Telegram { user } => user,
            Target::Ntfy | Target::Webhook { .. } => 0,
        }
    }
}

/// Why not here, and where else.
fn elsewhere(notify: &Notifications, proposal: &Proposal, why: &str) -> String {
    match notify.notifiers.link(proposal.code.as_str()) {
        Some(link) => format!("{why}: {link}"),
        None => format!("{why}: void inbox approve {}", proposal.code),
    }
}

/// "Already approved by owner (command line)"
fn already(proposal: &Proposal) -> String {
    let (by, _) = proposal.resolution();
    let verb = match proposal.approval() {
        Some(_) => "approved",
        None => proposal.status().as_str(),
    };
    format!("Already {verb} by {}.", person(by.unwrap_or("system")))
}
