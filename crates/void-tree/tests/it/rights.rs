//! The table of rights, every cell of it, against the sentences of the design.

use void_domain::capabilities::{Capabilities, Capability};
use void_domain::relations::Relation;
use void_tree::{AgentKind, Index, Listed, Operation, Right, Standing, Topology, right};

use crate::forests::{Random, Ways, everybody, forest, json, spoil};

const RELATIONS: [Relation; 8] = [
    Relation::Same,
    Relation::Ancestor { depth: 1 },
    Relation::Ancestor { depth: 2 },
    Relation::Ancestor { depth: 64 },
    Relation::Descendant { depth: 1 },
    Relation::Descendant { depth: 2 },
    Relation::Sibling,
    Relation::Stranger,
];

fn capability_sets() -> impl Iterator<Item = Capabilities> {
    let sets = 1_usize << Capability::ALL.len();
    (0..sets).map(|bits| {
        let all = Capability::ALL.into_iter().enumerate();
        all.filter(|(at, _)| bits >> at & 1 == 1)
            .map(|(_, one)| one)
            .collect()
    })
}

/// The design in its own words: operation, what it needs, and the right of oneself, an ancestor, and whoever is near.
/// "nearby" is a parent, a sibling or a listed one; "process" says that a resident is none of it.
const DESIGN: &[(&str, &str, &str, &str, &str)] = &[
    (
        "start kill restart update destroy get_logs write_config",
        "",
        "never",
        "alone process",
        "never",
    ),
    ("request_apply_commit", "", "never", "nod process", "never"),
    ("write_state", "", "alone", "alone process", "never"),
    ("request_init_config", "spawn", "alone", "never", "never"),
    ("act", "act", "alone", "nod", "never"),
    (
        "see_proposals moderate loose_ends",
        "",
        "alone",
        "alone",
        "never",
    ),
    ("hold veto annotate", "", "never", "alone", "never"),
    ("delegate", "", "never", "nod", "never"),
    ("send ask", "", "alone", "alone", "alone"),
    ("recv wake remind", "", "alone", "never", "never"),
    ("read_meta", "meta.read", "alone", "never", "never"),
    (
        "request_update_meta_inputs",
        "meta.update",
        "nod",
        "never",
        "never",
    ),
    (
        "lift_hold approve move change_capabilities",
        "",
        "never",
        "never",
        "never",
    ),
];

fn expected(operation: Operation, standing: Standing<'_>) -> Right {
    let row = DESIGN
        .iter()
        .find(|row| row.0.split(' ').any(|one| one == operation.as_str()));
    let (_, needs, own, above, near) = row.unwrap_or_else(|| panic!("no row for {operation:?}"));
    if !needs.is_empty() && !standing.capabilities.has(needs.parse().unwrap()) {
        return Right::Never;
    }
    let cell = match standing.relation {
        Relation::Same => own,
        Relation::Ancestor { .. } => above,
        Relation::Descendant { depth: 1 } | Relation::Sibling => near,
        Relation::Descendant { .. } | Relation::Stranger if standing.listed == Listed::Yes => near,
        Relation::Descendant { .. } | Relation::Stranger => "never",
    };
    match cell {
        "alone process" | "nod process" if standing.target == AgentKind::Resident => Right::Never,
        "alone" | "alone process" => Right::Alone,
        "nod" | "nod process" => Right::WithNod,
        "never" => Right::Never,
        other => panic!("{other}"),
    }
}

#[test]
fn every_cell_of_the_table_is_as_designed() {
    let mut cells = 0;
    for capabilities in capability_sets() {
        for operation in Operation::ALL {
            for relation in RELATIONS {
                for target in [AgentKind::Resident, AgentKind::Process] {
                    for listed in [Listed::No, Listed::Yes] {
                        let standing = Standing {
                            relation,
                            target,
                            listed,
                            capabilities: &capabilities,
                        };
                        assert_eq!(
                            right(operation, standing),
                            expected(operation, standing),
                            "{operation:?} {standing:?}"
                        );
                        cells += 1;
                    }
                }
            }
        }
    }
    assert_eq!(cells, 128 * 29 * 8 * 4);
}

#[test]
fn every_operation_has_its_row_its_name_and_its_words() {
    let rows: usize = DESIGN.iter().map(|row| row.0.split(' ').count()).sum();
    assert_eq!(rows, Operation::ALL.len());
    for operation in Operation::ALL {
        let others = Operation::ALL
            .into_iter()
            .filter(|other| *other != operation);
        for other in others {
            assert_ne!(operation.as_str(), other.as_str());
            assert_ne!(operation.words(), other.words());
        }
    }
}

#[test]
fn nobody_approves_moves_or_frees_and_nobody_gains_by_more_capabilities_than_a_row_names() {
    for capabilities in capability_sets() {
        for relation in RELATIONS {
            for operation in [
                Operation::Approve,
                Operation::Move,
                Operation::ChangeCapabilities,
                Operation::LiftHold,
            ] {
                let standing = Standing {
                    relation,
                    target: AgentKind::Process,
                    listed: Listed::Yes,
                    capabilities: &capabilities,
                };
                assert_eq!(right(operation, standing), Right::Never);
            }
        }
    }
}

/// I4: nobody reads, controls, writes to or reconfigures whoever is not below them, in forests that were also spoiled.
#[test]
fn no_agent_has_a_right_over_whoever_is_not_below_it() {
    let mut triples = 0;
    for seed in 0..60 {
        let mut random = Random(1_000 + seed);
        let mut written = forest(&mut random, 60);
        for _ in 0..seed % 5 {
            spoil(&mut random, &mut written);
        }
        let index = Index::of(&Topology::read(Some(&json(&written))).topology);
        let (names, ways) = (everybody(&written), Ways::of(&written));
        for actor in &names {
            let capabilities = random.capabilities();
            for target in &names {
                let relation = index.relation(actor, target);
                let walk = ways.relation(actor.as_str(), target.as_str());
                let target = *random.pick(&[AgentKind::Resident, AgentKind::Process]);
                for operation in Operation::ALL {
                    let found = right(
                        operation,
                        Standing {
                            relation,
                            target,
                            listed: Listed::No,
                            capabilities: &capabilities,
                        },
                    );
                    let oracle = expected(
                        operation,
                        Standing {
                            relation: walk,
                            target,
                            listed: Listed::No,
                            capabilities: &capabilities,
                        },
                    );
                    assert_eq!(found, oracle, "seed {seed}: {actor} {operation:?}");
                    let is_message = matches!(operation, Operation::Send | Operation::Ask);
                    if found > Right::Never && !is_message {
                        assert!(
                            matches!(walk, Relation::Same | Relation::Ancestor { .. }),
                            "seed {seed}"
                        );
                    }
                    triples += 1;
                }
            }
        }
    }
    assert!(triples >= 50_000, "{triples}");
}
