use super::*;
use crate::queries::plan;

/// Whatever is asked for, on the first page and on the next: rows come in the order of an index, and none is
/// sorted.
#[test]
fn every_filter_of_the_list_is_read_by_an_index() {
    let id: ProposalId = "01999999-0000-7000-8000-000000000001".parse().unwrap();
    let requester: RequesterId = "01999999-0000-7000-8000-000000000002".parse().unwrap();
    for status in [None, Some(Status::Failed)] {
        for requester in [None, Some(requester)] {
            for cursor in [None, Some(id)] {
                let index = match (status, requester) {
                    (_, Some(_)) => "proposals_by_requester (requester_id=?",
                    (Some(_), None) => "proposals_by_status (status=?",
                    (None, None) => "sqlite_autoindex_proposals_1",
                };
                let plan = plan(filtered(ProposalFilter { status, requester }, cursor));
                let [step] = plan.as_slice() else {
                    panic!("{plan:?}");
                };
                assert!(step.contains(&format!("USING INDEX {index}")), "{step}");
                assert_eq!(step.contains("id<?"), cursor.is_some(), "{step}");
            }
        }
    }
}
