//! `docs/settings.md`, made from the table; `void config docs` prints it.

use super::brains::BrainKind;
use super::rows::{Fallback, Kind, Row, Variable};
use super::table::{GROUPS, OTHER_VARIABLES};
use super::variables;

const HEAD: &str = "\
# Settings

<!-- Made by `void config docs > docs/settings.md` from crates/void/src/settings/table.rs: change it there. -->

Flag, then environment, then `void.toml` (in the data folder, or `--config`), then default. `void config show` prints every value
with its source, `void config check` names everything that is wrong with file, line and the name that was likely meant. Unknown keys
are errors. A variable that is set and empty counts as not set.

`ssh.key` is `key` in the table `[ssh]`; `agents.NAME.…` is a table for each agent, such as `[agents.little-blue]`, and
`notify.webhooks.N.…` one for each `[[notify.webhooks]]`. Paths in the file are seen from its folder; those behind `file:` have to be
whole.

A secret never stands in the file: `env:NAME`, `file:PATH`, `credential:NAME` (systemd) or `exec:PROGRAM WORD…` says where it is. A
program is named by its whole path and prints the secret, such as `exec:/usr/bin/pass show void/proxmox`; it is started without a shell
and has to end within 20 seconds. Its own variable holds the secret itself. Nothing prints a secret.

The variables of agents are defaults for all of them: what an agent's own table says wins.
";

pub(crate) fn page() -> String {
    let mut page = HEAD.to_owned();
    for group in &GROUPS {
        page.push_str(&format!(
            "\n## {}\n\n| setting | environment | default | what it is |\n|---|---|---|---|\n",
            group.title
        ));
        for row in group.rows {
            page.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                name(row),
                environment(row.variable),
                default(row.fallback),
                meaning(row)
            ));
        }
    }
    page.push_str("\n## Variables that are no settings\n\n| variable | what it is |\n|---|---|\n");
    for (name, help) in OTHER_VARIABLES {
        page.push_str(&format!("| `{name}` | {help} |\n"));
    }
    page
}

fn name(row: &Row) -> String {
    match (row.is_in_file, row.flag) {
        (true, None) => format!("`{}`", row.key),
        (true, Some(flag)) => format!("`{}`, `{flag}`", row.key),
        (false, Some(flag)) => format!("`{flag}`"),
        (false, None) => "not in the file".to_owned(),
    }
}

fn environment(variable: Variable) -> String {
    let names = variables::names(variable);
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn default(fallback: Fallback) -> String {
    match fallback {
        Fallback::Nothing("-") => "none".to_owned(),
        Fallback::Nothing(words) => words.to_owned(),
        Fallback::Text(text) => format!("`{text}`"),
        Fallback::Number(number) => number.to_string(),
        Fallback::Bool(value) => value.to_string(),
        Fallback::InData(name) => format!("`{name}` in the data folder"),
        Fallback::DataFolder => "`$XDG_DATA_HOME/void`, or `~/.local/share/void`".to_owned(),
        Fallback::OfBrain(of) => {
            let texts = BrainKind::by_text(of).into_iter();
            let words = texts.map(|(text, brains)| format!("`{text}` ({})", brains.join(", ")));
            words.collect::<Vec<_>>().join(", ")
        }
        Fallback::Required => "has to be there".to_owned(),
    }
}

/// The help, with what a value may be where that does not go without saying.
fn meaning(row: &Row) -> String {
    let help = row.help;
    match row.kind {
        Kind::Secret => format!("{help} (secret)"),
        Kind::Number { min, max } if max < u64::MAX => format!("{help} ({min} to {max})"),
        Kind::Number { .. } | Kind::Price | Kind::Brain | Kind::Bool => {
            format!("{help} ({})", row.kind.words())
        }
        Kind::Texts | Kind::UserIds | Kind::Guests | Kind::Hosts | Kind::Protected => {
            format!("{help} (a list)")
        }
        Kind::Text
        | Kind::Url
        | Kind::Path
        | Kind::Program
        | Kind::Address
        | Kind::InstanceName
        | Kind::TimeZone => help.to_owned(),
    }
}
