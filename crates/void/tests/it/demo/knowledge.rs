//! What the owner of the demo's lab would have written down.

use serde_json::Value;

use super::{Demo, example};
use crate::lab::word;

#[test]
fn what_one_knows_about_the_lab_is_there_to_try_it_on() {
    let demo = Demo::start();
    let kept = |kind: &str| {
        demo.json(&["kb", "ls", kind])[kind]
            .as_array()
            .unwrap()
            .len()
    };
    // Three pages of the first start, and those of somebody who has this lab.
    assert_eq!(
        (kept("pages"), kept("tasks"), kept("refs"), kept("projects")),
        (7, 4, 1, 1)
    );
    let manual = demo.json(&["kb", "show", "iVentoy: how it works"]);
    assert_eq!(manual["foreign"], true, "{manual}");
    let page = demo.json(&["kb", "show", "iVentoy"]);
    assert_eq!(page["foreign"], false, "{page}");
    // What its runbooks name is there.
    let known: Vec<String> = ["actions.json", "services.json"]
        .iter()
        .flat_map(|name| ids(&example(name)))
        .collect();
    let pages = demo.json(&["kb", "ls", "pages"]);
    let mut named = 0;
    for page in pages["pages"].as_array().unwrap() {
        let page = demo.json(&["kb", "show", word(page, "title")]);
        let lines = word(&page, "body")
            .lines()
            .filter(|line| line.starts_with("services: [") || line.starts_with("actions: ["));
        for line in lines {
            let list = line.split_once('[').unwrap().1.trim_end_matches(']');
            for id in list.split(", ") {
                assert!(known.iter().any(|one| one == id), "{id}: {page}");
                named += 1;
            }
        }
    }
    assert!(named >= 6, "{named}");
}

fn ids(file: &Value) -> Vec<String> {
    let lists = [&file["actions"], &file["services"]]
        .into_iter()
        .filter_map(Value::as_array)
        .flatten();
    lists.map(|one| word(one, "id").to_owned()).collect()
}
