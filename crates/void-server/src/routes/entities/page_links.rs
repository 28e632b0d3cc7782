//! Links between entities as links of the page, before the text is read as Markdown: `[[Title]]` and `[words](void:page/ID)` lead
//! to `#/knowledge/pages/ID` if they mean exactly one thing that is there. What means nothing stays the text that it is.

use std::collections::HashMap;

use void_domain::ids::AttachmentId;
use void_domain::knowledge::{EntityId, LinkTarget, Links};

use super::noun;

/// What a target of a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::routes) enum Meaning {
    Entity(EntityId),
    File(AttachmentId),
}

impl Meaning {
    /// Its place in the page.
    fn place(self) -> String {
        match self {
            Self::Entity(id) => format!("{}/{id}", noun(id.kind())),
            Self::File(id) => format!("attachments/{id}"),
        }
    }
}

pub(in crate::routes) type Meant = HashMap<LinkTarget, Meaning>;

pub(in crate::routes) fn with_page_links(text: &str, meant: &Meant) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for link in Links::of(text).links {
        // An entity is not shown in the place of its name; a file is named where it would be.
        let is_shown = |meaning: &&Meaning| match meaning {
            Meaning::Entity(_) => !link.is_embed,
            Meaning::File(_) => true,
        };
        let Some(meaning) = meant.get(&link.target).filter(is_shown) else {
            continue;
        };
        shown.push_str(text.get(from..link.at.start).unwrap_or_default());
        if let LinkTarget::Title(title) = &link.target {
            shown.push('[');
            // What stands behind the name of something embedded is how wide it is to be.
            let words = link.words.as_deref().filter(|_| !link.is_embed);
            shown.push_str(&plain(words.unwrap_or(title)));
        }
        // Of an address, its words stand before it already.
        shown.push_str(&format!("](#/knowledge/{})", meaning.place()));
        from = link.at.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    shown
}

/// Words in which no sign means anything to Markdown.
fn plain(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    for letter in words.chars() {
        if letter.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown;

    const ID: &str = "019a0000-0000-7000-8000-000000000000";

    fn meant(title: &str) -> Meant {
        let id = EntityId::Page(ID.parse().unwrap());
        let both = [LinkTarget::Title(title.to_owned()), LinkTarget::Entity(id)];
        let page = Meaning::Entity(id);
        let meant = both.into_iter().map(|target| (target, page));
        let file = Meaning::File(ID.parse().unwrap());
        meant
            .chain([(LinkTarget::Title("a b.png".to_owned()), file)])
            .collect()
    }

    #[test]
    fn a_file_is_named_where_it_is_embedded() {
        let to = format!("](#/knowledge/attachments/{ID})");
        for text in ["[[a b.png]]", "![[a b.png]]"] {
            let shown = with_page_links(text, &meant("Caddy"));
            assert_eq!(shown, format!("[a b\\.png{to}"), "{text}");
        }
        let sized = with_page_links("![[a b.png|300]]!", &meant("Caddy"));
        assert_eq!(sized, format!("[a b\\.png{to}!"));
    }

    #[test]
    fn what_means_one_thing_leads_there() {
        let to = format!("](#/knowledge/pages/{ID})");
        for (text, shown) in [
            ("See [[Caddy]].", format!("See [Caddy{to}.")),
            ("[[Caddy|the *proxy*]]", format!("[the \\*proxy\\*{to}")),
            (
                &*format!("[words](void:page/{ID})!"),
                format!("[words{to}!"),
            ),
            (
                "[[Nowhere]] and ![[Caddy]]",
                "[[Nowhere]] and ![[Caddy]]".to_owned(),
            ),
            ("`[[Caddy]]`", "`[[Caddy]]`".to_owned()),
            ("größe [[Caddy]] größe", format!("größe [Caddy{to} größe")),
            ("", String::new()),
        ] {
            assert_eq!(with_page_links(text, &meant("Caddy")), shown, "{text}");
        }
    }

    /// Whatever it is called, a link is one link to one place.
    #[test]
    fn no_words_of_a_link_lead_elsewhere() {
        for words in ["<img src=x>", "\\", "`a", "*a* _b_", "https://evil.example"] {
            let text = format!("[[Caddy|{words}]]");
            let shown = with_page_links(&text, &meant("Caddy"));
            let blocks = serde_json::to_string(&markdown::read(&shown)).unwrap();
            assert_eq!(
                blocks.matches("\"type\":\"link\"").count(),
                1,
                "{words}: {blocks}"
            );
            let to = format!("\"to\":\"#/knowledge/pages/{ID}\"");
            assert!(blocks.contains(&to), "{words}: {blocks}");
        }
        // A bracket ends it before its end, so it is no link of ours; Markdown reads what stands there as ever.
        for words in [
            "a](https://evil.example) [b",
            "](javascript:alert(1))",
            "![x](https://evil.example/y.png)",
        ] {
            let text = format!("[[Caddy|{words}]]");
            let shown = with_page_links(&text, &meant("Caddy"));
            assert_eq!(shown, text);
            let blocks = serde_json::to_string(&markdown::read(&shown)).unwrap();
            // Of a picture from elsewhere its words are shown, and nothing is fetched.
            assert!(!blocks.contains("y.png"), "{words}: {blocks}");
            assert!(!blocks.contains("\"to\":\"javascript"), "{words}: {blocks}");
        }
    }
}
