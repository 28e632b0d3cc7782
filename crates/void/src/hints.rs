//! Commands in what is said, so that they can be copied: where this one was told by a flag which server is meant, a
//! `void …` in a hint is told the same. Without it the hint would be for another Void, or for none.

use clap::CommandFactory as _;

use crate::cli::Cli;

const PROGRAM: &str = "void ";

/// The hint with every command of Void's called so.
pub(crate) fn called(hint: &str, as_typed: &str) -> String {
    let known = Cli::command();
    let is_command = |rest: &str| {
        let word = rest.split(|letter: char| !letter.is_ascii_lowercase() && letter != '-');
        let word = word.into_iter().next().unwrap_or_default();
        known.get_subcommands().any(|one| one.get_name() == word)
    };
    let mut said = String::new();
    let mut rest = hint;
    while let Some((before, after)) = rest.split_once(PROGRAM) {
        said.push_str(before);
        let is_word = said
            .chars()
            .last()
            .is_none_or(|letter| !letter.is_alphanumeric() && !"/.-_".contains(letter));
        if is_word && is_command(after) {
            said.push_str(as_typed);
            said.push(' ');
        } else {
            said.push_str(PROGRAM);
        }
        rest = after;
    }
    said.push_str(rest);
    said
}

#[cfg(test)]
mod tests {
    use super::called;

    #[test]
    fn a_hint_is_for_the_server_that_was_meant() {
        let typed = |hint| called(hint, "void --data /tmp/a");
        for (hint, expected) in [
            ("void status", "void --data /tmp/a status"),
            (
                "void serve, then void quarantine ls",
                "void --data /tmp/a serve, then void --data /tmp/a quarantine ls",
            ),
            (
                "`void setup-link` prints",
                "`void --data /tmp/a setup-link` prints",
            ),
            // Not commands of Void's.
            ("/usr/bin/void status", "/usr/bin/void status"),
            ("an approval is void then", "an approval is void then"),
            ("systemctl restart void", "systemctl restart void"),
            ("avoid status", "avoid status"),
        ] {
            assert_eq!(typed(hint), expected);
        }
    }
}
