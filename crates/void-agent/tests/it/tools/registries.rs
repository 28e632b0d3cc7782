//! Whose tools are which, and what each may change.

use void_agent::tools::{Effect, REGISTRIES, Reach, TOOLS};
use void_domain::capabilities::Capability;

/// What every agent has, to look with.
const READING: [&str; 4] = [
    "service_status",
    "list_actions",
    "proposal_status",
    "search",
];
/// What only whoever stands above others has.
const FROM_ABOVE: [&str; 9] = [
    "start", "kill", "restart", "update", "destroy", "get_logs", "hold", "veto", "annotate",
];

/// Everybody's tools.
fn everybody_has_the_tools_that_are_theirs() {
    let names: Vec<(&str, Vec<&str>)> = REGISTRIES
        .iter()
        .map(|registry| {
            (
                registry.name,
                registry.tools.iter().map(|tool| tool.name).collect(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            (
                "blue",
                vec![
                    "service_status",
                    "list_actions",
                    "propose_action",
                    "proposal_status",
                    "withdraw_proposal",
                    "search"
                ]
            ),
            ("security", [&READING[..], &["read_record"]].concat()),
            (
                "companion",
                vec!["search", "read", "context", "propose_change"]
            ),
        ]
    );
    // What everybody did lately is there in the owner's conversations, and over MCP it is not.
    let is_in_set = |name: &str| REGISTRIES.iter().any(|set| set.get(name).is_some());
    let besides = TOOLS.iter().filter(|tool| !is_in_set(tool.name));
    let besides: Vec<&str> = besides.map(|tool| tool.name).collect();
    let of_the_tree = ["send", "recv", "wake"];
    let rest = [&["recent_activity"][..], &of_the_tree, &FROM_ABOVE].concat();
    assert_eq!(besides, rest);
}

/// Everybody's tools, and what each may change.
#[test]
fn no_tool_approves_and_only_one_proposes() {
    everybody_has_the_tools_that_are_theirs();
    let reading = [&READING[..], &["recent_activity", "read", "context"]].concat();
    for tool in TOOLS {
        let (needs, effect) = if FROM_ABOVE.contains(&tool.name) {
            assert_eq!(tool.reach, Reach::FromAbove, "{}", tool.name);
            let effect = match tool.name {
                "get_logs" => Effect::Reads,
                "hold" | "veto" | "annotate" => Effect::Brakes,
                _ => Effect::Manages,
            };
            (&[][..], effect)
        } else if reading.contains(&tool.name) {
            (&[Capability::Read][..], Effect::Reads)
        } else if tool.name == "read_record" {
            (&[Capability::AuditRead][..], Effect::Reads)
        } else if tool.name == "propose_change" {
            (&[Capability::Suggest][..], Effect::Drafts)
        } else if ["send", "recv", "wake"].contains(&tool.name) {
            // A place in the tree is what they need.
            (&[][..], Effect::Messages)
        } else if tool.name == "withdraw_proposal" {
            let either = &[Capability::Act, Capability::Suggest];
            (&either[..], Effect::Withdraws)
        } else {
            (&[Capability::Act][..], Effect::Proposes)
        };
        assert_eq!((tool.needs, tool.effect), (needs, effect), "{}", tool.name);
    }
}
