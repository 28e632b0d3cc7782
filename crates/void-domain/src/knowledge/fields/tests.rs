use super::*;

#[test]
fn a_title_is_one_line_of_its_length() {
    let longest = "é".repeat(TITLE_CHARS_MAX);
    for good in ["a", "Größe: 東京 🙂", "[[a]]", &longest] {
        assert_eq!(Title::parse(good).unwrap().as_str(), good);
    }
    assert_eq!(Title::parse("  a b ").unwrap().as_str(), "a b");
    let longer = format!("{longest}é");
    for bad in ["", "   ", "a\nb", "a\tb", "a\u{85}b", "a\0", &longer] {
        assert_eq!(Title::parse(bad), Err(InvalidField::Title), "{bad:?}");
    }
}

#[test]
fn titles_that_a_link_means_alike_have_one_key() {
    let key = |title: &str| Title::parse(title).unwrap().key();
    assert_eq!(key("Back up  the\u{a0}NAS"), key("back UP the nas"));
    assert_ne!(key("backup"), key("back up"));
}

#[test]
fn a_body_is_kept_as_it_came_up_to_its_bound() {
    let odd = "\u{feff}---\r\na: b\r\n---\rx\u{1b}[2J\u{202e}";
    assert_eq!(Body::parse(odd).unwrap().as_str(), odd);
    assert!(Body::new("a".repeat(PAGE_BYTES_MAX)).is_ok());
    assert_eq!(
        Body::new("a".repeat(PAGE_BYTES_MAX + 1)),
        Err(InvalidField::Body)
    );
    assert_eq!(Body::parse("a\0b"), Err(InvalidField::Body));
}

#[test]
fn a_day_has_one_spelling() {
    for good in ["2026-11-19", "0001-01-01", "9999-12-31", "2028-02-29"] {
        assert_eq!(DueDate::parse(good).unwrap().to_string(), good);
    }
    for bad in [
        "",
        "2026-11-31",
        "2026-2-1",
        "20261119",
        "2026-11-19T00:00",
        "0000-01-01",
        "-000001-01-01",
        "tomorrow",
        " 2026-11-19",
    ] {
        assert_eq!(DueDate::parse(bad), Err(InvalidField::Due), "{bad:?}");
    }
    assert!(DueDate::parse("2026-11-19").unwrap() < DueDate::parse("2026-11-20").unwrap());
}

#[test]
fn an_address_is_of_the_web_and_of_one_host() {
    for (text, kept) in [
        ("https://example.org", "https://example.org"),
        (
            "HTTP://example.org:8080/a?b=c#d",
            "http://example.org:8080/a?b=c#d",
        ),
        ("https://[::1]/x", "https://[::1]/x"),
        ("https://bücher.example/ä", "https://bücher.example/ä"),
        (" https://a ", "https://a"),
    ] {
        assert_eq!(RefUrl::parse(text).unwrap().as_str(), kept);
    }
    let long = format!("https://a/{}", "b".repeat(REF_URL_BYTES_MAX));
    for bad in [
        "",
        "example.org",
        "ftp://a",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https:///a",
        "https://:80/",
        "https://user@example.org/",
        "https://example.org@evil.example/",
        "https://a b",
        "https://a\n",
        "java\nscript://a",
        "https://a\\b",
        "https://a/\u{202e}b",
        "https://a/<b>",
        "data:text/html,https://a",
        &long,
    ] {
        assert_eq!(RefUrl::parse(bad), Err(InvalidField::Url), "{bad:?}");
    }
}

#[test]
fn a_field_that_was_stored_is_judged_again_when_it_is_read() {
    assert!(serde_json::from_str::<Title>(r#""""#).is_err());
    assert!(serde_json::from_str::<RefUrl>(r#""javascript:x""#).is_err());
    assert!(serde_json::from_str::<DueDate>(r#""2026-13-01""#).is_err());
    assert!(serde_json::from_str::<TaskState>(r#""later""#).is_err());
}
