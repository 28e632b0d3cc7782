//! Taps under a message about what is down: mute what it is about, or tell it again. The key is good once,
//! for what was shown with it, and mutes for hours, never for good.

use void_control::Ctx;
use void_control::mutes::{self, MuteError, NewMute, Until};
use void_domain::actors::Actor;
use void_domain::alerts::Alert;
use void_domain::ids::AlertId;
use void_domain::mutes::Mute;
use void_domain::notifications::{Key, Meaning, MuteFor, Target, moment};
use void_domain::text;
use void_store::{StoreError, alerts};

use super::Bot;
use super::updates::TOO_OLD;
use crate::acts::owner_ctx;
use crate::notifications::Notifications;

const REASON: &str = "from Telegram";
const GROWN: &str = "More is down by now. Look at the message once more.";
const OVER: &str = "That is over.";

/// What the person reads as an answer. Who it is was checked before.
pub(super) async fn tapped(
    notify: &Notifications,
    bot: &Bot,
    target: &Target,
    key: &Key,
    id: AlertId,
) -> Result<String, StoreError> {
    let found = notify
        .store()
        .read(move |tx| Box::pin(alerts::find(tx, id)))
        .await?;
    let (Some(alert), Target::Telegram { user }) = (found, target) else {
        return Ok(TOO_OLD.to_owned());
    };
    if key.used_at.is_some() || key.expires_at <= notify.now() {
        return Ok(TOO_OLD.to_owned());
    }
    if alert.is_over() {
        return Ok(OVER.to_owned());
    }
    let surface = bot.surface(*user);
    let ctx = owner_ctx(notify, Actor::Owner { surface })?;
    let answered = match key.meaning {
        Meaning::Mute(_) if key.revision != alert.revision => return Ok(GROWN.to_owned()),
        Meaning::Mute(lasts) => mute(notify, &ctx, key, &alert, lasts).await,
        Meaning::Unmute => unmute(notify, &ctx, key, &alert).await,
        Meaning::Ask
        | Meaning::Back
        | Meaning::Approve
        | Meaning::Reject
        | Meaning::RejectBecause(_)
        | Meaning::Details
        | Meaning::Show
        | Meaning::Test
        | Meaning::Option(_) => return Ok(TOO_OLD.to_owned()),
    };
    match answered {
        Ok(words) => Ok(words),
        Err(MuteError::Store(error)) => Err(error),
        Err(error) => Ok(text::escaped(&error.to_string())),
    }
}

async fn mute(
    notify: &Notifications,
    ctx: &Ctx,
    key: &Key,
    alert: &Alert,
    lasts: MuteFor,
) -> Result<String, MuteError> {
    let subject = alert.to_mute().ok_or(MuteError::NotFound)?;
    let wanted = NewMute {
        subject,
        until: Until::After(lasts.duration()),
        reason: REASON.to_owned(),
        key: Some(key.hash),
    };
    let mute = mutes::set(notify.control(), ctx, wanted).await?;
    let until = moment(mute.until, &notify.notifiers.zone);
    Ok(format!("Muted until {until}."))
}

/// Lifts whatever mutes something that is down in the alert.
async fn unmute(
    notify: &Notifications,
    ctx: &Ctx,
    key: &Key,
    alert: &Alert,
) -> Result<String, MuteError> {
    let covers = |mute: &Mute| {
        let mut down = alert.named.iter().filter(|one| one.is_down());
        down.any(|one| one.is_covered_by(mute))
    };
    let held: Vec<Mute> = mutes::list(notify.control()).await?;
    let held = held.iter().filter(|mute| covers(mute));
    let ids: Vec<_> = held.map(|mute| mute.id).collect();
    mutes::lift(notify.control(), ctx, &ids, Some(key.hash)).await?;
    Ok("It is told again.".to_owned())
}
