//! How two stand to each other, against the walk.

use void_domain::agents::AgentName;
use void_domain::relations::Relation;
use void_tree::{Index, Intervals, Topology};

use crate::forests::{Random, Ways, Written, everybody, forest, json, name, spoil};

const FORESTS: u64 = 400;
const AGENTS: usize = 60;

fn compare(seed: u64, written: &Written) -> usize {
    let reading = Topology::read(Some(&json(written)));
    let index = Index::of(&reading.topology);
    let (names, ways) = (everybody(written), Ways::of(written));
    let mut compared = 0;
    for actor in &names {
        for target in &names {
            let walked = ways.relation(actor.as_str(), target.as_str());
            let found = index.relation(actor, target);
            assert_eq!(
                found,
                walked,
                "seed {seed}: {actor} to {target} in {}",
                json(written)
            );
            compared += 1;
        }
        let below = names.iter().filter(|other| {
            matches!(
                ways.relation(actor.as_str(), other.as_str()),
                Relation::Ancestor { .. }
            )
        });
        let mut found: Vec<&AgentName> = index.descendants(actor).iter().collect();
        found.sort();
        assert_eq!(
            found,
            below.collect::<Vec<_>>(),
            "seed {seed}: below {actor}"
        );
    }
    // Whoever stands there and has no way to the root is told of, and a root that is missing; nobody else is.
    let lost = written.keys().any(|name| !ways.leads(name)) || !ways.leads("root");
    assert_eq!(
        lost,
        !reading.problems.is_empty(),
        "seed {seed}: {:?}",
        reading.problems
    );
    compared
}

#[test]
fn relations_are_those_of_a_walk() {
    let mut compared = 0;
    for seed in 0..FORESTS {
        let mut random = Random(seed);
        let mut written = forest(&mut random, AGENTS);
        compared += compare(seed, &written);
        for _ in 0..random.below(6) {
            spoil(&mut random, &mut written);
        }
        compared += compare(seed, &written);
    }
    assert!(compared >= 50_000, "{compared}");
}

#[test]
fn a_chain_of_the_greatest_depth_has_its_depths() {
    let chain: Written = (0..=64)
        .map(|depth: u32| {
            let named = |depth: u32| match depth {
                0 => "root".to_owned(),
                _ => "n".repeat(usize::try_from(depth).unwrap()),
            };
            (named(depth), vec![depth.checked_sub(1).map(named)])
        })
        .collect();
    compare(0, &chain);
    let reading = Topology::read(Some(&json(&chain)));
    assert_eq!(reading.problems, []);
    let index = Index::of(&reading.topology);
    let deepest = name(&"n".repeat(64));
    let above = index.relation(&name("root"), &deepest);
    assert_eq!(above, Relation::Ancestor { depth: 64 });
    assert_eq!(
        index.relation(&deepest, &name("root")),
        Relation::Descendant { depth: 64 }
    );
}

#[test]
fn a_position_means_nothing_in_another_index() {
    let one = Topology::read(Some(r#"{"root":null,"alice":"root","bob":"alice"}"#)).topology;
    let (before, after) = (Index::of(&one), Index::of(&one));
    let above = before.position(&name("alice")).unwrap();
    let below = after.position(&name("bob")).unwrap();
    assert_eq!(above.relation_to(below), Relation::Stranger);
    assert!(!above.is_above(below));
    assert!(above.is_above(before.position(&name("bob")).unwrap()));
}

/// The numbers alone, without names and deeper than a tree of agents may be.
#[test]
fn intervals_hold_for_any_shape() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let count = 1 + random.below(60);
        let shape = random.below(3);
        let parents: Vec<u32> = (0..count)
            .map(|at| match (at, shape) {
                (0, _) => 0,
                (_, 0) => u32::try_from(at - 1).unwrap(),
                (_, 1) => 0,
                _ => u32::try_from(random.below(at)).unwrap(),
            })
            .collect();
        let (intervals, indexes) = Intervals::of(&parents);
        assert_eq!((intervals.len(), indexes.len()), (count, count));
        let is_above = |one: u32, other: u32| {
            let mut at = other;
            while at != 0 {
                at = parents[usize::try_from(at).unwrap()];
                if at == one {
                    return true;
                }
            }
            false
        };
        for (number, index) in (0..).zip(&indexes) {
            for (other_number, other) in (0..).zip(&indexes) {
                let found = intervals.is_above(number, other_number);
                assert_eq!(found, is_above(*index, *other), "seed {seed}: {parents:?}");
            }
        }
    }
    assert!(Intervals::of(&[]).0.is_empty());
    let (loose, indexes) = Intervals::of(&[0, 0, 3, 2]);
    assert_eq!(
        (loose.len(), indexes),
        (2, vec![0, 1]),
        "a cycle has no number"
    );
    assert!(!loose.is_above(0, 2) && !loose.is_above(2, 3));
}
