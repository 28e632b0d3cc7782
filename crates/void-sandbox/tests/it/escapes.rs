//! Every escape by its name.

use crate::houses::{House, is_root};

/// Fewer than these, and something is no longer tried.
const TRIES_MIN: usize = 130;

fn assert_none_escapes(said: &str) {
    let lines: Vec<&str> = said.lines().skip(1).collect();
    let (allowed, tries): (Vec<&str>, Vec<&str>) = lines
        .into_iter()
        .partition(|line| line.starts_with("allowed, "));
    assert!(tries.len() >= TRIES_MIN, "{} tries\n{said}", tries.len());
    let others: Vec<&&str> = tries
        .iter()
        .filter(|line| !line.ends_with(": denied"))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    let refused: Vec<&&str> = allowed
        .iter()
        .filter(|line| !line.ends_with(": done"))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    assert!(allowed.len() >= 5, "{allowed:#?}");
}

#[test]
fn a_hostile_agent_reaches_nothing_but_its_folders_and_the_server() {
    let mut house = House::of_one_user();
    let said = house.said(&["escape", "9"], &house.plan());
    assert!(said.starts_with("missing: \n"), "{said}");
    assert_none_escapes(&said);
    house.assert_untouched();
    assert!(house.path("agents/below/state/moved").exists());
}

#[test]
fn a_hostile_agent_of_its_own_user_reaches_no_more() {
    let Some(mut house) = House::of_many_users() else {
        eprintln!("not root: agents have the user of the tests");
        return;
    };
    let said = house.said(&["escape", "9"], &house.plan());
    assert_none_escapes(&said);
    house.assert_untouched();
    // What it made below itself is that agent's as well.
    use std::os::unix::fs::MetadataExt as _;
    let moved = house.path("agents/below/state/moved").metadata().unwrap();
    let state = house.path("agents/own/state").metadata().unwrap();
    assert_eq!(Some(moved.uid()), house.user);
    assert_eq!(Some(state.uid()), house.user);
}

/// The same tries without fences: they are possible here, so what was denied above was denied by them.
#[test]
fn without_a_sandbox_the_same_tries_succeed() {
    let house = House::of_one_user();
    let said = house.said(&["unconfined"], &house.plan());
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() >= 35, "{said}");
    // Only root can raise its limits.
    let others: Vec<&&str> = lines
        .iter()
        .filter(|line| !line.ends_with(": done"))
        .filter(|line| is_root() || !line.starts_with("raise its limits"))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// A server without root cannot make its agents other users, and root that does not wish to has none of its rights left.
#[test]
fn a_plan_with_a_folder_that_is_not_there_confines_nothing() {
    let house = House::of_one_user();
    for name in ["agents/nobody/state", "void.db", "agents/own/state/to-data"] {
        let mut plan = house.plan();
        plan.folders[1].path = house.path(name);
        let said = house.said(&["escape", "9"], &plan);
        let expected = format!(
            "not confined: the folder {} cannot be opened",
            house.path(name).display()
        );
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
