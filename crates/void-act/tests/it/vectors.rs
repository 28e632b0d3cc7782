//! The ids that the catalogue parser of the server is fed too.

use std::ffi::OsStr;

use serde::Deserialize;
use serde_json::json;
use void_act::{ActionId, List, RESERVED, RESERVED_PREFIX, Reason, parse_command};

use crate::lab::Lab;

#[derive(Deserialize)]
struct Vectors {
    accept: Vec<String>,
    refuse: Vec<String>,
    reserved: Vec<String>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../../../docs/vectors/action-ids.json")).unwrap()
}

fn listable(id: &str) -> bool {
    let entry = json!({"id": id, "argv": ["/bin/true"], "tier": "safe"});
    let list = json!({"version": 1, "host": "h", "stop_file": "/stop", "entries": [entry]});
    List::parse(list.to_string().as_bytes()).is_ok()
}

#[test]
fn every_vector_is_judged_alike_by_parser_list_and_binary() {
    let Vectors {
        accept,
        refuse,
        reserved,
    } = vectors();
    assert!(accept.len() + refuse.len() + reserved.len() >= 60);
    let lab = Lab::new(&[]);
    for id in &accept {
        assert!(
            ActionId::parse(id).is_some_and(|id| !id.is_reserved()),
            "{id:?}"
        );
        assert!(listable(id), "{id:?}");
        lab.call(id).refused(Reason::UnknownAction);
    }
    for id in &reserved {
        assert!(id.starts_with(RESERVED_PREFIX));
        assert!(
            ActionId::parse(id).is_some_and(|id| id.is_reserved()),
            "{id:?}"
        );
        assert!(!listable(id), "{id:?}");
    }
    assert!(
        RESERVED
            .iter()
            .all(|id| reserved.iter().any(|vector| vector == id))
    );
    for id in &refuse {
        assert!(ActionId::parse(id).is_none(), "{id:?}");
        assert!(parse_command(OsStr::new(id)).is_err(), "{id:?}");
        assert!(!listable(id), "{id:?}");
        if !id.contains('\0') {
            lab.call(id).refused(Reason::BadCommand);
        }
    }
}
