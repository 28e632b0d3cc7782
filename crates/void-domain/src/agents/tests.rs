use super::*;

fn name(text: &str) -> AgentName {
    text.parse().unwrap()
}

fn capabilities(list: &[Capability]) -> Capabilities {
    list.iter().copied().collect()
}

fn agent(state: AgentState) -> Agent {
    Agent {
        id: AgentId::new(Timestamp::from_ms(1), [1; 10]),
        name: name("bot"),
        capabilities: capabilities(&[Capability::Read]),
        created_at: Timestamp::from_ms(1),
        state,
    }
}

const WITHDRAWN: AgentState = AgentState::Withdrawn {
    at: Timestamp::from_ms(2),
};

#[test]
fn a_name_has_one_spelling() {
    for text in ["a", "little-blue", "0", "a1-b2", &"x".repeat(64)] {
        assert_eq!(name(text).as_str(), text);
    }
    for text in [
        "",
        "-a",
        "A",
        "Little-Blue",
        "a b",
        " a",
        "a ",
        "a_b",
        "ä",
        "b\u{43e}t",
        "a\u{200b}",
        "a/b",
        "..",
        "a\0",
        &"x".repeat(65),
    ] {
        assert_eq!(text.parse::<AgentName>(), Err(InvalidAgentName), "{text:?}");
    }
}

#[test]
fn names_that_people_take_for_each_other_are_not_both_given() {
    for (left, right) in [
        ("bot", "bot"),
        ("bot", "b0t"),
        ("little-blue", "l1tt1e-b1ue-"),
        ("little-blue", "littleblue"),
        ("little-blue", "little--blue"),
        ("agent-1", "agent1"),
        ("host-1-1", "host1-1"),
        ("mail", "mall"),
        ("mai1", "mall"),
        ("modem", "modern"),
        ("ghost", "gh0st"),
    ] {
        assert!(name(left).reads_like(&name(right)), "{left} {right}");
    }
    for (left, right) in [
        ("bot", "bots"),
        ("mail", "maid"),
        ("host-1-11", "host-11-1"),
        ("host-1-11", "host-111"),
        ("a", "b"),
    ] {
        assert!(!name(left).reads_like(&name(right)), "{left} {right}");
    }
    for reserved in RESERVED_NAMES
        .into_iter()
        .chain(["0wner", "vo-id", "f1le", "y0u"])
    {
        let refused = judge_new_name(&name(reserved), &[]);
        assert_eq!(refused, Err(AgentRefusal::Reserved), "{reserved}");
    }
    let known = [name("bot"), name("little-blue")];
    assert_eq!(judge_known_name(&name("bot"), &known), Ok(()));
    assert_eq!(
        judge_known_name(&name("b0t"), &known),
        Err(AgentRefusal::ReadsLike(name("bot")))
    );
    let refused = judge_new_name(&name("b0t"), &known);
    assert_eq!(refused, Err(AgentRefusal::ReadsLike(name("bot"))));
    assert_eq!(judge_new_name(&name("other"), &known), Ok(()));
    let full: Vec<AgentName> = (0..AGENTS_MAX).map(|n| name(&format!("a{n}x"))).collect();
    let refused = judge_new_name(&name("other"), &full);
    assert_eq!(refused, Err(AgentRefusal::TooMany));
    let room = &full[1..];
    assert_eq!(judge_new_name(&name("other"), room), Ok(()));
}

/// Whoever is new is not called as the record calls the owner and Void; everyday names stay free.
#[test]
fn nobody_new_is_called_like_the_owner_or_void() {
    for posing in [
        "owner",
        "owner-api",
        "owner-cli",
        "owner-web",
        "owner-telegram-7",
        "ownercli",
        "0wner-c1i",
        "owner-x",
        "policy",
        "po1icy",
        "system",
        "5ystem",
        "system-1",
        "void",
        "void-helper",
        "file",
        "fi1e",
        "agent-file",
        "operator",
        "operator-tg-7",
        "operatortg",
        "operatortg7",
        "0peratortg7",
        "owner1",
        "owner2",
        "ovvner",
        "ovvner-cli",
        "0wner12-x",
        "operator7",
        "5ystem3",
        "v0id2",
        "vvebui",
        "webui",
        "nobody",
        "no8ody",
        "you",
    ] {
        assert!(poses_as_us(posing), "{posing}");
        assert_eq!(
            judge_new_name(&name(posing), &[]),
            Err(AgentRefusal::Reserved),
            "{posing}"
        );
    }
    for free in [
        "blue",
        "agent-1",
        "node-1",
        "n1",
        "viewer-1",
        "ownership",
        "file-watcher",
        "policy-bot",
        "avoid",
        "systematic",
        "operations",
        "owners",
        "voided2",
        "2void-2",
        "host-owner2",
        "nightly",
        "web-owner",
        "grafana",
        "a",
    ] {
        assert!(!poses_as_us(free), "{free}");
        assert_eq!(judge_new_name(&name(free), &[]), Ok(()), "{free}");
    }
}

/// More is taken for each other where a name is new; what is there already, and starts with it, is not judged by that.
#[test]
fn digits_that_look_like_letters_are_not_a_new_name() {
    for (known, new) in [
        ("bots", "bot5"),
        ("bob", "8ob"),
        ("zed", "2ed"),
        ("b2", "8z"),
        ("modem", "modern"),
        ("wiki", "vviki"),
        ("avv", "aw"),
        ("wv1", "vvv1"),
        ("vw1", "vvv1"),
    ] {
        let refused = judge_new_name(&name(new), &[name(known)]);
        assert_eq!(refused, Err(AgentRefusal::ReadsLike(name(known))), "{new}");
    }
    for (known, new) in [
        ("eve", "eye"),
        ("host-2", "host-5"),
        ("host-25", "host-52"),
        ("bots", "bot"),
        ("wiki", "viki"),
    ] {
        assert_eq!(judge_new_name(&name(new), &[name(known)]), Ok(()), "{new}");
    }
    for (known, here) in [("bots", "bot5"), ("wiki", "vviki"), ("owner", "owner2")] {
        assert_eq!(judge_known_name(&name(here), &[name(known)]), Ok(()));
    }
}

/// Every state × who holds a token × the same or other capabilities.
#[test]
fn a_token_under_a_known_name_is_the_same_agents_or_refused() {
    let same = capabilities(&[Capability::Read]);
    let more = capabilities(&[Capability::Read, Capability::Act]);
    let less = Capabilities::none();
    for wanted in [&same, &more, &less] {
        let live = agent(AgentState::Live);
        let resident = live.judge_token(wanted, Holding::Nobody);
        assert_eq!(resident, Ok(TokenGrant::First), "{wanted:?}");
        let held = live.judge_token(wanted, Holding::Somebody);
        match wanted == &same {
            true => assert_eq!(held, Ok(TokenGrant::Further)),
            false => assert_eq!(held, Err(AgentRefusal::OtherCapabilities(same.clone()))),
        }
        for holding in [Holding::Nobody, Holding::Somebody] {
            let gone = agent(WITHDRAWN).judge_token(wanted, holding);
            assert_eq!(gone, Err(AgentRefusal::Withdrawn), "{wanted:?}");
        }
    }
    let said = AgentRefusal::OtherCapabilities(more).to_string();
    assert!(said.contains("(read, act)"), "{said}");
    let said = AgentRefusal::OtherCapabilities(less).to_string();
    assert!(said.contains("(none)"), "{said}");
}

#[test]
fn only_a_withdrawn_agent_is_restored_and_stays_who_it_was() {
    let rights = capabilities(&[Capability::AuditRead]);
    let back = agent(WITHDRAWN).restore(rights.clone()).unwrap();
    assert_eq!(
        back,
        Agent {
            capabilities: rights.clone(),
            ..agent(AgentState::Live)
        }
    );
    assert_eq!(
        agent(AgentState::Live).restore(rights),
        Err(AgentRefusal::NotWithdrawn)
    );
}

#[test]
fn what_nothing_uses_is_not_granted() {
    let used = [
        Capability::Read,
        Capability::Act,
        Capability::Suggest,
        Capability::AuditRead,
    ];
    for capability in Capability::ALL {
        let granted = judge_grant(&capabilities(&[Capability::Read, capability]));
        match used.contains(&capability) {
            true => assert_eq!(granted, Ok(())),
            false => assert_eq!(granted, Err(AgentRefusal::CapabilityUnused(capability))),
        }
    }
    let said = AgentRefusal::CapabilityUnused(Capability::Spawn).to_string();
    assert_eq!(
        said,
        "nothing in Void uses the capability spawn yet, so it is not granted"
    );
    assert_eq!(judge_grant(&Capabilities::none()), Ok(()));
}
