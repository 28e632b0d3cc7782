//! Clocks of other machines beside this one's. What waits expires by the server's clock, and lost runs
//! are looked for by Proxmox'.

use super::findings::Findings;

/// A few seconds do no harm, and what is compared is exact to one.
const AHEAD_MS_MAX: i64 = 5_000;

/// How this machine's clock stands to the time that is in force.
pub(in crate::commands) fn apart(ahead_s: i64) -> String {
    let direction = if ahead_s > 0 { "ahead of" } else { "behind" };
    let seconds = ahead_s.unsigned_abs();
    format!("the server's machine is {seconds} s {direction} the time that Void goes by")
}

/// The server does not follow its machine's clock.
pub(super) fn in_doubt(ahead_s: i64, in_force: &str, findings: &mut Findings) {
    let message = format!(
        "in doubt: {}; {in_force} is in force for what is new, and what would be over by the later of the two is over",
        apart(ahead_s)
    );
    findings.wrong(
        "clock",
        message,
        "timedatectl on the server: if its clock is right, void clock accept and restart; if not, set it right",
    );
}

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
