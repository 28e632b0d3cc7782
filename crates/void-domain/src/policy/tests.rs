//! The full matrix: every combination of every input, judged against rules stated the other way
//! round (what must hold for an answer to be allowed), so that the test is not a second copy.

use super::*;

const RELATIONS: [Relation; 7] = [
    Relation::Same,
    Relation::Ancestor { depth: 1 },
    Relation::Ancestor { depth: 64 },
    Relation::Descendant { depth: 1 },
    Relation::Descendant { depth: 64 },
    Relation::Sibling,
    Relation::Stranger,
];
const COOLDOWNS: [Cooldown; 2] = [Cooldown::Over, Cooldown::Until(Timestamp::from_ms(1))];
const CAPS: [Cap; 2] = [Cap::Free, Cap::Reached { per_hour: 3 }];

const BUDGETS: [Budget; 2] = [Budget::Left, Budget::Spent { per_hour: 60 }];

fn all_brakes() -> Vec<Brakes> {
    let mut all = Vec::new();
    for frozen in [false, true] {
        for cooldown in COOLDOWNS {
            for cap in CAPS {
                all.push(Brakes {
                    frozen,
                    cooldown,
                    cap,
                });
            }
        }
    }
    all
}

fn all_holds() -> impl Iterator<Item = (Brakes, Budget)> {
    let with_budgets = |brakes| BUDGETS.map(|budget| (brakes, budget));
    all_brakes().into_iter().flat_map(with_budgets)
}

fn all_capabilities() -> Vec<Capabilities> {
    (0..1_u32 << Capability::ALL.len())
        .map(|bits| {
            let chosen = Capability::ALL.into_iter().enumerate();
            chosen
                .filter(|(index, _)| bits >> index & 1 == 1)
                .map(|(_, c)| c)
                .collect()
        })
        .collect()
}

#[test]
fn every_request_gets_the_strictest_answer() {
    let taints = [Taint::clean(), Taint::from_sources(vec!["ref:1".into()])];
    let capabilities = all_capabilities();
    let (mut seen, mut ran) = (0, 0);
    for actor in ActorKind::ALL {
        for capabilities in &capabilities {
            for relation in RELATIONS {
                for tier in Tier::ALL {
                    for risk in Risk::ALL {
                        for taint in &taints {
                            for (brakes, budget) in all_holds() {
                                let input = PolicyInput {
                                    actor,
                                    capabilities,
                                    relation,
                                    tier,
                                    risk,
                                    taint,
                                    brakes,
                                    budget,
                                };
                                let verdict = judge(input);
                                check(&input, &verdict);
                                seen += 1;
                                ran += usize::from(verdict == Verdict::RunNow);
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen, 5 * 128 * 7 * 2 * 3 * 2 * 8 * 2);
    // Owner: 128 sets × 7 relations × 2 budgets, which are not the owner's. Agent: the 64 sets with act ×
    // Same. Each exactly when safe, nominal, clean and nothing holds it back.
    assert_eq!(ran, 128 * 7 * 2 + 64);
}

fn check(input: &PolicyInput<'_>, verdict: &Verdict) {
    let entitled = match input.actor {
        ActorKind::Owner => true,
        ActorKind::Agent => {
            input.capabilities.has(Capability::Act)
                && matches!(input.relation, Relation::Same | Relation::Ancestor { .. })
        }
        ActorKind::Viewer | ActorKind::Node | ActorKind::System => false,
    };
    let free = input.brakes
        == Brakes {
            frozen: false,
            cooldown: Cooldown::Over,
            cap: Cap::Free,
        }
        && (input.budget == Budget::Left || input.actor == ActorKind::Owner);
    let harmless = input.tier == Tier::Safe && input.risk == Risk::Nominal;
    let on_behalf =
        input.actor == ActorKind::Agent && matches!(input.relation, Relation::Ancestor { .. });
    match verdict {
        Verdict::RunNow => assert!(
            entitled && free && harmless && input.taint.is_clean() && !on_behalf,
            "{input:?} ran"
        ),
        Verdict::NeedsApproval(reasons) => {
            assert!(entitled, "{input:?} was queued");
            assert_eq!(
                reasons.contains(&ApprovalReason::Risky),
                !harmless,
                "{input:?}"
            );
            assert_eq!(
                reasons.contains(&ApprovalReason::Tainted),
                !input.taint.is_clean(),
                "{input:?}"
            );
            assert_eq!(
                reasons.contains(&ApprovalReason::OnBehalf),
                on_behalf,
                "{input:?}"
            );
            assert!(!reasons.is_empty());
        }
        Verdict::Refused(refusal) => {
            let not_entitled = refusal.code() == FailureCode::Forbidden;
            assert_eq!(not_entitled, !entitled, "{input:?}");
            if entitled {
                // Brakes refuse only what would otherwise have run; what waits is queued.
                assert!(
                    harmless && input.taint.is_clean() && !on_behalf && !free,
                    "{input:?}"
                );
            }
        }
    }
}

#[test]
fn a_safe_action_has_a_cooldown_for_everybody_but_the_owner() {
    let written = [None, Some(Duration::ZERO), Some(Duration::from_secs(5))];
    for actor in ActorKind::ALL {
        for tier in Tier::ALL {
            for written in written {
                let default = tier == Tier::Safe && actor != ActorKind::Owner;
                let expected = match written {
                    None if default => Some(Duration::from_secs(60)),
                    None | Some(Duration::ZERO) => None,
                    Some(_) => Some(Duration::from_secs(5)),
                };
                let found = cooldown(written, tier, actor);
                assert_eq!(found, expected, "{actor:?} {tier:?} {written:?}");
            }
        }
    }
}

#[test]
fn a_freeze_is_named_before_a_cooldown_and_a_cooldown_before_a_cap() {
    let until = Timestamp::from_ms(1);
    let brakes = Brakes {
        frozen: true,
        cooldown: Cooldown::Until(until),
        cap: Cap::Reached { per_hour: 1 },
    };
    assert_eq!(brakes.refusal(), Some(Refusal::Frozen));
    assert_eq!(
        Brakes {
            frozen: false,
            ..brakes
        }
        .refusal(),
        Some(Refusal::CoolingDown { until })
    );
    let capped = Brakes {
        frozen: false,
        cooldown: Cooldown::Over,
        ..brakes
    };
    assert_eq!(capped.refusal(), Some(Refusal::CapReached { per_hour: 1 }));
}

const TELEGRAM: Surface = Surface::Telegram {
    user: 1,
    may_approve: true,
};
const MUTE_TELEGRAM: Surface = Surface::Telegram {
    user: 1,
    may_approve: false,
};

#[test]
fn a_surface_that_has_spent_its_allowance_approves_nothing_more() {
    let approval = |allowance| ApprovalInput {
        actor: ActorKind::Owner,
        surface: Some(TELEGRAM),
        risk: Risk::Guarded,
        digest_sent: true,
        authenticated_ago: None,
        allowance,
        brakes: Brakes {
            frozen: false,
            cooldown: Cooldown::Over,
            cap: Cap::Free,
        },
    };
    let accepted = judge_approval(approval(Allowance::Left));
    assert_eq!(accepted, ApprovalVerdict::Accepted);
    let spent = judge_approval(approval(Allowance::Spent { per_day: 30 }));
    let refusal = Refusal::AllowanceSpent { per_day: 30 };
    assert_eq!(spent, ApprovalVerdict::HeldBack(refusal));
}

#[test]
fn only_a_person_approves_and_critical_needs_more() {
    let ages = [
        None,
        Some(Duration::ZERO),
        Some(limits::CRITICAL_AUTH_MAX_AGE),
        Some(limits::CRITICAL_AUTH_MAX_AGE + Duration::from_millis(1)),
    ];
    let surfaces = [
        None,
        Some(Surface::Api),
        Some(Surface::Cli),
        Some(Surface::Web),
        Some(Surface::File),
        Some(TELEGRAM),
        Some(MUTE_TELEGRAM),
        Some(Surface::Ntfy { may_approve: true }),
        Some(Surface::Ntfy { may_approve: false }),
    ];
    let is_remote = |surface| {
        matches!(
            surface,
            Some(Surface::File | Surface::Telegram { .. } | Surface::Ntfy { .. })
        )
    };
    let mut accepted = 0;
    for actor in ActorKind::ALL {
        for surface in surfaces {
            for risk in Risk::ALL {
                for digest_sent in [false, true] {
                    for authenticated_ago in ages {
                        for brakes in all_brakes() {
                            let approval = ApprovalInput {
                                actor,
                                surface,
                                risk,
                                digest_sent,
                                authenticated_ago,
                                allowance: Allowance::Left,
                                brakes,
                            };
                            let verdict = judge_approval(approval);
                            if verdict != ApprovalVerdict::Accepted {
                                continue;
                            }
                            accepted += 1;
                            assert_eq!(actor, ActorKind::Owner, "{approval:?}");
                            assert_eq!(brakes.refusal(), None, "{approval:?}");
                            if matches!(surface, Some(Surface::Web | Surface::File))
                                || risk == Risk::Critical
                            {
                                assert!(digest_sent, "{approval:?}");
                            }
                            if is_remote(surface) {
                                assert!(digest_sent && risk != Risk::Critical, "{approval:?}");
                                let mute = Some(Surface::Ntfy { may_approve: false });
                                assert_ne!(surface, mute, "{approval:?}");
                                assert_ne!(surface, Some(MUTE_TELEGRAM), "{approval:?}");
                            }
                            if surface == Some(Surface::Web) && risk == Risk::Critical {
                                assert!(
                                    authenticated_ago.unwrap() <= limits::CRITICAL_AUTH_MAX_AGE
                                );
                            }
                        }
                    }
                }
            }
        }
    }
    // Bearer: 2 surfaces × (2 risks × 2 digests + critical with digest) × 4 ages.
    // Web: with digest, 2 risks × 4 ages + critical × 2 fresh ages.
    // File, and Telegram and ntfy where they may: with digest, 2 risks × 4 ages.
    assert_eq!(accepted, 2 * 5 * 4 + 2 * 4 + 2 + 3 * 2 * 4);
}
