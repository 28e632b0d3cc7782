//! Joins the modules of the page into few files, so that a browser asks for few. What the sources may
//! use is small on purpose: named imports and exports, one name for one thing, no cycles. Used by the
//! build script, and in debug builds for every request, so that an edit shows at a reload.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Loaded by `index.html`; the pages that are loaded later find the modules of this one in it.
const APP: &str = "app.js";
/// Loaded by the page of a single proposal; stands alone.
const LINK: &str = "link.js";
const PAGES: &str = "pages/";
const STYLES_FIRST: [&str; 2] = ["css/tokens.css", "css/base.css"];
const LINK_STYLES: [&str; 4] = [
    "css/tokens.css",
    "css/base.css",
    "css/controls.css",
    "css/card.css",
];

/// A file of the page as a browser gets it.
pub(crate) struct Packed {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

struct Module {
    name: String,
    imports: Vec<Import>,
    exports: Vec<String>,
    body: String,
}

struct Import {
    from: String,
    names: Vec<String>,
}

type Result<T> = std::result::Result<T, String>;

/// Everything in a folder of sources, packed.
pub(crate) fn pack(root: &Path) -> Result<Vec<Packed>> {
    let mut names = Vec::new();
    collect(root, "", &mut names)?;
    names.sort();
    let read = |name: &str| fs::read(root.join(name)).map_err(|error| format!("{name}: {error}"));
    let mut files = Vec::new();
    let app = closure(root, APP)?;
    let in_app: BTreeSet<String> = app.iter().map(|module| module.name.clone()).collect();
    files.push(packed(APP, &joined(&app, &[])?));
    files.push(packed(LINK, &joined(&closure(root, LINK)?, &[])?));
    let mut owner_of: Vec<(String, String)> = Vec::new();
    for page in names
        .iter()
        .filter(|name| name.starts_with(PAGES) && !in_app.contains(*name))
    {
        let all = closure(root, page)?;
        let (shared, own): (Vec<Module>, Vec<Module>) = all
            .into_iter()
            .partition(|module| in_app.contains(&module.name));
        for module in &own {
            if let Some((_, other)) = owner_of.iter().find(|(name, _)| *name == module.name) {
                let name = &module.name;
                return Err(format!(
                    "{name} is needed by {other} and {page}: import it in {APP} too"
                ));
            }
            owner_of.push((module.name.clone(), page.clone()));
        }
        let shared: Vec<String> = shared
            .into_iter()
            .flat_map(|module| module.exports)
            .collect();
        files.push(packed(page, &joined(&own, &shared)?));
    }
    let mut styles: Vec<&str> = STYLES_FIRST.to_vec();
    let is_style = |name: &&String| name.starts_with("css/");
    for name in names.iter().filter(is_style) {
        if !STYLES_FIRST.contains(&name.as_str()) {
            styles.push(name);
        }
    }
    for (name, parts) in [("app.css", styles.as_slice()), ("link.css", &LINK_STYLES)] {
        let mut text = String::new();
        for part in parts {
            let style = fs::read_to_string(root.join(part));
            let style = style.map_err(|error| format!("{part}: {error}"))?;
            push_style(&mut text, &style);
        }
        files.push(packed(name, &text));
    }
    for name in &names {
        let is_module = name.ends_with(".js") && !matches!(name.as_str(), "theme.js" | "sw.js");
        if !is_module && !name.ends_with(".css") && !name.ends_with(".d.ts") {
            files.push(Packed {
                name: name.clone(),
                bytes: read(name)?,
            });
        }
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}

fn packed(name: &str, text: &str) -> Packed {
    Packed {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

fn collect(root: &Path, folder: &str, names: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(root.join(folder)).map_err(|error| format!("{folder}: {error}"))?;
    for entry in entries {
        let entry = entry.map_err(|error| format!("{folder}: {error}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        if entry.path().is_dir() {
            collect(root, &path, names)?;
        } else {
            names.push(path);
        }
    }
    Ok(())
}

/// A module and everything it needs, needed ones first.
fn closure(root: &Path, entry: &str) -> Result<Vec<Module>> {
    let mut modules = Vec::new();
    visit(root, entry, &mut Vec::new(), &mut modules)?;
    Ok(modules)
}

fn visit(root: &Path, name: &str, open: &mut Vec<String>, done: &mut Vec<Module>) -> Result<()> {
    if done.iter().any(|module| module.name == name) {
        return Ok(());
    }
    if open.iter().any(|other| other == name) {
        return Err(format!("{name} imports itself, by way of {open:?}"));
    }
    let text = fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))?;
    let module = parse(name, &text)?;
    open.push(name.to_owned());
    for import in &module.imports {
        visit(root, &import.from, open, done)?;
        let wanted = done.iter().find(|module| module.name == import.from);
        let exports = wanted.map_or(&[][..], |module| &module.exports);
        if let Some(missing) = import.names.iter().find(|name| !exports.contains(name)) {
            return Err(format!("{name}: {} exports no {missing}", import.from));
        }
    }
    open.pop();
    done.push(module);
    Ok(())
}

fn parse(name: &str, text: &str) -> Result<Module> {
    let mut module = Module {
        name: name.to_owned(),
        imports: Vec::new(),
        exports: Vec::new(),
        body: String::new(),
    };
    let mut lines = text.lines();
    let mut in_comment = false;
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        let is_cast = start.starts_with("/**") && start.contains("*/") && !start.ends_with("*/");
        if in_comment || (start.starts_with("/**") && !is_cast) {
            in_comment = !line.trim_end().ends_with("*/");
        } else if start.starts_with("//") || start.is_empty() {
        } else if line.starts_with("import ") {
            let mut statement = line.to_owned();
            while !statement.trim_end().ends_with(';') {
                let more = lines
                    .next()
                    .ok_or_else(|| format!("{name}: an import without end"))?;
                statement.push(' ');
                statement.push_str(more.trim());
            }
            module.imports.push(import(name, &statement)?);
        } else if let Some(rest) = line.strip_prefix("export ") {
            module.exports.push(exported(name, rest)?);
            push_line(&mut module, rest)?;
        } else {
            push_line(&mut module, line)?;
        }
    }
    Ok(module)
}

/// Without the blanks before it, which only an editor needs; a text that goes on from the line before keeps them.
fn push_line(module: &mut Module, line: &str) -> Result<()> {
    if !line.matches('`').count().is_multiple_of(2) {
        let name = &module.name;
        return Err(format!(
            "{name}: a text of several lines in backticks: {line}"
        ));
    }
    let goes_on = module.body.ends_with("\\\n");
    let line = if goes_on { line } else { line.trim_start() };
    module.body.push_str(line);
    module.body.push('\n');
    Ok(())
}

/// Without comments and the blanks before each line.
fn push_style(text: &mut String, style: &str) {
    let mut in_comment = false;
    for line in style.lines().map(str::trim) {
        in_comment |= line.starts_with("/*");
        if !in_comment && !line.is_empty() {
            text.push_str(line);
            text.push('\n');
        }
        in_comment &= !line.ends_with("*/");
    }
}

/// `import { a, b } from "./c.js";`
fn import(name: &str, statement: &str) -> Result<Import> {
    let unknown = || format!("{name}: only `import {{ … }} from \"./…\";` is known: {statement}");
    let rest = statement.strip_prefix("import {").ok_or_else(unknown)?;
    let (names, rest) = rest.split_once('}').ok_or_else(unknown)?;
    let path = rest.trim().strip_prefix("from \"").ok_or_else(unknown)?;
    let path = path.strip_suffix("\";").ok_or_else(unknown)?;
    let names: Vec<String> = names
        .split(',')
        .map(|word| word.trim().to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    if names.iter().any(|word| word.contains(' ')) {
        return Err(unknown());
    }
    let mut parts: Vec<&str> = name.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Ok(Import {
        from: parts.join("/"),
        names,
    })
}

/// The name that `function a(`, `async function a(`, `class A` or `const a =` gives.
fn exported(name: &str, rest: &str) -> Result<String> {
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let after = ["function ", "class ", "const "]
        .iter()
        .find_map(|word| rest.strip_prefix(word));
    let word: String = after
        .unwrap_or_default()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
        .collect();
    if word.is_empty() {
        return Err(format!(
            "{name}: only functions, classes and constants are exported: {rest}"
        ));
    }
    Ok(word)
}

/// Modules as one: each in a function of its own, so that only what it exports is seen by others.
fn joined(modules: &[Module], shared: &[String]) -> Result<String> {
    let mut text = String::new();
    let mut exports: BTreeSet<&str> = BTreeSet::new();
    // Writing to a string cannot fail.
    if !shared.is_empty() {
        let _ = writeln!(
            text,
            "import {{ {} }} from \"../{APP}\";",
            shared.join(", ")
        );
    }
    for module in modules {
        let names = module.exports.join(", ");
        let taken = |name: &&String| shared.contains(name) || exports.contains(name.as_str());
        if let Some(twice) = module.exports.iter().find(taken) {
            return Err(format!(
                "{}: the name {twice} is taken by another module",
                module.name
            ));
        }
        exports.extend(module.exports.iter().map(String::as_str));
        let head = if names.is_empty() {
            String::new()
        } else {
            format!("const {{ {names} }} = ")
        };
        let _ = write!(
            text,
            "{head}(() => {{\n{}return {{ {names} }};\n}})();\n",
            module.body
        );
    }
    let exports: Vec<&str> = exports.into_iter().collect();
    let _ = writeln!(text, "export {{ {} }};", exports.join(", "));
    Ok(text)
}
