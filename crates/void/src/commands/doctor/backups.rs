//! Backups: switched on, and made lately.

use std::time::Duration;

use void_control::{Clock, backups};

use super::findings::Findings;
use crate::commands::Session;

/// One is made a day; after two, something keeps it from being made.
const AGE_MAX: Duration = Duration::from_secs(2 * 24 * 60 * 60);

pub(super) fn check(session: &Session<'_>, findings: &mut Findings) {
    let settings = &session.settings;
    // PostgreSQL has its own.
    if settings.database_url.value.is_some() {
        return;
    }
    if !settings.backups.value {
        let next = "set backups.enabled, or copy the data folder yourself";
        findings.warn("backups", "they are switched off", next);
        return;
    }
    let newest = backups::list_in(&settings.backups_folder.value);
    let Some(newest) = newest.first() else {
        findings.warn("backups", "there is none yet", "void backup create");
        return;
    };
    let made_at = session.output.times.clock(&newest.made_at.to_string());
    let message = format!("the newest is from {made_at}");
    if Clock::system().now().since(newest.made_at) > AGE_MAX {
        findings.wrong(
            "backups",
            message,
            "void backup create; it says why if it cannot",
        );
    } else {
        findings.fine("backups", message);
    }
}
