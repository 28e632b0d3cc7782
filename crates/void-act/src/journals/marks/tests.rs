use std::os::unix::fs::PermissionsExt;

use super::*;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

fn names(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn at(wall_ms: u64, boot: &str, up_ms: u64) -> Moment {
    let boot = boot.to_owned();
    Moment {
        wall_ms,
        boot,
        up_ms,
    }
}

#[test]
fn the_greatest_counts_and_the_rest_goes() {
    let folder = folder();
    let dir = folder.path();
    for name in [
        "forgotten_5",
        "forgotten_70",
        "forgotten_6",
        "full_3",
        "pruned_2_100",
        "pruned_3_200",
        "forgotten_",
        "forgotten_-1",
        "pruned_999_1",
        "other",
    ] {
        create(dir, name).unwrap();
    }
    let marks = Marks::read(dir).unwrap();
    assert_eq!(marks.forgotten_ms, Some(70));
    assert_eq!(
        marks.pruned,
        Some(Pruned {
            folder: 3,
            at_s: 200
        })
    );
    assert!(marks.is_full(3) && !marks.is_full(2));
    marks.remove_stale(dir);
    let left = [
        "forgotten_",
        "forgotten_-1",
        "forgotten_70",
        "full_3",
        "other",
        "pruned_3_200",
        "pruned_999_1",
    ];
    assert_eq!(names(dir), left);
}

/// I10: what a boot has seen of the time is the least that it can be.
#[test]
fn a_clock_set_back_is_found_out_by_the_boot_that_saw_it() {
    let folder = folder();
    let dir = folder.path();
    let seen = |now: &Moment| Marks::read(dir).unwrap().wall_ms_at_least(now);
    assert_eq!(seen(&at(50, "b", 9)), 50);
    let raise = |now: &Moment| Marks::read(dir).unwrap().raise_clock(dir, now).unwrap();
    raise(&at(10_000, "b", 1_000));
    raise(&at(10_000, "b", 2_000));
    assert_eq!(names(dir), ["clock_9000_b"]);
    assert_eq!(seen(&at(0, "b", 5_000)), 14_000);
    assert_eq!(seen(&at(20_000, "b", 5_000)), 20_000);
    assert_eq!(seen(&at(3, "c", 5_000)), 3);
    raise(&at(90_000, "b", 3_000));
    assert_eq!(names(dir), ["clock_87000_b"]);
    // Time since boot may be the longer one.
    raise(&at(5, "c", 9));
    assert_eq!(seen(&at(0, "c", 11)), 7);
}

#[test]
fn a_slower_process_takes_nothing_back() {
    let folder = folder();
    let dir = folder.path();
    let (slow, fast) = (Marks::read(dir).unwrap(), Marks::read(dir).unwrap());
    fast.raise_clock(dir, &at(90_000, "b", 0)).unwrap();
    slow.raise_clock(dir, &at(10_000, "b", 0)).unwrap();
    let now = at(0, "b", 1);
    assert_eq!(Marks::read(dir).unwrap().wall_ms_at_least(&now), 90_001);
    let (mut slow, mut fast) = (Marks::read(dir).unwrap(), Marks::read(dir).unwrap());
    fast.raise_forgotten(dir, 9).unwrap();
    slow.raise_forgotten(dir, 5).unwrap();
    assert_eq!(Marks::read(dir).unwrap().forgotten_ms, Some(9));
}

/// Where no file can be made, the name is given to a mark that is there.
#[test]
fn a_mark_is_raised_where_no_file_can_be_made() {
    let folder = folder();
    let dir = folder.path();
    let pruned = Pruned { folder: 1, at_s: 5 };
    let missing = dir.join("missing");
    let mut marks = Marks::default();
    assert!(marks.raise_forgotten(&missing, 7).is_err());
    assert_eq!(marks.forgotten_ms, None);
    create(dir, pruned.name()).unwrap();
    let mut marks = Marks::read(dir).unwrap();
    marks.add_other_name(dir, 7).unwrap();
    assert_eq!(names(dir), ["forgotten_7", "pruned_1_5"]);
    marks = Marks::read(dir).unwrap();
    fs::remove_file(dir.join(pruned.name())).unwrap();
    marks.add_other_name(dir, 9).unwrap();
    assert_eq!(names(dir), ["forgotten_7", "forgotten_9"]);
    assert_eq!(Marks::read(dir).unwrap().forgotten_ms, Some(9));
    // Nothing is there that could have another name.
    let empty = Marks::default();
    assert!(empty.add_other_name(dir, 11).is_err());
    assert_eq!(names(dir), ["forgotten_7", "forgotten_9"]);
}

#[test]
fn a_folder_that_others_reach_or_that_holds_too_much_is_not_believed() {
    let folder = folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o750)).unwrap();
    assert!(Marks::read(folder.path()).is_err());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    for number in 0..=MARKS_MAX {
        create(folder.path(), format!("x{number}")).unwrap();
    }
    assert!(Marks::read(folder.path()).is_err());
}
