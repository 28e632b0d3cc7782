//! Who is moved, by whom, and what may be done by where one stands.

use super::*;

stories!(
    the_owner_moves_an_agent_and_the_record_says_what_that_changed,
    a_move_that_would_break_the_tree_is_refused,
    nobody_but_the_owner_moves_anybody,
    of_a_tree_that_was_changed_meanwhile_nothing_is_moved,
    the_rights_that_are_told_are_those_that_are_live,
    a_token_from_outside_has_no_right_over_anybody,
    no_token_is_given_for_an_agent_of_the_tree,
    whoever_was_withdrawn_may_do_nothing,
);

async fn the_owner_moves_an_agent_and_the_record_says_what_that_changed(plane: &mut Plane) {
    let before = begun(plane).await;
    let wanted = |is_dry_run, seen| MoveRequest {
        name: name("sentinel"),
        parent: name("little-blue"),
        is_dry_run,
        seen,
    };
    let looked = ask(plane, owner(), wanted(true, None)).await.unwrap();
    assert_eq!((looked.commit, &looked.before), (None, &before.commit));
    let said: Vec<String> = looked
        .rights
        .iter()
        .flat_map(void_tree::RightsChange::words)
        .collect();
    let gains = said
        .iter()
        .find(|one| one.starts_with("little-blue may from then on, to sentinel"));
    assert!(
        gains
            .unwrap()
            .contains("ask for actions that name it with a nod, see what it asks for, hold"),
        "{said:#?}"
    );
    let loses = said
        .iter()
        .find(|one| one.starts_with("companion may no longer, to sentinel"));
    assert!(loses.unwrap().contains("send it messages"), "{said:#?}");
    assert_eq!(placed(&shown(plane).await), FLAT);
    assert_eq!(recorded(plane).await.len(), 1);
    let done = ask(plane, owner(), wanted(false, looked.before))
        .await
        .unwrap();
    assert_eq!(done.rights, looked.rights);
    assert_eq!(
        (done.from, done.to, done.below),
        (Some(name("root")), name("little-blue"), 0)
    );
    let view = shown(plane).await;
    assert_eq!(
        (placed(&view)[3].as_str(), &view.commit),
        ("sentinel under little-blue", &done.commit)
    );
    let log = git(plane, &["log", "-1", "--format=%H %an%n%B"]);
    assert_eq!(
        log.trim_end(),
        format!(
            "{} owner-cli\ntree: move sentinel under little-blue\n\n- sentinel: from root to little-blue",
            done.commit.as_deref().unwrap()
        )
    );
    let last = recorded(plane).await.pop().unwrap();
    assert_eq!(last.actor, "owner-cli");
    let said = detail(&last);
    assert_eq!(
        (&said["commit"], &said["before"]),
        (&json!(done.commit), &json!(before.commit))
    );
    let rights = said["rights"].as_array().unwrap().clone();
    let gained = json!({"operation": "hold", "from": "never", "to": "alone"});
    assert!(rights.iter().any(|one| one["who"] == json!(["little-blue"])
        && one["over"] == json!(["sentinel"])
        && one["gains"].as_array().unwrap().contains(&gained)));
    // The next start finds it so, and has nothing to say.
    let later = again(plane).await;
    assert_eq!(placed(&later), placed(&view));
    assert_eq!(recorded(plane).await.len(), 2);
}

async fn a_move_that_would_break_the_tree_is_refused(plane: &mut Plane) {
    begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    let (entries, commit) = (recorded(plane).await.len(), shown(plane).await.commit);
    for (one, parent) in [
        ("little-blue", "sentinel"),
        ("little-blue", "little-blue"),
        ("root", "sentinel"),
        ("sentinel", "little-blue"),
    ] {
        let refused = moved(plane, owner(), one, parent).await;
        assert!(
            matches!(refused, Err(MoveError::Refused(_))),
            "{one} {parent}"
        );
    }
    let cycle = moved(plane, owner(), "little-blue", "sentinel")
        .await
        .unwrap_err();
    assert!(
        matches!(cycle, MoveError::Refused(MoveRefusal::Cycle { .. })),
        "{cycle}"
    );
    for (one, parent) in [("nobody", "root"), ("sentinel", "nobody")] {
        let refused = moved(plane, owner(), one, parent).await;
        assert!(
            matches!(refused, Err(MoveError::Unknown(_))),
            "{one} {parent}"
        );
    }
    assert_eq!(recorded(plane).await.len(), entries);
    assert_eq!(shown(plane).await.commit, commit);
}

async fn nobody_but_the_owner_moves_anybody(plane: &mut Plane) {
    begun(plane).await;
    let root = agent("root");
    for who in others().into_iter().chain([root, agent("little-blue")]) {
        for parent in ["little-blue", "companion"] {
            let refused = moved(plane, who.clone(), "sentinel", parent).await;
            assert!(
                matches!(refused, Err(MoveError::OwnerOnly)),
                "{:?}",
                who.actor
            );
        }
    }
    assert_eq!(placed(&shown(plane).await), FLAT);
    assert_eq!(recorded(plane).await.len(), 1);
}

async fn of_a_tree_that_was_changed_meanwhile_nothing_is_moved(plane: &mut Plane) {
    let before = begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    let stale = MoveRequest {
        name: name("sentinel"),
        parent: name("companion"),
        is_dry_run: false,
        seen: before.commit,
    };
    let refused = ask(plane, owner(), stale).await;
    assert!(matches!(refused, Err(MoveError::Changed)), "{refused:?}");
    // A commit that somebody made by hand, and a branch that somebody put back.
    git(
        plane,
        &["commit", "--quiet", "--allow-empty", "-m", "by hand"],
    );
    let refused = moved(plane, owner(), "sentinel", "companion").await;
    assert!(matches!(refused, Err(MoveError::Changed)), "{refused:?}");
    git(plane, &["reset", "--quiet", "--hard", "HEAD~2"]);
    let refused = moved(plane, owner(), "sentinel", "companion").await;
    assert!(matches!(refused, Err(MoveError::Changed)), "{refused:?}");
    assert!(placed(&shown(plane).await).contains(&"sentinel under little-blue".to_owned()));
    // At the next start the older tree is found, said, and in force.
    let view = again(plane).await;
    assert_eq!(placed(&view), FLAT);
    let last = recorded(plane).await.pop().unwrap();
    assert_eq!(detail(&last)["why"], "found");
}

/// Each member acts for each other one: what is told of it is what becomes of its request.
async fn the_rights_that_are_told_are_those_that_are_live(plane: &mut Plane) {
    let names = ["root", "little-blue", "companion", "sentinel", "alice"];
    let actions = names.map(|one| {
        json!({"id": format!("for-{one}"), "kind": "service_restart", "host": "local", "service": format!("s-{one}"),
            "tier": "safe", "cooldown_s": 0, "agents": [one]})
    });
    plane.catalogue = json!({"actions": actions}).to_string();
    plane.machine.install(&parse(&plane.catalogue));
    fs::create_dir_all(plane.machine.path().join("agents/alice/config")).unwrap();
    begun(plane).await;
    moved(plane, owner(), "alice", "little-blue").await.unwrap();
    moved(plane, owner(), "sentinel", "alice").await.unwrap();
    let (mut alone, mut with_nod, mut never) = (0, 0, 0);
    for (actor, capabilities) in RESIDENTS {
        let told = plane
            .inside(async move |control, _| {
                tree::can(&control, &name(actor)).await.unwrap().unwrap()
            })
            .await;
        assert_eq!(told.over.len(), names.len());
        for over in told.over {
            let right = over
                .rights
                .iter()
                .find(|(operation, _)| *operation == Operation::Act);
            let right = right.unwrap().1;
            let action = format!("for-{}", over.target.name);
            let live = plane
                .propose(&agent_with(actor, capabilities), request(&action))
                .await;
            let (live, count) = match live.unwrap() {
                Proposed::Started(row) => {
                    plane.ended(row.id).await;
                    (Right::Alone, &mut alone)
                }
                Proposed::Queued(_) => (Right::WithNod, &mut with_nod),
                Proposed::Refused(Refusal::NotNamed | Refusal::NoCapability, _) => {
                    (Right::Never, &mut never)
                }
                Proposed::Refused(refusal, _) => panic!("{refusal:?}"),
            };
            assert_eq!(live, right, "{actor} for {}", over.target.name);
            *count += 1;
            // The use case that later ones ask says the same of every operation.
            let (ctx, target) = (agent_with(actor, capabilities), over.target.name.clone());
            let said = plane
                .inside(async move |control, _| {
                    Operation::ALL.map(|one| (one, tree::right_of(&control, &ctx, one, &target)))
                })
                .await;
            assert_eq!(said.to_vec(), over.rights);
        }
    }
    assert_eq!((alone, with_nod, never), (1, 2, 12));
}

async fn a_token_from_outside_has_no_right_over_anybody(plane: &mut Plane) {
    plane.catalogue = json!({"actions": [
        {"id": "for-sentinel", "kind": "service_restart", "host": "local", "service": "s", "tier": "safe", "agents": ["sentinel"]},
    ]})
    .to_string();
    plane.machine.install(&parse(&plane.catalogue));
    begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    for outside in ["root", "little-blue", "agent-file", "mallory"] {
        let ctx = Ctx {
            is_from_outside: true,
            ..agent(outside)
        };
        let refused = plane.propose(&ctx, request("for-sentinel")).await.unwrap();
        assert!(
            matches!(refused, Proposed::Refused(Refusal::NotNamed, _)),
            "{outside}"
        );
        let rights = plane
            .inside(async move |control, _| {
                let over = ["root", "little-blue", "companion", "sentinel", outside];
                over.map(|one| {
                    Operation::ALL
                        .map(|operation| tree::right_of(&control, &ctx, operation, &name(one)))
                })
            })
            .await;
        assert!(
            rights.iter().flatten().all(|right| *right == Right::Never),
            "{outside}"
        );
    }
    // The owner is no agent of the tree either: what they may is no question of it.
    for who in [owner()].into_iter().chain(others()) {
        let rights = plane
            .inside(async move |control, _| {
                Operation::ALL.map(|one| tree::right_of(&control, &who, one, &name("sentinel")))
            })
            .await;
        assert!(rights.iter().all(|right| *right == Right::Never));
    }
}

async fn no_token_is_given_for_an_agent_of_the_tree(plane: &mut Plane) {
    fs::create_dir_all(plane.machine.path().join("agents/alice/config")).unwrap();
    begun(plane).await;
    let give = async |one: &'static str| {
        plane
            .inside(async move |control, _| {
                let (kind, none) = (ActorKind::Agent, Capabilities::none());
                tokens::create(&control, &owner(), kind, one.to_owned(), none)
                    .await
                    .map(|made| made.id)
            })
            .await
    };
    {
        let refused = give("root").await;
        assert!(
            matches!(&refused, Err(TokenError::Refused(AgentRefusal::InTree(_)))),
            "{refused:?}"
        );
    }
    for one in ["r00t", "a1ice", "ro-ot"] {
        let refused = give(one).await;
        assert!(
            matches!(
                &refused,
                Err(TokenError::Refused(AgentRefusal::ReadsLike(_)))
            ),
            "{refused:?}"
        );
    }
    // One of the tree is made known by its token; a resident's own, and anybody else's, as before.
    give("alice").await.unwrap();
    give("sentinel").await.unwrap();
    give("mallory").await.unwrap();
}

async fn whoever_was_withdrawn_may_do_nothing(plane: &mut Plane) {
    begun(plane).await;
    moved(plane, owner(), "sentinel", "little-blue")
        .await
        .unwrap();
    let acts = plane
        .inside(async move |control, _| {
            let (_, capabilities) = RESIDENTS[0];
            let ctx =
                agents::resident_ctx(&control, &name("little-blue"), &may(capabilities)).await;
            ctx.unwrap().unwrap()
        })
        .await;
    assert!(matches!(acts.actor, Actor::Agent { .. }));
    let told = async || {
        plane
            .inside(async |control, _| {
                tree::can(&control, &name("little-blue"))
                    .await
                    .unwrap()
                    .unwrap()
            })
            .await
    };
    let before = told().await;
    assert_eq!(before.capabilities, Some(may(RESIDENTS[0].1)));
    plane
        .inside(async move |control, _| {
            let listed = tokens::list(&control).await.unwrap();
            let token = listed
                .iter()
                .find(|one| one.token.name == "little-blue")
                .unwrap();
            tokens::revoke(&control, &owner(), token.token.id)
                .await
                .unwrap();
        })
        .await;
    let after = told().await;
    assert_eq!(after.capabilities, None);
    let rights = after.over.iter().flat_map(|over| &over.rights);
    assert!(
        rights.clone().count() > 0 && rights.into_iter().all(|(_, right)| *right == Right::Never)
    );
}
