//! Moving an agent with everybody below it, as an owner does.

use void_domain::relations::Relation;
use void_tree::{DEPTH_MAX, Index, MoveRefusal, Relocation, Topology};

use crate::forests::{Random, Ways, Written, forest, json, name};

fn read(text: &str) -> Topology {
    let reading = Topology::read(Some(text));
    assert_eq!(reading.problems, []);
    reading.topology
}

#[test]
fn a_move_takes_along_whoever_is_below_and_nobody_else() {
    let before =
        read(r#"{"root": null, "ops": "root", "alice": "ops", "bob": "alice", "web": "root"}"#);
    let after = before.moved(&name("alice"), &name("web")).unwrap();
    assert_eq!(
        after,
        read(r#"{"root": null, "ops": "root", "alice": "web", "bob": "alice", "web": "root"}"#)
    );
    assert_eq!(
        before.relocations(&after),
        [Relocation {
            name: name("alice"),
            from: Some(name("ops")),
            to: Some(name("web"))
        }]
    );
    let index = Index::of(&after);
    assert_eq!(
        index.relation(&name("ops"), &name("bob")),
        Relation::Stranger
    );
    assert_eq!(
        index.relation(&name("web"), &name("bob")),
        Relation::Ancestor { depth: 2 }
    );
    assert_eq!(after.moved(&name("alice"), &name("ops")).unwrap(), before);
}

#[test]
fn what_would_break_the_tree_is_refused_and_says_why() {
    let tree = read(r#"{"root": null, "a": "root", "b": "a", "c": "b", "d": "root"}"#);
    let refused = |one: &str, parent: &str| tree.moved(&name(one), &name(parent)).unwrap_err();
    let cycle = |one: &str, parent: &str| MoveRefusal::Cycle {
        name: name(one),
        parent: name(parent),
    };
    assert_eq!(refused("a", "b"), cycle("a", "b"));
    assert_eq!(refused("a", "c"), cycle("a", "c"));
    assert_eq!(refused("a", "a"), MoveRefusal::Itself);
    assert_eq!(refused("root", "a"), MoveRefusal::Root);
    assert_eq!(refused("root", "root"), MoveRefusal::Root);
    assert_eq!(
        refused("a", "nobody"),
        MoveRefusal::NoPosition(name("nobody"))
    );
    assert_eq!(
        refused("nobody", "a"),
        MoveRefusal::NoPosition(name("nobody"))
    );
    let already = MoveRefusal::Already {
        name: name("a"),
        parent: name("root"),
    };
    assert_eq!(refused("a", "root"), already);
    assert_eq!(
        Topology::empty().moved(&name("a"), &name("root")),
        Err(MoveRefusal::NoPosition(name("a")))
    );
}

#[test]
fn nobody_is_moved_deeper_than_the_bound() {
    let mut written = Written::from([("root".to_owned(), vec![None])]);
    for depth in 1..=usize::from(DEPTH_MAX) {
        let parent = if depth == 1 {
            "root".to_owned()
        } else {
            "n".repeat(depth - 1)
        };
        written.insert("n".repeat(depth), vec![Some(parent)]);
    }
    written.insert("pair".to_owned(), vec![Some("root".to_owned())]);
    written.insert("tail".to_owned(), vec![Some("pair".to_owned())]);
    let tree = read(&json(&written));
    let deep = |depth: usize| name(&"n".repeat(depth));
    assert!(tree.moved(&name("pair"), &deep(62)).is_ok());
    assert_eq!(
        tree.moved(&name("pair"), &deep(63)),
        Err(MoveRefusal::TooDeep(name("tail")))
    );
    assert_eq!(
        tree.moved(&name("tail"), &deep(64)),
        Err(MoveRefusal::TooDeep(name("tail")))
    );
}

/// Thousands of moves: each is done or refused as the walk says, and the tree stays sound.
#[test]
fn random_moves_are_done_exactly_where_a_walk_allows_them() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut written = forest(&mut random, 60);
        let mut tree = read(&json(&written));
        let names: Vec<String> = written.keys().cloned().collect();
        for _ in 0..60 {
            let (one, parent) = (random.pick(&names).clone(), random.pick(&names).clone());
            let is_free = one != "root"
                && !matches!(
                    Ways::of(&written).relation(&one, &parent),
                    Relation::Same | Relation::Ancestor { .. }
                )
                && written[&one] != [Some(parent.clone())];
            match tree.moved(&name(&one), &name(&parent)) {
                Ok(moved) => {
                    assert!(is_free, "seed {seed}: {one} under {parent}");
                    written.insert(one, vec![Some(parent)]);
                    tree = moved;
                    done += 1;
                }
                Err(error) => {
                    assert!(!is_free, "seed {seed}: {error}");
                    refused += 1;
                }
            }
            assert_eq!(tree, read(&json(&written)));
            let ways = Ways::of(&written);
            assert!(names.iter().all(|one| ways.leads(one)));
        }
    }
    assert!(done > 500 && refused > 500, "{done} {refused}");
}
