//! The whole application over HTTP: every route, every caller, every bound.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    unreachable_pub,
    reason = "tests stop at the first surprise"
)]

mod alerts;
mod api_page;
mod apps;
mod authz;
mod bodies;
mod bounds;
mod budgets;
mod callers;
mod captures;
mod checks;
mod companion_errors;
mod companions;
mod costs;
mod display_states;
mod edited_rows;
mod edited_words;
mod executions;
mod fence;
mod floods;
mod forgeries;
mod instances;
mod joins;
mod labs;
mod leaks;
mod machines;
mod marks;
mod masks;
mod mcp_resources;
mod newer_events;
mod nods;
mod noise;
mod openapi;
mod outputs;
mod page_types;
mod pages;
mod phones;
mod planted;
mod pve;
mod races;
mod raw;
mod remembered;
mod retention;
mod rollbacks;
mod routes;
mod safe_runs;
mod secrets;
mod settling;
mod sse;
mod stands;
mod stops;
mod strangers;
mod streams;
mod takeovers;
mod talks;
mod telegram;
mod thefts;
mod webs;
mod writes;

/// A file that nobody declares is a test that nobody runs.
#[test]
fn every_file_is_part_of_this() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let declared = |file: &str| std::fs::read_to_string(here.join(file)).unwrap();
    for (folder, list) in [("", declared("main.rs")), ("routes", declared("routes.rs"))] {
        for entry in std::fs::read_dir(here.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let named = list
                .lines()
                .any(|line| line.ends_with(&format!("mod {name};")));
            assert!(
                named || name == "main",
                "{} is not declared",
                path.display()
            );
        }
    }
    // And every file of routes has its tests; the stream has its own.
    let source = here.join("../../src/routes");
    for entry in std::fs::read_dir(source).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // What a folder holds is tested with the file beside it.
        let file = format!("{}.rs", name.trim_end_matches(".rs"));
        let tested = here.join("routes").join(file).exists() || name == "events.rs";
        assert!(tested, "src/routes/{name} has no tests");
    }
}
