use super::*;
use crate::queries::plan;

#[test]
fn the_newest_entries_are_reached_from_the_cursor_whatever_is_asked_for() {
    let subjects = [None, Some("p-1".to_owned())];
    for (subject, actor, verb) in subjects.into_iter().flat_map(|subject| {
        let filters = [
            ("", ""),
            ("owner", ""),
            ("", "proposal."),
            ("owner", "proposal."),
        ];
        filters.map(|(actor, verb)| (subject.clone(), actor, verb))
    }) {
        let is_by_subject = subject.is_some();
        let filter = FactFilter {
            subject,
            actor: actor.to_owned(),
            verb: verb.to_owned(),
        };
        let steps = plan(listed(&filter, 9));
        let [step] = steps.as_slice() else {
            panic!("one search and no sorting: {steps:?}");
        };
        assert!(step.starts_with("SEARCH facts USING "), "{step}");
        let by = if is_by_subject {
            "(subject=? AND "
        } else {
            "INTEGER PRIMARY KEY (rowid"
        };
        assert!(step.contains(by), "{step}");
    }
}

/// Of every filter that is left out there is no condition, so that the engine looks at no row for nothing.
#[test]
fn what_is_not_asked_for_is_not_in_the_text() {
    let all = format!("{:?}", listed(&FactFilter::default(), 9));
    for column in ["actor, 1", "verb, 1", "subject ="] {
        assert!(!all.contains(column), "{all}");
    }
}
