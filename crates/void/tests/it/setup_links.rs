//! The way to a first credential: the link that a start prints, and `void setup-link`.

use std::fs;

use serde_json::json;
use void_testkit::eventually_blocking;

use crate::lab::{Lab, call, word};

/// The status of a login with the code of this link.
fn follow(lab: &Lab, url: &str) -> u16 {
    let base = format!("http://localhost:{}/#/setup/", lab.address.port());
    let code = url
        .strip_prefix(&base)
        .unwrap_or_else(|| panic!("{url} does not begin with {base}"));
    let body = json!({"setup": code});
    let answer = call(lab.address, "POST", "/api/session", "", Some(&body));
    answer.unwrap().0
}

#[test]
fn a_first_start_prints_a_link_that_opens_a_session_once() {
    let lab = Lab::new();
    let serving = lab.start(&["serve"]);
    let link = eventually_blocking("the link to be printed", || {
        let lines = serving.lines();
        let mut links = lines.iter().filter_map(|line| line.split_once("hour: "));
        links.next().map(|(_, link)| link.to_owned())
    });
    eventually_blocking("the server to answer", || {
        let ready = call(lab.address, "GET", "/readyz", "", None);
        ready.filter(|(status, _)| *status == 200)
    });
    assert_eq!(follow(&lab, &link), 200);
    assert_eq!(follow(&lab, &link), 401);
}

#[test]
fn a_link_is_printed_at_any_time_for_people_and_programs() {
    let lab = Lab::new();
    let _server = lab.serve(&[]);
    let printed = lab.void(&["setup-link"]);
    let link = String::from_utf8(printed.stdout).unwrap();
    assert_eq!(follow(&lab, link.trim()), 200);
    let said = String::from_utf8(printed.stderr).unwrap();
    assert!(said.contains("once, until "), "{said}");
    let made = lab.json(&["setup-link"], 0);
    assert_eq!(follow(&lab, word(&made, "url")), 200);
    assert!(made["expires_at"].is_string(), "{made}");
    // The code reaches neither the log nor the record.
    let (_, code) = link.trim().split_once("/#/setup/").unwrap();
    assert!(!lab.log().contains(code));
    lab.void(&["audit", "export", lab.path("record").to_str().unwrap()]);
    let record = fs::read_to_string(lab.path("record")).unwrap();
    assert!(record.contains("setup_link.created") && !record.contains(code));
}
