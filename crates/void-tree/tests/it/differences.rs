//! What a move changes, against comparing everybody with everybody.

use std::collections::{BTreeMap, BTreeSet};

use void_domain::agents::AgentName;
use void_domain::capabilities::Capabilities;
use void_tree::{
    AgentKind, Index, Listed, Operation, Right, Standing, Topology, difference, right,
};

use crate::forests::{Random, forest, json, name};

type One = (AgentName, AgentName, Operation, Right, Right);

fn facts(random: &mut Random, tree: &Topology) -> BTreeMap<AgentName, (AgentKind, Capabilities)> {
    let mut fact = || {
        let kind = *random.pick(&[AgentKind::Process, AgentKind::Process, AgentKind::Resident]);
        (kind, random.capabilities())
    };
    tree.entries()
        .map(|(name, _)| (name.clone(), fact()))
        .collect()
}

fn compared(
    before: &Index,
    after: &Index,
    facts: &BTreeMap<AgentName, (AgentKind, Capabilities)>,
) -> BTreeSet<One> {
    let mut found = BTreeSet::new();
    for (who, (_, capabilities)) in facts {
        for (over, (target, _)) in facts {
            for operation in Operation::ALL {
                let judged = |index: &Index| {
                    let relation = index.relation(who, over);
                    right(
                        operation,
                        Standing {
                            relation,
                            target: *target,
                            listed: Listed::No,
                            capabilities,
                        },
                    )
                };
                let (from, to) = (judged(before), judged(after));
                if from != to {
                    found.insert((who.clone(), over.clone(), operation, from, to));
                }
            }
        }
    }
    found
}

#[test]
fn the_difference_is_what_comparing_everybody_finds() {
    let mut changes = 0;
    for seed in 0..150 {
        let mut random = Random(seed);
        let before = Topology::read(Some(&json(&forest(&mut random, 40)))).topology;
        let names: Vec<AgentName> = before.entries().map(|(name, _)| name.clone()).collect();
        let (one, parent) = (random.pick(&names), random.pick(&names));
        let Ok(after) = before.moved(one, parent) else {
            continue;
        };
        let facts = facts(&mut random, &before);
        let (before, after) = (Index::of(&before), Index::of(&after));
        let said = difference(
            &before,
            &after,
            one,
            |name| {
                let (kind, capabilities) = &facts[name];
                (*kind, capabilities)
            },
            |_, _| Listed::No,
        );
        let mut flat = BTreeSet::new();
        for change in &said {
            for who in &change.who {
                for over in &change.over {
                    for shift in &change.shifts {
                        let new = flat.insert((
                            who.clone(),
                            over.clone(),
                            shift.operation,
                            shift.from,
                            shift.to,
                        ));
                        assert!(new, "seed {seed}: said twice");
                    }
                }
            }
        }
        assert_eq!(
            flat,
            compared(&before, &after, &facts),
            "seed {seed}: {one} under {parent}"
        );
        changes += flat.len();
    }
    assert!(changes > 1_000, "{changes}");
}

#[test]
fn who_gains_and_who_loses_is_said_once_for_all_of_whom_it_is_true() {
    let tree = r#"{"root": null, "ops": "root", "web": "root", "alice": "ops", "bob": "alice", "carol": "ops"}"#;
    let before = Topology::read(Some(tree)).topology;
    let after = before.moved(&name("alice"), &name("web")).unwrap();
    let none = Capabilities::none();
    let said = difference(
        &Index::of(&before),
        &Index::of(&after),
        &name("alice"),
        |_| (AgentKind::Process, &none),
        |_, _| Listed::No,
    );
    let lines: Vec<String> = said
        .iter()
        .map(|change| {
            let list = |names: &[AgentName]| {
                names
                    .iter()
                    .map(AgentName::as_str)
                    .collect::<Vec<_>>()
                    .join("+")
            };
            let gains = change.shifts.iter().filter(|shift| shift.is_gain()).count();
            let loses = change.shifts.len() - gains;
            format!(
                "{} over {}: +{gains} -{loses}",
                list(&change.who),
                list(&change.over)
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            // Neither hears the other any more; both are what they were to everybody else.
            "carol over alice: +0 -2".to_owned(),
            "web over alice+bob: +18 -0".to_owned(),
            "ops over alice+bob: +0 -18".to_owned(),
            "alice over carol+ops: +0 -2".to_owned(),
            "alice over web: +2 -0".to_owned(),
        ]
    );
}
