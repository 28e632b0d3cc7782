//! Whether the `claude` program, where an agent thinks with it, can run here: it makes code as it goes, and a service may forbid that.

use void_control::agent_processes::is_making_code_refused;

use super::findings::Findings;
use crate::commands::Session;
use crate::settings::BrainKind;

pub(super) const CHECK: &str = "claude";
const NEXT: &str = "put deploy/void-claude.conf (MemoryDenyWriteExecute=no) into /etc/systemd/system/void.service.d/, then \
                    systemctl daemon-reload and systemctl restart void";

/// Nothing is said where no agent thinks with it.
pub(super) fn check(session: &Session<'_>, findings: &mut Findings) {
    let mut agents = session.settings.agents.values();
    if !agents.any(|agent| agent.brain.value == BrainKind::Claude) {
        return;
    }
    if is_making_code_refused() {
        findings.warn(
            CHECK,
            "the claude program makes code as it runs, and the service around Void forbids that, so it may end at once",
            NEXT,
        );
    } else {
        findings.fine(CHECK, "the claude program may make code as it runs");
    }
}
