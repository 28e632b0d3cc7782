//! Whoever comes and goes, and what stays where the owner put it.

use std::collections::BTreeSet;

use void_domain::agents::AgentName;
use void_domain::relations::Relation;
use void_tree::{Index, MEMBERS_MAX, Topology, TreeProblem};

use crate::forests::{Random, forest, json, name};

fn read(text: &str) -> Topology {
    let reading = Topology::read(Some(text));
    assert_eq!(reading.problems, []);
    reading.topology
}

fn members(names: &[&str]) -> BTreeSet<AgentName> {
    names.iter().map(|one| name(one)).collect()
}

fn reconciled(tree: &Topology, names: &[&str]) -> Topology {
    let reconciled = tree.reconciled(&members(names));
    assert_eq!(reconciled.problems, []);
    reconciled.topology
}

#[test]
fn whoever_is_new_stands_under_the_root_and_the_root_is_always_there() {
    let fresh = reconciled(&Topology::empty(), &["little-blue", "sentinel"]);
    assert_eq!(
        fresh,
        read(r#"{"root": null, "little-blue": "root", "sentinel": "root"}"#)
    );
    assert_eq!(reconciled(&fresh, &["little-blue", "sentinel"]), fresh);
    assert_eq!(reconciled(&Topology::empty(), &[]), Topology::of_root());
    assert_eq!(
        reconciled(&Topology::empty(), &["root"]),
        Topology::of_root()
    );
}

#[test]
fn what_the_owner_arranged_stays() {
    let owners = read(r#"{"root": null, "a": "root", "b": "a", "c": "b"}"#);
    let after = reconciled(&owners, &["a", "b", "c", "d"]);
    assert_eq!(
        after,
        read(r#"{"root": null, "a": "root", "b": "a", "c": "b", "d": "root"}"#)
    );
}

/// The children of whoever is gone stand under the root. Whoever has the name later gets neither them nor the place.
#[test]
fn whoever_goes_leaves_nothing_to_whoever_has_the_name_later() {
    let before = read(r#"{"root": null, "ops": "root", "a": "ops", "b": "a", "c": "b"}"#);
    let without = reconciled(&before, &["ops", "b", "c"]);
    assert_eq!(
        without,
        read(r#"{"root": null, "ops": "root", "b": "root", "c": "b"}"#)
    );
    let again = reconciled(&without, &["ops", "a", "b", "c"]);
    assert_eq!(
        again,
        read(r#"{"root": null, "ops": "root", "a": "root", "b": "root", "c": "b"}"#)
    );
    let index = Index::of(&again);
    assert_eq!(index.relation(&name("a"), &name("b")), Relation::Sibling);
    assert_eq!(index.relation(&name("ops"), &name("c")), Relation::Stranger);
}

#[test]
fn whoever_reads_like_somebody_gets_no_position() {
    let before = read(r#"{"root": null, "alice": "root"}"#);
    let after = before.reconciled(&members(&["alice", "a1ice", "r00t", "bob"]));
    assert_eq!(
        after.topology,
        read(r#"{"root": null, "alice": "root", "bob": "root"}"#)
    );
    let alike = |one: &str, other: &str| TreeProblem::ReadsLike {
        name: name(one),
        other: name(other),
    };
    assert_eq!(
        after.problems,
        [alike("a1ice", "alice"), alike("r00t", "root")]
    );
    // Of two that come at once neither displaces somebody who was there, and one of them gets in.
    let both = before.reconciled(&members(&["alice", "bob", "b0b"]));
    assert_eq!(both.topology.len(), 3);
    assert_eq!(both.problems, [alike("bob", "b0b")]);
}

/// A name for each number, none of which reads like another.
fn numbered(number: usize) -> AgentName {
    let letters = b"acdefghjkpqtuxyz";
    let digits = (0..4).map(|at| char::from(letters[number >> (4 * at) & 15]));
    name(&digits.collect::<String>())
}

#[test]
fn a_tree_holds_so_many_and_no_more() {
    let others: BTreeSet<AgentName> = (1..MEMBERS_MAX).map(numbered).collect();
    let full = Topology::empty().reconciled(&others);
    assert_eq!(
        (full.topology.len(), full.problems),
        (MEMBERS_MAX, Vec::new())
    );
    let late = name("zz-late");
    let more = others.iter().cloned().chain([late.clone()]).collect();
    let over = full.topology.reconciled(&more);
    assert_eq!(over.topology, full.topology);
    assert_eq!(over.problems, [TreeProblem::TooMany(late)]);
}

/// At random: the tree has exactly the members, nobody who stays is moved unless their parent went, and nobody has a
/// new ancestor but the root.
#[test]
fn nobody_gains_anybody_by_another_ones_end() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let before = read(&json(&forest(&mut random, 60)));
        let staying: BTreeSet<AgentName> = before
            .entries()
            .map(|(name, _)| name.clone())
            .filter(|_| random.below(3) > 0)
            .collect();
        let after = before.reconciled(&staying);
        assert_eq!(after.problems, []);
        let (index_before, index_after) = (Index::of(&before), Index::of(&after.topology));
        for one in &staying {
            assert!(after.topology.has(one));
            let above = after.topology.ancestors(one);
            for above in above.filter(|above| above.as_str() != "root") {
                let was = index_before.relation(above, one);
                assert!(
                    matches!(was, Relation::Ancestor { .. }),
                    "seed {seed}: {above} over {one}"
                );
            }
            let parent = before
                .parent(one)
                .filter(|parent| staying.contains(*parent));
            if let Some(parent) = parent {
                assert_eq!(after.topology.parent(one), Some(parent));
            }
        }
        assert_eq!(
            index_after.len(),
            staying.len() + usize::from(!staying.contains(&name("root")))
        );
    }
}
