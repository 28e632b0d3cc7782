//! Time, read in one place and compared so that a jump of the clock never helps the peer.
//!
//! Wall time can be set; time since boot cannot, but ends with the boot. A [`Moment`] holds both, and the measures
//! below take whichever is stricter (the host's part of I10).

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::answers::{Reason, Refusal};
use crate::sys;

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moment {
    pub(crate) wall_ms: u64,
    pub(crate) boot: String,
    pub(crate) up_ms: u64,
}

impl Moment {
    /// How long ago `self` was, at least: a clock set forward within one boot does not make it longer ago, a clock
    /// set back makes it just now.
    pub(crate) fn elapsed_ms(&self, now: &Self) -> u64 {
        let wall = now.wall_ms.saturating_sub(self.wall_ms);
        match self.up_until(now) {
            Some(up) => wall.min(up),
            None => wall,
        }
    }

    fn up_until(&self, now: &Self) -> Option<u64> {
        (self.boot == now.boot).then(|| now.up_ms.saturating_sub(self.up_ms))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the clock of void-act is read here and nowhere else"
)]
pub(crate) fn now() -> Result<Moment, Refusal> {
    let unreadable =
        |what: &str| Refusal::new(Reason::ClockUnreadable, format!("{what} cannot be read"));
    let wall = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(|_| unreadable("wall time"))?;
    let boot = fs::read_to_string(BOOT_ID).map_err(|_| unreadable(BOOT_ID))?;
    Ok(Moment {
        wall_ms: u64::try_from(wall.as_millis()).map_err(|_| unreadable("wall time"))?,
        boot: boot.trim_ascii().to_owned(),
        up_ms: sys::boottime_ms().map_err(|_| unreadable("time since boot"))?,
    })
}
