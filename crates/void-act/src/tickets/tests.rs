use super::*;
use crate::params::ParamValue;

const P: &str = "0198c0de-0000-7000-8000-000000000001";

fn hex(digit: char) -> String {
    digit.to_string().repeat(64)
}

fn decode(json: &str) -> Result<Ticket, Refusal> {
    Ticket::decode(&format!("v1.{}", URL_SAFE_NO_PAD.encode(json)))
}

fn json(p: &str, d: &str, a: &str, x: &str, rest: &str) -> String {
    format!(
        r#"{{"x":{x},"p":{p},"d":{d},"e":"{}","a":{a},"s":null{rest}}}"#,
        hex('e')
    )
}

#[test]
fn encoding_comes_back_and_spelling_does_not_matter() {
    let params = Params::from([
        ("image".into(), ParamValue::Text("a:1".into())),
        ("n".into(), ParamValue::Integer(-3)),
    ]);
    let ticket = Ticket::new(P, &hex('d'), &hex('e'), params, 7).unwrap();
    assert_eq!(Ticket::decode(&ticket.encode()).unwrap(), ticket);
    let other_spelling = decode(&json(
        &format!("\"{P}\""),
        &format!(" \"{}\"", hex('d')),
        r#"{"n":-3,"image":"\u0061:1"}"#,
        "7",
        "",
    ))
    .unwrap();
    assert_eq!(other_spelling.fingerprint(), ticket.fingerprint());
    let later = Ticket::new(P, &hex('d'), &hex('e'), ticket.params().clone(), 8).unwrap();
    assert_ne!(later.fingerprint(), ticket.fingerprint());
}

#[test]
fn anything_but_the_exact_form_is_refused() {
    let p = format!("\"{P}\"");
    let d = format!("\"{}\"", hex('d'));
    let whole = json(&p, &d, "{}", "0", "");
    assert!(decode(&whole).is_ok());
    assert!(decode(&json(&p, &d, "{}", "18446744073709551615", "")).is_ok());
    let upper = p.to_uppercase();
    let bad = [
        json(&upper, &d, "{}", "0", ""),
        json(&p.replace('-', ""), &d, "{}", "0", ""),
        json("\"\"", &d, "{}", "0", ""),
        json("null", &d, "{}", "0", ""),
        json(&p, &d.to_uppercase(), "{}", "0", ""),
        json(&p, "\"d\"", "{}", "0", ""),
        json(&p, &d, "[]", "0", ""),
        json(&p, &d, "null", "0", ""),
        json(&p, &d, r#"{"n":1.5}"#, "0", ""),
        json(&p, &d, r#"{"n":{}}"#, "0", ""),
        json(&p, &d, r#"{"n":1,"n":1}"#, "0", ""),
        json(&p, &d, "{}", "-1", ""),
        json(&p, &d, "{}", "1e3", ""),
        json(&p, &d, "{}", "18446744073709551616", ""),
        json(&p, &d, "{}", "\"0\"", ""),
        json(&p, &d, "{}", "0", r#","x":0"#),
        json(&p, &d, "{}", "0", r#","y":0"#),
        json(&p, &d, "{}", "0", r#","s":null"#),
        whole.replace(r#","s":null"#, ""),
        format!("[{p},{d},\"{}\",{{}},0,null]", hex('e')),
        "{}".to_owned(),
        String::new(),
    ];
    for text in bad {
        assert_eq!(
            decode(&text).unwrap_err().reason,
            Reason::BadTicket,
            "{text}"
        );
    }
    let signed = whole.replace(r#""s":null"#, r#""s":"AAAA""#);
    assert_eq!(
        decode(&signed).unwrap_err().reason,
        Reason::SignatureUnsupported
    );
}

#[test]
fn a_word_has_one_spelling_in_base64_and_a_bound() {
    let good = Ticket::new(P, &hex('d'), &hex('e'), Params::new(), 7)
        .unwrap()
        .encode();
    assert!(Ticket::decode(&good).is_ok());
    for bad in [
        good.replacen("v1.", "v2.", 1),
        format!("{good}="),
        format!("{good}A"),
        "v1.".into(),
    ] {
        assert!(Ticket::decode(&bad).is_err(), "{bad}");
    }
    let value = |len: usize| Params::from([("v".into(), ParamValue::Text("a".repeat(len)))]);
    let fits = (0..4096)
        .rev()
        .find(|len| Ticket::new(P, &hex('d'), &hex('e'), value(*len), 7).is_ok())
        .unwrap();
    let longest = Ticket::new(P, &hex('d'), &hex('e'), value(fits), 7).unwrap();
    assert!((4090..=4099).contains(&longest.encode().len()));
    assert!(Ticket::decode(&longest.encode()).is_ok());
}
