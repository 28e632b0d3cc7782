use super::*;

fn agent(name: &str) -> HoldBy {
    HoldBy::Agent(name.parse().unwrap())
}

fn hold(number: u32, kind: HoldKind, by: HoldBy, lifted: bool) -> Hold {
    let at = Timestamp::from_ms(1);
    Hold {
        number,
        kind,
        by,
        words: "because".to_owned(),
        taint: Taint::clean(),
        at,
        lifted_at: lifted.then_some(at),
    }
}

#[test]
fn words_are_needed_and_bounded() {
    let judged = |words: &str| judge(&[], HoldKind::Hold, &agent("boss"), words);
    for words in ["", "  \n", &"x".repeat(HOLD_WORDS_BYTES_MAX + 1)] {
        assert_eq!(judged(words), Err(HoldRefusal::Words));
    }
    assert_eq!(judged(&"x".repeat(HOLD_WORDS_BYTES_MAX)), Ok(1));
}

#[test]
fn one_hold_each_and_none_again_after_the_owner_lifted_it() {
    let mut there = vec![hold(1, HoldKind::Hold, agent("boss"), false)];
    let judged = |there: &[Hold], by: &HoldBy| judge(there, HoldKind::Hold, by, "why");
    assert_eq!(judged(&there, &agent("boss")), Err(HoldRefusal::Already));
    assert_eq!(judged(&there, &agent("chief")), Ok(2));
    assert_eq!(in_force(&there).map(|hold| hold.number), Some(1));
    there[0].lifted_at = Some(Timestamp::from_ms(2));
    assert_eq!(in_force(&there), None);
    assert_eq!(judged(&there, &agent("boss")), Err(HoldRefusal::Lifted));
    // The owner holds again what they lifted.
    there.push(hold(2, HoldKind::Hold, HoldBy::Owner, true));
    assert_eq!(judged(&there, &HoldBy::Owner), Ok(3));
}

#[test]
fn a_row_has_so_much_on_it_and_a_veto_always_fits() {
    let note = |number| hold(number, HoldKind::Annotation, agent("boss"), false);
    let own: Vec<Hold> = (1..).map(note).take(HOLD_ANNOTATIONS_MAX).collect();
    let judged = |there: &[Hold], kind, by: &str| judge(there, kind, &agent(by), "why");
    let full = Err(HoldRefusal::TooMany);
    assert_eq!(judged(&own, HoldKind::Annotation, "boss"), full);
    assert!(judged(&own, HoldKind::Annotation, "chief").is_ok());
    assert!(judged(&own, HoldKind::Hold, "boss").is_ok());
    let all: Vec<Hold> = (1..)
        .map(|number| {
            hold(
                number,
                HoldKind::Annotation,
                agent(&format!("a{number}")),
                false,
            )
        })
        .take(HOLDS_PER_PROPOSAL_MAX)
        .collect();
    for kind in [HoldKind::Annotation, HoldKind::Hold] {
        assert_eq!(judged(&all, kind, "boss"), full);
    }
    let number = u32::try_from(HOLDS_PER_PROPOSAL_MAX).unwrap() + 1;
    assert_eq!(judged(&all, HoldKind::Veto, "boss"), Ok(number));
}

#[test]
fn every_word_is_read_back() {
    for kind in HoldKind::ALL {
        assert_eq!(HoldKind::parse(kind.as_str()), Some(kind));
    }
    assert_eq!(HoldKind::parse("lift"), None);
}
