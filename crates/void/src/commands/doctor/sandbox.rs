//! Whether an agent process can be confined here.

use void_control::agent_processes::{Fence, Kernel, SandboxMode, refused_calls};

use super::findings::Findings;
use super::process::UNIT_NEXT;
use crate::commands::Session;

pub(super) const CHECK: &str = "sandbox";

pub(super) fn check(session: &Session<'_>, findings: &mut Findings) {
    let refused = refused_calls();
    if !refused.is_empty() {
        let refused = refused.join(", ");
        let message = format!(
            "no agent process starts: a filter of system calls around Void refuses {refused}"
        );
        findings.warn(CHECK, message, UNIT_NEXT);
        return;
    }
    judge(
        &Kernel::of_this_machine().missing(),
        session.settings.processes.mode,
        findings,
    );
}

fn judge(missing: &[Fence], mode: SandboxMode, findings: &mut Findings) {
    let words: Vec<&str> = missing.iter().map(|fence| fence.words()).collect();
    let words = words.join(", ");
    match (missing, mode) {
        ([], _) => findings.fine(
            CHECK,
            "agent processes reach their folders and the server, and nothing else",
        ),
        (_, SandboxMode::Full) => findings.warn(
            CHECK,
            format!("no agent process starts: this kernel cannot keep one from {words}"),
            "use Linux 6.12 or newer with Landlock; or processes.sandbox = \"incomplete\" in void.toml",
        ),
        (_, SandboxMode::Incomplete) => findings.warn(
            CHECK,
            format!("agent processes start without all of their sandbox: this kernel cannot keep one from {words}"),
            "on Linux 6.12 or newer take processes.sandbox out of void.toml",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::findings::Level;
    use super::*;

    #[test]
    fn what_is_open_is_named_whether_agents_start_or_not() {
        for (missing, mode, level, said) in [
            (vec![], SandboxMode::Full, Level::Fine, "nothing else"),
            (vec![], SandboxMode::Incomplete, Level::Fine, "nothing else"),
            (
                vec![Fence::Network],
                SandboxMode::Full,
                Level::Warning,
                "no agent process starts",
            ),
            (
                vec![Fence::Network, Fence::Others],
                SandboxMode::Incomplete,
                Level::Warning,
                "without all",
            ),
        ] {
            let mut findings = Findings::default();
            judge(&missing, mode, &mut findings);
            let [found] = findings.0.as_slice() else {
                panic!("one finding");
            };
            assert_eq!(found.level, level);
            assert!(found.message.contains(said), "{}", found.message);
            for fence in missing {
                assert!(found.message.contains(fence.words()), "{}", found.message);
            }
        }
    }
}
