//! Keys: what a button or a notification sends back. A key is random, says nothing, is bound to one
//! place, to one proposal with its digest or to one alert, to the revision that was shown and to one
//! meaning, and is stored as a hash.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use void_domain::alerts::Alert;
use void_domain::digests::Digest;
use void_domain::notifications::{About, Key, Meaning, Target};
use void_domain::proposals::{Decision, Proposal};
use void_domain::questions::Question;
use void_domain::time::Timestamp;
use void_store::notifications::keys;
use void_store::{StoreError, Tx};

use crate::control::Control;
use crate::random;

/// Says which form the rest has. Telegram takes 64 bytes of data; this is 23.
const VERSION: &str = "1";
const KEY_BYTES_MAX: usize = 64;
/// The second button is armed for this long.
pub const ARMED_FOR: Duration = Duration::from_secs(30);

fn hash(text: &str) -> Option<Digest> {
    let known = text.len() <= KEY_BYTES_MAX && text.starts_with(VERSION);
    known.then(|| Digest::of(text.as_bytes()))
}

/// What buttons are made for.
#[derive(Clone, Copy)]
pub enum Subject<'a> {
    /// A test message.
    Nothing,
    Proposal(&'a Proposal),
    Alert(&'a Alert),
    Question(&'a Question),
}

impl Subject<'_> {
    const fn about(self) -> About {
        match self {
            Self::Nothing => About::Nothing,
            Self::Proposal(proposal) => About::Proposal(proposal.id, proposal.subject.digest),
            Self::Alert(alert) => About::Alert(alert.id),
            Self::Question(question) => About::Question(question.id),
        }
    }

    const fn revision(self) -> u64 {
        match self {
            Self::Nothing | Self::Question(_) => 0,
            Self::Proposal(proposal) => proposal.revision,
            Self::Alert(alert) => alert.revision,
        }
    }
}

/// New keys for these meanings, in their order.
pub async fn mint(
    control: &Control,
    target: &Target,
    subject: Subject<'_>,
    meanings: &[Meaning],
) -> Result<Vec<String>, StoreError> {
    let now = control.clock.now();
    let (mut texts, mut made) = (Vec::new(), Vec::new());
    for meaning in meanings {
        let random: [u8; 16] = random::bytes()?;
        let text = format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(random));
        made.push(Key {
            hash: Digest::of(text.as_bytes()),
            target: target.clone(),
            about: subject.about(),
            revision: subject.revision(),
            meaning: *meaning,
            created_at: now,
            expires_at: expiry(now, subject, *meaning),
            used_at: None,
        });
        texts.push(text);
    }
    control
        .store
        .write_closing(move |tx| {
            Box::pin(async move {
                for key in &made {
                    keys::insert(tx, key).await?;
                }
                Ok::<_, StoreError>(())
            })
        })
        .await?;
    Ok(texts)
}

/// No key outlives what it is about by more than a day, in which it says what became of it.
fn expiry(now: Timestamp, subject: Subject<'_>, meaning: Meaning) -> Timestamp {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    match (subject, meaning) {
        (Subject::Proposal(proposal), Meaning::Approve) => {
            now.plus(ARMED_FOR).min(proposal.expires_at)
        }
        (Subject::Proposal(proposal), _) => proposal.expires_at.max(now).plus(DAY),
        // An outage may last; its message is not made anew for its buttons.
        (Subject::Alert(_), _) => now.plus(7 * DAY),
        (Subject::Question(question), _) => question.expires_at.max(now).plus(DAY),
        (Subject::Nothing, _) => now.plus(DAY),
    }
}

/// A key for an approval that no second tap comes before: it lasts as long as the proposal.
pub async fn mint_approval(
    control: &Control,
    target: &Target,
    proposal: &Proposal,
) -> Result<String, StoreError> {
    let random: [u8; 32] = random::bytes()?;
    let text = format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(random));
    let key = Key {
        hash: Digest::of(text.as_bytes()),
        target: target.clone(),
        about: About::Proposal(proposal.id, proposal.subject.digest),
        revision: proposal.revision,
        meaning: Meaning::Approve,
        created_at: control.clock.now(),
        expires_at: proposal.expires_at,
        used_at: None,
    };
    control
        .store
        .write_closing(move |tx| Box::pin(async move { keys::insert(tx, &key).await }))
        .await?;
    Ok(text)
}

pub async fn find(control: &Control, text: &str) -> Result<Option<Key>, StoreError> {
    let Some(hash) = hash(text) else {
        return Ok(None);
    };
    control
        .store
        .read(move |tx| Box::pin(keys::find(tx, hash)))
        .await
}

/// Uses a key up for a decision about this very proposal, as it was when the key was made. Called in
/// the decision's own transaction.
pub(crate) async fn spend(
    tx: &mut Tx,
    hash: Digest,
    proposal: &Proposal,
    answer: Decision,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let Some(key) = keys::find(tx, hash).await? else {
        return Ok(false);
    };
    let means_it = match answer {
        Decision::Approve => key.meaning == Meaning::Approve,
        Decision::Reject => matches!(key.meaning, Meaning::RejectBecause(_)),
    };
    let fits = key.about == About::Proposal(proposal.id, proposal.subject.digest)
        && key.created_at >= proposal.created_at;
    Ok(means_it && fits && keys::use_up(tx, hash, now).await?)
}

/// Forgets keys that could not even tell any more what became of something.
pub(crate) async fn forget_old(control: &Control) -> Result<(), StoreError> {
    if !control.listeners.outbox.tells() {
        return Ok(());
    }
    let now = control.clock.now();
    control
        .store
        .write_closing(move |tx| Box::pin(async move { keys::forget(tx, now).await.map(|_| ()) }))
        .await
}
