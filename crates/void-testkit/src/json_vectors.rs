//! JSON that every reader has to take (`y`), that no reader may take (`n`), and that readers differ about
//! (`i`), in the classes of the well-known suites: made here, not copied. Included by path where crates
//! have no testkit.

/// What RFC 8259 says of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Valid,
    Invalid,
    /// Left to the reader; it must not fall over.
    Open,
}

/// Values, each to be put inside of an object.
pub(crate) fn values() -> Vec<(Class, Vec<u8>)> {
    let mut all: Vec<(Class, Vec<u8>)> = Vec::new();
    let mut add = |class: Class, texts: &[&str]| {
        all.extend(texts.iter().map(|text| (class, text.as_bytes().to_vec())));
    };
    let numbers = [
        "0",
        "-0",
        "1",
        "-1",
        "10",
        "123456789",
        "0.5",
        "-0.1",
        "1.0",
        "1e2",
        "1E2",
        "1e+2",
        "1E-2",
        "0e1",
        "0e+1",
        "1.5e3",
        "-1.25E-3",
        "9007199254740991",
        "-9007199254740991",
    ];
    let not_numbers = [
        "01",
        "-01",
        "00",
        "+1",
        "-",
        "--1",
        "1.",
        ".5",
        "-.5",
        "1.e2",
        "1e",
        "1e+",
        "1E-",
        "1ee2",
        "1e2.5",
        "0x10",
        "1_000",
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "1 000",
        "1,5",
        "\u{ff11}",
        "1a",
        "1\u{e9}",
        "2.e3",
        "0.3e",
        "9.e+",
        "1+2",
        "-NaN",
        "1/2",
    ];
    let strings = [
        r#""""#,
        r#""a""#,
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\u0061\u00e9\u20ac""#,
        r#""\ud83d\ude00""#,
        r#""\uDBFF\uDFFF""#,
        "\"\u{e9}\u{20ac}\u{1f600}\"",
        "\"\u{7f}\"",
        "\"\u{2028}\u{2029}\"",
        "\"\u{feff}\"",
        r#""\u001f""#,
        r#""\\u0000""#,
        r#"" ""#,
        r#""/* no comment */""#,
    ];
    let not_strings = [
        "\"",
        "\"a",
        "a\"",
        "'a'",
        r#""\x61""#,
        r#""\a""#,
        r#""\u""#,
        r#""\u00""#,
        r#""\u00e""#,
        r#""\u00g0""#,
        r#""\U0061""#,
        r#""\"#,
        r#""\\"#,
        "\"\n\"",
        "\"\t\"",
        "\"\r\"",
        "\"\u{1f}\"",
        "\"\u{1}\"",
        "\"a\"b",
        r#""\ ""#,
        "\u{201c}a\u{201d}",
        "`a`",
    ];
    let words = [
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[1,2]",
        "[[],{}]",
        " [ 1 , 2 ] ",
        "\t1\r\n",
    ];
    let not_words = [
        "True",
        "tru",
        "nul",
        "nullx",
        "undefined",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "1]",
        "[",
        "[1}",
        "{1}",
        "{,}",
        r#"{"b"}"#,
        r#"{"b":}"#,
        r#"{"b":1,}"#,
        r#"{:1}"#,
        r#"{b:1}"#,
        r#"{'b':1}"#,
        r#"{"b":1 "c":2}"#,
        r#"{"b"=1}"#,
        r#"{1:1}"#,
        r#"{"b":1"#,
        "[1]]",
        "[1] x",
        "/**/1",
        "1//x",
        "#1",
        "",
        ",",
        ":",
        "*",
        "[1,\u{a0}2]",
        "[\u{c}1]",
        "[\u{b}]",
        "(1)",
        "<null>",
        "[...]",
        "1;",
    ];
    // Half of a pair is a text for some and none for others; so are numbers that no float holds.
    let open = [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ude00\ud83d""#,
        r#""\ud800a""#,
        "1e400",
        "-1e400",
        "1e-400",
        "123456789012345678901234567890",
        "-9223372036854775809",
    ];
    add(Class::Valid, &numbers);
    add(Class::Invalid, &not_numbers);
    add(Class::Valid, &strings);
    add(Class::Invalid, &not_strings);
    add(Class::Valid, &words);
    add(Class::Invalid, &not_words);
    add(Class::Open, &open);
    // Bytes that are no UTF-8: bare, cut off, overlong, a surrogate, beyond the last character.
    for bytes in [
        &[0xff_u8][..],
        &[0x80],
        &[0xc3],
        &[0xe2, 0x82],
        &[0xc0, 0xaf],
        &[0xed, 0xa0, 0x80],
        &[0xf4, 0x90, 0x80, 0x80],
        &[0xf8, 0x88, 0x80, 0x80, 0x80],
    ] {
        all.push((Class::Invalid, [b"\"", bytes, b"\""].concat()));
        all.push((Class::Invalid, bytes.to_vec()));
    }
    for depth in [1_000, 100_000] {
        all.push((
            Class::Open,
            format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into_bytes(),
        ));
        all.push((Class::Invalid, "[".repeat(depth).into_bytes()));
        all.push((Class::Invalid, r#"{"a":"#.repeat(depth).into_bytes()));
    }
    all
}

/// Each value as the one member of an object, and what can be wrong around an object.
pub(crate) fn objects() -> Vec<(Class, Vec<u8>)> {
    let mut all: Vec<(Class, Vec<u8>)> = values()
        .into_iter()
        .map(|(class, value)| (class, [&br#"{"a":"#[..], &value, b"}"].concat()))
        .collect();
    let around: [(Class, &[u8]); 12] = [
        (Class::Valid, b" \t\r\n{ } \n"),
        (Class::Invalid, b"\xef\xbb\xbf{}"),
        (Class::Invalid, b"\xff\xfe{\0}\0"),
        (Class::Invalid, b"{}{}"),
        (Class::Invalid, b"{} x"),
        (Class::Invalid, b"{},"),
        (Class::Invalid, b"{}\0"),
        (Class::Invalid, b"\0{}"),
        (Class::Invalid, b"{}}"),
        (Class::Invalid, b"{"),
        (Class::Invalid, b"}"),
        (Class::Invalid, b""),
    ];
    all.extend(around.map(|(class, text)| (class, text.to_vec())));
    all
}
