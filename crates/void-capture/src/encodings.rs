//! From bytes to text. UTF-8 is read wherever the bytes are UTF-8, whatever they are called; otherwise a byte
//! order mark counts, then what the server says, then what the page says of itself. Broken UTF-8 is replaced,
//! not refused; an encoding that is not known here is named, not guessed.

use crate::reports::Unreadable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
    /// What browsers read where a page says Latin-1.
    Windows1252,
}

/// How far into a page its own word about its encoding may stand.
const DECLARED_WITHIN_BYTES: usize = 1024;

/// 0x80 to 0x9f; what Windows left empty are control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// `said` is the server's word; `in_page` looks for the document's own where it has one.
pub(crate) fn decode(
    bytes: &[u8],
    said: Option<&str>,
    in_page: fn(&[u8]) -> Option<String>,
) -> Result<String, Unreadable> {
    let (bytes, marked) = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => (rest, Some(Encoding::Utf8)),
        [0xff, 0xfe, rest @ ..] => (rest, Some(Encoding::Utf16Le)),
        [0xfe, 0xff, rest @ ..] => (rest, Some(Encoding::Utf16Be)),
        _ => (bytes, None),
    };
    if marked.is_none()
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Ok(text.to_owned());
    }
    let encoding = match (marked, said) {
        (Some(encoding), _) => encoding,
        (None, Some(label)) => by_label(label)?,
        (None, None) => match in_page(bytes) {
            // A page whose own word could be read is not in UTF-16.
            Some(label) => match by_label(&label)? {
                Encoding::Utf16Le | Encoding::Utf16Be => Encoding::Utf8,
                other => other,
            },
            None => Encoding::Utf8,
        },
    };
    Ok(match encoding {
        Encoding::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
        Encoding::Utf16Le => utf16(bytes, u16::from_le_bytes),
        Encoding::Utf16Be => utf16(bytes, u16::from_be_bytes),
        Encoding::Windows1252 => bytes.iter().map(|byte| windows_1252(*byte)).collect(),
    })
}

fn by_label(label: &str) -> Result<Encoding, Unreadable> {
    match label.trim().to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" | "unicode-1-1-utf-8" => Ok(Encoding::Utf8),
        "utf-16" | "utf-16le" => Ok(Encoding::Utf16Le),
        "utf-16be" => Ok(Encoding::Utf16Be),
        "windows-1252" | "cp1252" | "x-cp1252" | "iso-8859-1" | "iso8859-1" | "iso_8859-1"
        | "latin1" | "latin-1" | "l1" | "us-ascii" | "ascii" => Ok(Encoding::Windows1252),
        _ => {
            let is_word = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
            let known = !label.is_empty() && label.len() <= 40 && label.chars().all(is_word);
            let name = if known { label } else { "an unknown encoding" };
            Err(Unreadable::Charset(name.to_owned()))
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let decoded = char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER));
    let broken = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    decoded.chain(broken).collect()
}

fn windows_1252(byte: u8) -> char {
    let special = byte.checked_sub(0x80).map(usize::from);
    let special = special.and_then(|index| WINDOWS_1252.get(index));
    special.copied().unwrap_or(char::from(byte))
}

/// Text has no word of its own about how it is written.
pub(crate) fn nothing_declared(_: &[u8]) -> Option<String> {
    None
}

/// `<meta charset=…>`, or the older form with `http-equiv`.
pub(crate) fn declared_by_page(bytes: &[u8]) -> Option<String> {
    let begin = bytes.get(..DECLARED_WITHIN_BYTES).unwrap_or(bytes);
    let begin = String::from_utf8_lossy(begin).to_ascii_lowercase();
    let mut metas = begin.split("<meta").skip(1);
    metas.find_map(|meta| {
        let meta = meta.split('>').next()?;
        let (_, value) = meta.split_once("charset")?;
        let value = value.trim_start().strip_prefix('=')?;
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end = value.find(|c: char| c.is_whitespace() || "\"';/".contains(c));
        let value = value.get(..end.unwrap_or(value.len()))?;
        (!value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], said: Option<&str>) -> Result<String, Unreadable> {
        decode(bytes, said, declared_by_page)
    }

    #[test]
    fn bytes_become_the_words_that_were_meant() {
        let cases: &[(&[u8], Option<&str>, &str)] = &[
            (b"gr\xc3\xbc\xc3\x9fe", None, "grüße"),
            // Called otherwise, and UTF-8 all the same.
            (b"gr\xc3\xbc\xc3\x9fe", Some("iso-8859-1"), "grüße"),
            (b"gr\xc3\xbc\xc3\x9fe", Some("shift_jis"), "grüße"),
            (b"gr\xfc\xdfe", Some("Latin1"), "grüße"),
            (
                b"\x93quoted\x94 \x80 5",
                Some("windows-1252"),
                "“quoted” € 5",
            ),
            (b"\x81", Some("windows-1252"), "\u{81}"),
            (
                b"<meta charset='iso-8859-1'>\xe4",
                None,
                "<meta charset='iso-8859-1'>ä",
            ),
            (
                b"<meta content=\"text/html; charset=latin1\">\xe4",
                None,
                "<meta content=\"text/html; charset=latin1\">ä",
            ),
            (
                b"<meta charset=utf-16>\xe4",
                None,
                "<meta charset=utf-16>\u{fffd}",
            ),
            (b"a\xff\xfeb", None, "a\u{fffd}\u{fffd}b"),
            (b"\xef\xbb\xbfa\xff", None, "a\u{fffd}"),
            (b"\xff\xfeh\0i\0", None, "hi"),
            (b"\xfe\xff\0h\0i", None, "hi"),
            (b"\xff\xfeh\0\x00\xd8i\0x", None, "h\u{fffd}i\u{fffd}"),
            (b"", None, ""),
        ];
        for (bytes, said, text) in cases {
            assert_eq!(read(bytes, *said).as_deref(), Ok(*text), "{bytes:?}");
        }
    }

    #[test]
    fn an_encoding_that_is_not_known_is_named_and_not_guessed() {
        let refused = |label: &str| read(b"\x82\xa0", Some(label)).unwrap_err();
        assert_eq!(
            refused("shift_jis"),
            Unreadable::Charset("shift_jis".to_owned())
        );
        let unknown = Unreadable::Charset("an unknown encoding".to_owned());
        assert_eq!(refused("<b>\u{202e}"), unknown);
        assert_eq!(refused(&"x".repeat(41)), unknown);
        let page = read(b"<meta charset=gbk>\x82\xa0", None);
        assert_eq!(page, Err(Unreadable::Charset("gbk".to_owned())));
    }
}
