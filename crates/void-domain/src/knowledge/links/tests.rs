use super::*;

const ID: &str = "01999999-0000-7000-8000-000000000001";

fn named(text: &str) -> Vec<String> {
    let links = Links::of(text).links;
    let name = |link: &Link| {
        let name = match &link.target {
            LinkTarget::Title(title) => title.clone(),
            LinkTarget::Entity(id) => format!("{}/{id}", id.kind()),
        };
        assert!(text.get(link.at.clone()).is_some(), "{:?}", link.at);
        let words = link.words.as_ref().map(|words| format!("|{words}"));
        format!(
            "{}{name}{}",
            if link.is_embed { "!" } else { "" },
            words.unwrap_or_default()
        )
    };
    links.iter().map(name).collect()
}

#[test]
fn links_are_read_as_they_are_written() {
    let address = format!("see [the page](void:page/{ID}).");
    for (text, expected) in [
        ("a [[Title]] b", vec!["Title"]),
        ("[[Title|some words]]", vec!["Title|some words"]),
        ("| [[Title\\|words]] |", vec!["Title|words"]),
        (
            "[[ Title#part ]] ![[image.png]]",
            vec!["Title", "!image.png"],
        ),
        ("[[Größe]][[東京|x]]", vec!["Größe", "東京|x"]),
        ("[[a [[b]] [[[c]]]", vec!["b", "c"]),
        ("[[a]\n[b]] [[]] [[#x]] [[|x]] [a](b) [[a", vec![]),
        (r"\[[a]] [\[b]] \\[[c]]", vec!["c"]),
        ("`[[a]]` ``[[b]] ` [[c]]`` ` [[d]]", vec!["d"]),
        (
            "```sh\n[[a]]\n```\n[[b]]\n~~~\n[[c]]\n```\n[[d]]",
            vec!["b"],
        ),
        ("a\r\n[[b]]\r\n", vec!["b"]),
        (&address, vec![&*format!("page/{ID}")]),
    ] {
        assert_eq!(named(text), expected, "{text:?}");
    }
}

#[test]
fn an_address_names_an_entity_or_nothing() {
    for bad in [
        format!("[a](void:node/{ID})"),
        format!("[a](void:page/{})", ID.to_uppercase().replace('0', "A")),
        "[a](void:page/../x)".to_owned(),
        format!("[a](void:page/{ID}"),
        format!("[a](https://x/void:page/{ID})"),
        format!("[a](void:page/{ID}{})", "0".repeat(ADDRESS_BYTES_MAX)),
    ] {
        assert!(named(&bad).is_empty(), "{bad}");
    }
    for kind in EntityKind::ALL {
        assert_eq!(
            named(&format!("[a](void:{kind}/{ID})")),
            [format!("{kind}/{ID}")]
        );
    }
}

#[test]
fn so_many_links_are_read_and_it_is_said_that_there_are_more() {
    let links = |count: usize| Links::of(&"[[a]] ".repeat(count));
    let most = links(LINKS_MAX);
    assert_eq!((most.links.len(), most.is_cut), (LINKS_MAX, false));
    assert_eq!(most.targets().len(), 1);
    let more = links(LINKS_MAX + 1);
    assert_eq!((more.links.len(), more.is_cut), (LINKS_MAX, true));
    let longest = "a".repeat(LINK_BYTES_MAX);
    assert_eq!(named(&format!("[[{longest}]]")).len(), 1);
    assert_eq!(named(&format!("[[{longest}a]] [[b]]")), ["b"]);
}

/// Texts that make a reader go over the same bytes again and again; none takes long.
#[test]
fn no_text_is_slow_to_read() {
    let size = crate::limits::PAGE_BYTES_MAX;
    let ladder: String = (1..1_000).map(|n| format!("{} ", "`".repeat(n))).collect();
    for text in [
        "[".repeat(size),
        "[[a".repeat(size / 3),
        "]".repeat(size),
        "](void:".repeat(size / 7),
        "`a".repeat(size / 2),
        ladder,
        format!("[[{}", "a".repeat(size)),
        "```\n".repeat(size / 4),
        "\\".repeat(size),
    ] {
        let found = Links::of(&text);
        assert!(found.links.is_empty(), "{:?}", text.get(..20));
    }
}
