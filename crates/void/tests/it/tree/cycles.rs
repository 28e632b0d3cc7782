//! Which modules of a crate import each other in a circle: a room that cannot be read without all the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::root;

/// How many modules of a crate may import each other in a circle.
const CYCLE_MAX: usize = 3;

type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn no_circle_of_imports_has_more_than_three_modules() {
    let mut seen = 0;
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let uses = uses(&folder.join("src"));
        let largest = largest_circle(&uses);
        assert!(
            largest.len() <= CYCLE_MAX,
            "modules of {name} import each other in a circle: {largest:?}"
        );
        seen += uses.len();
    }
    assert!(seen > 200, "{seen} modules were looked at");
}

#[test]
fn circles_are_found() {
    let uses = |edges: &[(&str, &str)]| {
        let mut all = Uses::new();
        for (from, to) in edges {
            all.entry((*from).to_owned())
                .or_default()
                .insert((*to).to_owned());
            all.entry((*to).to_owned()).or_default();
        }
        all
    };
    let chain = uses(&[("a", "b"), ("b", "c"), ("c", "d")]);
    assert_eq!(largest_circle(&chain).len(), 0);
    let circle = uses(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e")]);
    assert_eq!(largest_circle(&circle), ["a", "b", "c", "d"]);
    let known = ["one", "two", "three"].map(str::to_owned).into();
    let text = "use crate::one::X;\nuse crate::{two, other as o};\n// crate::three\nfn f() { crate::one::g() }";
    assert_eq!(
        named_in(text, &known),
        ["one", "two"].map(str::to_owned).into()
    );
    let nested = "use crate::{\n    two::{X, Y},\n    three,\n};";
    assert_eq!(
        named_in(nested, &known),
        ["three", "two"].map(str::to_owned).into()
    );
}

/// Which top-level modules each one names, in what is not its tests.
fn uses(source: &Path) -> Uses {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    gather(source, None, &mut texts);
    let known: BTreeSet<String> = texts.keys().cloned().collect();
    texts
        .into_iter()
        .map(|(name, text)| {
            let mut named = named_in(&text, &known);
            named.remove(&name);
            (name, named)
        })
        .collect()
}

fn gather(folder: &Path, module: Option<&str>, texts: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = module.unwrap_or(&stem);
        if stem == "tests" || (["lib", "main"].contains(&module) && path.is_file()) {
            continue;
        }
        if path.is_dir() {
            gather(&path, Some(module), texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            texts.entry(module.to_owned()).or_default().push_str(code);
        }
    }
}

/// The modules that follow `crate::`, alone or in braces.
fn named_in(text: &str, known: &BTreeSet<String>) -> BTreeSet<String> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut named = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        let listed = part.strip_prefix('{').map(top_level);
        let first = || vec![part.to_owned()];
        for path in listed.unwrap_or_else(first) {
            let name: String = path
                .trim_start()
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                .collect();
            if known.contains(&name) {
                named.insert(name);
            }
        }
    }
    named
}

/// The paths of a list in braces, without what is in braces within.
fn top_level(list: &str) -> Vec<String> {
    let (mut depth, mut paths) = (1, vec![String::new()]);
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => paths.push(String::new()),
            letter if depth == 1 => paths.last_mut().unwrap().push(letter),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    paths
}

/// The largest set of modules of which each one reaches all the others.
fn largest_circle(uses: &Uses) -> Vec<String> {
    let reached = |from: &str| {
        let (mut all, mut left) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(module) = left.pop() {
            for next in uses.get(&module).into_iter().flatten() {
                if all.insert(next.clone()) {
                    left.push(next.clone());
                }
            }
        }
        all
    };
    let reach: BTreeMap<&String, BTreeSet<String>> =
        uses.keys().map(|name| (name, reached(name))).collect();
    let circle = |name: &String| -> Vec<String> {
        let back = |other: &&String| reach.get(other).is_some_and(|all| all.contains(name));
        reach[name].iter().filter(back).cloned().collect()
    };
    let circles = uses.keys().map(circle);
    circles.max_by_key(Vec::len).unwrap_or_default()
}
