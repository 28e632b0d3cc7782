//! What the inlines of a tree say without their marks.

pub(crate) use void_api::markdown::{Block, Inline};

/// What inlines say without their marks.
pub(super) fn words(inlines: &[Inline]) -> String {
    let mut said = String::new();
    add_words(inlines, &mut said);
    said
}

fn add_words(inlines: &[Inline], said: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text { text } | Inline::Code { text } => said.push_str(text),
            Inline::Break => said.push('\n'),
            Inline::Image { alt } => said.push_str(alt),
            Inline::Link { inlines, .. }
            | Inline::Strong { inlines }
            | Inline::Emphasis { inlines }
            | Inline::Strikethrough { inlines } => add_words(inlines, said),
        }
    }
}
