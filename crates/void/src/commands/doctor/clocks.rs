//! Clocks of other machines beside this one's. What waits expires by the server's clock, and lost runs
//! are looked for by Proxmox'.

use super::findings::Findings;

/// A few seconds do no harm, and what is compared is exact to one.
const AHEAD_MS_MAX: i64 = 5_000;

pub(super) fn compare(whose: &str, ahead_ms: i64, findings: &mut Findings) {
    let seconds = ahead_ms.unsigned_abs() / 1_000;
    if ahead_ms.unsigned_abs() <= AHEAD_MS_MAX.unsigned_abs() {
        let message = format!("{whose} and this machine agree on the time");
        findings.fine("clock", message);
        return;
    }
    let direction = if ahead_ms > 0 { "ahead of" } else { "behind" };
    findings.wrong(
        "clock",
        format!("{whose} is {seconds} s {direction} this machine"),
        "timedatectl on both: which one is wrong? then timedatectl set-ntp true there",
    );
}
