use super::*;
use crate::actors::Actor;
use crate::cards::Card;
use crate::catalogue::Risk;
use crate::ids::{ProposalCode, ProposalId};
use crate::knowledge::{
    Body, Details, EntityHead, Origin, PageDetails, Revision, Tags, TaskDetails, TaskState,
};
use crate::proposals::{Joined, Proposal, ProposedChange, State, SubjectKind};
use crate::taint::Taint;
use crate::time::Timestamp;

const AT: Timestamp = Timestamp::from_ms(1_762_000_000_000);

fn space() -> Title {
    Title::parse("Lab").unwrap()
}

fn page_fields(title: &str, body: &str) -> Fields {
    Fields {
        title: Title::parse(title).unwrap(),
        body: Body::parse(body).unwrap(),
        details: Details::Page(PageDetails::default()),
    }
}

fn stored(fields: Fields, revision: u64) -> Entity {
    Entity {
        head: EntityHead {
            id: EntityId::new(fields.kind(), AT, [2; 10]),
            space_id: SpaceId::new(AT, [1; 10]),
            title: fields.title,
            details: fields.details,
            revision: Revision {
                number: revision,
                at: AT,
                by: "owner-web".to_owned(),
                origin: Origin::Owner,
                vouched: None,
                reason: None,
            },
            created_at: AT,
            deleted: None,
        },
        body: fields.body,
    }
}

fn page(body: &str) -> Entity {
    stored(page_fields("Caddy", body), 1)
}

fn update(base: &Entity, fields: &Fields) -> Result<Change, InvalidKnowledgeChange> {
    let space = space();
    change(Draft::Update {
        base,
        space: &space,
        fields,
    })
}

fn rewritten(old: &str, new: &str) -> Change {
    update(&page(old), &page_fields("Caddy", new))
        .unwrap_or_else(|error| panic!("{old:?} {new:?}: {error}"))
}

fn create(fields: &Fields) -> Change {
    let space = space();
    let space = Some((SpaceId::new(AT, [1; 10]), &space));
    change(Draft::Create { space, fields }).unwrap()
}

fn delete(base: &Entity) -> Change {
    let space = space();
    change(Draft::Delete {
        base,
        space: &space,
    })
    .unwrap()
}

fn card_of(change: Change) -> Card {
    Card::of(&Proposal {
        id: ProposalId::new(AT, [1; 10]),
        code: ProposalCode::parse("K7M2").unwrap(),
        subject: change.into_subject().unwrap(),
        requested_by: Actor::System.requester(),
        reason: None,
        diff: None,
        taint: Taint::clean(),
        count: 1,
        joined: Joined::default(),
        revision: 0,
        created_at: AT,
        expires_at: AT,
        state: State::Pending,
    })
}

fn summary_of(change: Change) -> Vec<String> {
    card_of(change).change.unwrap().summary
}

#[test]
fn what_is_drafted_is_what_a_yes_stores() {
    let base = stored(page_fields("Caddy", "Restart it.\n"), 3);
    let next = page_fields("Caddy", "Restart it gently.\n");
    let (id, space_id) = (base.head.id, Some(base.head.space_id));
    let changed = update(&base, &next).unwrap();
    assert_eq!(entity_id(&changed), Some(id));
    let fields = next.clone();
    let does = Some(KnowledgeEffect::Update {
        id,
        base: 3,
        fields,
    });
    assert_eq!(effect(&changed, Some(&base)), does);
    let made = create(&next);
    let does = Some(KnowledgeEffect::Create {
        space_id,
        fields: next,
    });
    assert_eq!(effect(&made, None), does);
    let gone = delete(&base);
    let does = Some(KnowledgeEffect::Delete { id, base: 3 });
    assert_eq!(effect(&gone, Some(&base)), does);
    // The digest binds all of it, and it is read from the row as it was.
    for change in [changed, made, gone] {
        let definition = change.definition().unwrap();
        assert_eq!(Change::from_definition(&definition), Some(change.clone()));
        let subject = change.into_subject().unwrap();
        assert_eq!(subject.risk, Risk::Guarded);
        let SubjectKind::Change(ProposedChange { change, .. }) = subject.kind else {
            panic!()
        };
        assert!(change.is_some());
    }
}

/// A draft never applies to another base: neither another revision, nor another entity, nor another text under the same
/// number.
#[test]
fn a_draft_applies_to_its_base_and_to_nothing_else() {
    let base = stored(page_fields("Caddy", "one\ntwo\n"), 3);
    let mut others = vec![None];
    for number in [1, 2, 4] {
        others.push(Some(stored(base.fields(), number)));
    }
    for body in ["one\ntwo", "one\n two\n", "zero\none\ntwo\n", ""] {
        others.push(Some(stored(page_fields("Caddy", body), 3)));
    }
    for kind in [EntityKind::Page, EntityKind::Task] {
        let mut other = base.clone();
        other.head.id = EntityId::new(kind, AT, [3; 10]);
        others.push(Some(other));
    }
    let edits: [fn(&mut Change); 7] = [
        |change| change.target = ChangeTarget::Catalogue,
        |change| change.effect = ChangeEffect::Commit,
        |change| change.entity = "task".to_owned(),
        |change| change.base = Some("03".to_owned()),
        |change| change.base = None,
        |change| change.result = Digest::ZERO,
        |change| change.op = ChangeOp::Create,
    ];
    let changed = update(&base, &page_fields("Caddy", "one\nTWO\n")).unwrap();
    for draft in [changed, delete(&base)] {
        assert!(effect(&draft, Some(&base)).is_some());
        for other in &others {
            assert_eq!(effect(&draft, other.as_ref()), None, "{other:?}");
        }
        for edit in edits {
            let mut edited = draft.clone();
            edit(&mut edited);
            assert_eq!(effect(&edited, Some(&base)), None, "{edited:?}");
        }
    }
    let made = create(&page_fields("New", "x"));
    assert_eq!(effect(&made, Some(&base)), None, "it is there already");
}

#[test]
fn what_changes_nothing_or_too_much_is_no_draft() {
    let base = page("text");
    assert_eq!(
        update(&base, &base.fields()),
        Err(InvalidKnowledgeChange::Same)
    );
    let longest = page_fields("Caddy", &"x".repeat(CHANGE_PATCH_BYTES_MAX + 1));
    let too_large = update(&base, &longest);
    assert_eq!(too_large, Err(InvalidKnowledgeChange::PatchTooLarge));
    let text = |word: &str| -> String { (0..3_000).map(|n| format!("{word}{n}\n")).collect() };
    let base = page(&text("a"));
    let too_different = update(&base, &page_fields("Caddy", &text("b")));
    let too_different = matches!(too_different, Err(InvalidKnowledgeChange::TooDifferent(_)));
    assert!(too_different);
    // A small change of a long text is a small draft, and throwing a long text away is one too.
    let small = page_fields("Caddy", &text("a").replace("a2999", "x"));
    let small = update(&base, &small).unwrap();
    assert!(small.patch.len() < 200, "{}", small.patch);
    assert!(delete(&base).patch.is_empty());
}

#[test]
fn line_ends_and_odd_signs_are_kept_exactly() {
    for (old, new) in [
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("a\rb\n", "a\rc\n"),
        ("a\n", "a"),
        ("a", "a\n"),
        ("", "x"),
        ("-- a\n++ b\n@@ -1 +1 @@\n", "-- a\n++ c\n@@ -1 +1 @@\n"),
        ("\u{feff}---\n", "---\n"),
        ("a\u{2028}b", "a\u{2028}c"),
    ] {
        let draft = rewritten(old, new);
        let base = page(old);
        let does = Some(KnowledgeEffect::Update {
            id: base.head.id,
            base: 1,
            fields: page_fields("Caddy", new),
        });
        assert_eq!(effect(&draft, Some(&base)), does, "{old:?}");
    }
}

#[test]
fn the_card_says_how_much_changes_where_and_what_else_follows() {
    let base = page("Restart it with care.\n");
    let fields = Fields {
        body: Body::parse("---\nservices: [caddy]\n---\nRestart it gently.\n").unwrap(),
        details: Details::Page(PageDetails {
            tags: Tags::parse(["web"]).unwrap(),
            ..PageDetails::default()
        }),
        ..base.fields()
    };
    let card = card_of(update(&base, &fields).unwrap());
    assert_eq!(card.title, "Change a page");
    assert_eq!(card.tier, "Risky, changes what you keep");
    let named = "the page \"Caddy\" in the space \"Lab\"";
    let consequence = format!("changes {named}; the revision before is kept");
    assert_eq!(card.consequence, consequence);
    assert_eq!(card.past, format!("changed {named}"));
    let change = card.change.unwrap();
    let [first, rest @ ..] = &change.summary[..] else {
        panic!()
    };
    assert!(
        first.starts_with(&format!("Change {named}: +")) && first.ends_with(" places"),
        "{first}"
    );
    let expected = [
        "tags was nothing, is \"web\"",
        "it becomes a runbook of the service caddy",
    ];
    assert_eq!(rest, expected);
    assert!(change.diff.contains("\n-Restart it with care.\n"));
    assert!(change.diff.contains("\n+Restart it gently."));
    let bound = |name: &str| {
        let mut all = card.bound.iter();
        all.find(|bound| bound.name == name)
            .map(|bound| &*bound.value)
    };
    assert_eq!(bound("change.base"), Some("1"));
    assert_eq!(bound("change.about.title"), Some("Caddy"));
}

#[test]
fn what_is_made_ticked_and_thrown_away_is_said_as_that() {
    let task = Fields {
        title: Title::parse("Do it").unwrap(),
        body: Body::default(),
        details: Details::Task(TaskDetails::default()),
    };
    let named = "the task \"Do it\" in the space \"Lab\"";
    assert_eq!(
        summary_of(create(&task)),
        [format!("Make {named}: no text")]
    );
    let base = stored(task, 2);
    let ticked = Fields {
        details: Details::Task(TaskDetails {
            state: TaskState::Done,
            ..TaskDetails::default()
        }),
        ..base.fields()
    };
    let ticked = summary_of(update(&base, &ticked).unwrap());
    let expected = [
        format!("Change {named}: +1 −1 words in one place"),
        "state was \"open\", is \"done\"".to_owned(),
    ];
    assert_eq!(ticked, expected);
    let gone = card_of(delete(&base));
    assert_eq!(gone.past, format!("thrown away {named}"));
    let said = format!("Throw away {named}: 0 words go; it can be taken back");
    assert_eq!(gone.change.unwrap().summary, [said]);
}

/// Whatever is in a text, the card shows that it changes: in the words of Void, and in the difference.
#[test]
fn no_change_hides_from_the_card() {
    for (old, new, word, seen) in [
        ("rm a", "rm\u{200b} a", "cannot be seen", "\\u{200b}"),
        ("a b", "a \u{202e}b", "turn the order", "\\u{202e}"),
        ("a b", "a  b", "blanks or line ends", "+a  b"),
        ("a\n", "a\r\n", "blanks or line ends", "\\u{d}"),
        ("pay", "p\u{430}y", "look like others", "\\u{430}"),
        ("a b", "a\u{a0}b", "blanks or line ends", "\\u{a0}"),
        ("a", "a\u{1b}[2J", "cannot be seen", "\\u{1b}"),
        ("a", "a\u{e0041}", "cannot be seen", "\\u{e0041}"),
    ] {
        let change = card_of(rewritten(old, new)).change.unwrap();
        let marked = change.summary.iter().any(|line| line.contains(word));
        assert!(marked, "{old:?} {new:?} {:?}", change.summary);
        assert!(change.diff.contains(seen), "{new:?} {}", change.diff);
    }
    // The same in a title, and in something new.
    let renamed = update(&page("x"), &page_fields("C\u{430}ddy", "x")).unwrap();
    let says = |line: &String| line.contains("look like others");
    assert!(summary_of(renamed).iter().any(says));
    let made = card_of(create(&page_fields("B\u{430}ckup\u{202e}", "x")));
    assert!(made.consequence.contains("\\u{430}") && made.consequence.contains("\\u{202e}"));
}

/// A title cannot pass for more of the sentence, and no line of a text for one of ours.
#[test]
fn nothing_of_the_texts_passes_for_words_of_void() {
    let posing = page_fields("x\" in the space \"Other", "look closely: nothing\n");
    let made = card_of(create(&posing));
    let quoted = "\"x\\\" in the space \\\"Other\" in the space \"Lab\"";
    assert!(made.consequence.contains(quoted), "{}", made.consequence);
    assert_eq!(made.change.unwrap().summary.len(), 1);
}

#[test]
fn a_long_difference_is_counted_and_whole() {
    let text = |word: &str| -> String { (0..200).map(|n| format!("{word} {n}\n")).collect() };
    let few = text("line").replace("line 7\n", "other\n");
    let is_long = |line: &String| line.starts_with("it is long");
    assert!(
        !summary_of(rewritten(&text("line"), &few))
            .iter()
            .any(is_long)
    );
    let change = card_of(rewritten(&text("line"), &text("other")));
    let change = change.change.unwrap();
    let counted = change.summary.iter().find(|line| is_long(line)).unwrap();
    assert!(
        counted.contains("200 lines are added and 200 go"),
        "{counted}"
    );
    let shown = |sign: char| {
        let lines = change.diff.lines();
        lines.filter(|line| line.starts_with(sign)).count()
    };
    assert_eq!((shown('+'), shown('-')), (200, 200), "never cut");
}
