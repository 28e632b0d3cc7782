//! Older kernels, as far as an older Landlock makes them.

use void_sandbox::SandboxMode;

use crate::houses::House;

#[test]
fn a_kernel_that_lacks_a_fence_starts_nothing_and_says_which() {
    let house = House::of_one_user();
    for (step, missing) in [
        ("0", "files outside of its folders, emptying files"),
        ("1", "emptying files"),
        ("2", "emptying files"),
        ("3", "connections to other ports"),
        ("4", "commands to devices"),
        ("5", "signals to other processes"),
    ] {
        let said = house.said(&["escape", step], &house.plan());
        let expected = format!("not confined: the kernel cannot keep this agent from: {missing}");
        assert!(said.starts_with(&expected), "{step}: {said}");
        assert!(said.contains("processes.sandbox"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// Switched off by its name, the other fences stand, and what is open is exactly what was named.
#[test]
fn an_incomplete_sandbox_holds_what_the_kernel_has() {
    let files = [
        "read the database",
        "read the owner's token",
        "read a sibling's state",
        "list the agents",
        "list the data folder",
        "list the topology",
        "list the root folder",
        "read the accounts",
        "read its memory map",
        "list the processes",
        "read another's environment",
        "read another's command line",
        "open another's memory",
        "read through a link",
        "read through a linked folder",
        "read by steps back",
        "read by the root of its process",
        "read what is swapped under its name",
        "read by a handle of its path",
        "read by a handle of a folder",
    ];
    for (step, open) in [
        ("0", &["connect elsewhere"][..]),
        ("1", &["connect elsewhere"]),
        ("3", &["connect elsewhere"]),
        ("4", &[]),
        ("5", &[]),
    ] {
        let house = House::of_one_user();
        let mut plan = house.plan();
        plan.mode = SandboxMode::Incomplete;
        let said = house.said(&["escape", step], &plan);
        assert!(
            said.starts_with("missing: ") && !said.starts_with("missing: \n"),
            "{said}"
        );
        assert!(said.lines().count() > 100, "{said}");
        let tries = said
            .lines()
            .skip(1)
            .filter(|line| !line.starts_with("allowed, "));
        let done: Vec<&str> = tries.filter(|line| line.ends_with(": done")).collect();
        for line in done {
            let name = line.strip_suffix(": done").unwrap();
            let is_file = step == "0" && (files.contains(&name) || is_change_of_files(name));
            assert!(open.contains(&name) || is_file, "{step}: {line}");
        }
    }
}

/// Of files that the agent's user may change anyway.
fn is_change_of_files(name: &str) -> bool {
    [
        "read the passwords",
        "write the database",
        "remove the database",
        "write beside it",
        "write beside its own folder",
        "write through a link",
        "write far away",
        "write what it may read",
        "add to what it may read",
        "remove what it may read",
        "move a file out",
        "move a file in",
    ]
    .contains(&name)
}
