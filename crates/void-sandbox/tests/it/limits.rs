//! How much of the machine one agent can take.

use std::os::unix::process::ExitStatusExt as _;

use crate::houses::House;

#[test]
fn memory_ends_at_its_limit() {
    let house = House::of_one_user();
    assert_eq!(house.said(&["fills"], &house.plan()), "denied\n");
}

#[test]
fn a_file_ends_at_its_limit_and_its_writer_with_it() {
    let house = House::of_one_user();
    let plan = house.plan();
    let ran = house.run(&["grows"], &plan);
    assert_eq!(ran.status.signal(), Some(libc::SIGXFSZ), "{ran:?}");
    let grown = house.path("agents/own/state/grown").metadata().unwrap();
    assert_eq!(grown.len(), plan.limits.file_bytes);
}
