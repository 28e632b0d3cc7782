//! Where the page's sources say `any` as a type: within braces in a JSDoc comment, or in a declaration file.

use std::fs;
use std::path::Path;

/// On the line, or on the one before.
const REASON: &str = "any, because ";

pub fn look(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.to_string_lossy().into_owned();
        let is_declaration = name.ends_with(".ts");
        if path.is_dir() {
            look(&path, found);
        } else if is_declaration || name.ends_with(".js") {
            let lines = without_reason(&fs::read_to_string(&path).unwrap(), is_declaration);
            found.extend(lines.iter().map(|line| format!("{name}:{line}")));
        }
    }
}

/// The numbers of the lines.
fn without_reason(text: &str, is_declaration: bool) -> Vec<usize> {
    let mut found = Vec::new();
    let mut comment = Comment::default();
    let mut before = "";
    for (at, line) in text.lines().enumerate() {
        let has_any = comment.has_any(line, is_declaration);
        if has_any && !line.contains(REASON) && !before.contains(REASON) {
            found.push(at + 1);
        }
        before = line;
    }
    found
}

#[derive(Default)]
struct Comment {
    is_open: bool,
    braces: usize,
}

impl Comment {
    /// Whether the line has a type `any`; what follows it goes on from there.
    fn has_any(&mut self, line: &str, is_declaration: bool) -> bool {
        let mut rest = line;
        let mut has_any = false;
        while !rest.is_empty() {
            let mark = if self.is_open { "*/" } else { "/**" };
            let (part, after) = rest.split_once(mark).unwrap_or((rest, ""));
            has_any |= if self.is_open {
                self.in_braces(part)
            } else {
                is_declaration && names_any(part)
            };
            if rest.contains(mark) {
                *self = Self {
                    is_open: !self.is_open,
                    braces: 0,
                };
            }
            rest = after;
        }
        has_any
    }

    fn in_braces(&mut self, part: &str) -> bool {
        let mut has_any = false;
        for piece in part.split_inclusive(['{', '}']) {
            has_any |= self.braces > 0 && names_any(piece);
            if piece.ends_with('{') {
                self.braces += 1;
            } else if piece.ends_with('}') {
                self.braces = self.braces.saturating_sub(1);
            }
        }
        has_any
    }
}

fn names_any(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .any(|word| word == "any")
}

#[test]
fn an_any_is_found_in_types_and_nowhere_else() {
    let page = "\
/** Like any other. @param {any} one */
const any = 1; // {any}
/**
 * Of any {
 *   kind: any } or any
 */
/** any, because it is foreign. @type {any} */
// any, because nobody knows it
/** @type {Record<string, any>} */
const many = /** @type {any[]} */ (any);
";
    assert_eq!(without_reason(page, false), [1, 5, 10]);
    let declarations = "/** any */\nexport type A = any;\nexport type B = Many;\n";
    assert_eq!(without_reason(declarations, true), [2]);
}
