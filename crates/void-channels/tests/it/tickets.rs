//! Tickets with one thing changed (I2): known ones are known by all of their content, new ones are
//! checked for all that a host can know.

use serde_json::{Value, json};
use void_act::{ParamValue, Params, Reason, Ticket};
use void_domain::proposals::Proposal;

use crate::lab::{Lab, Listed, done, is_refused, now};

/// The words of a ticket, to be changed one by one.
#[derive(Clone)]
struct Words {
    p: String,
    d: String,
    e: String,
    a: Params,
    x: u64,
}

impl Words {
    fn of(running: &Proposal) -> Self {
        let ticket = void_domain::permits::Ticket::of(running).unwrap();
        let a = ticket.params.as_object().unwrap().iter();
        Self {
            p: ticket.proposal_id.to_string(),
            d: ticket.digest.to_string(),
            e: ticket.exec_digest.to_string(),
            a: a.map(|(name, value)| (name.clone(), ParamValue::Integer(value.as_i64().unwrap())))
                .collect(),
            x: u64::try_from(ticket.expires_at.as_ms()).unwrap(),
        }
    }

    fn encode(&self) -> String {
        let ticket = Ticket::new(&self.p, &self.d, &self.e, self.a.clone(), self.x);
        ticket.unwrap().encode()
    }
}

fn scaling() -> Vec<Listed> {
    let params = json!({"n": {"type": "integer", "min": 0, "max": 5}});
    let entry =
        |id: &str| Listed::risky(id, json!(["@/effect", {"param": "n"}])).params(params.clone());
    vec![entry("scale-it"), entry("scale-other")]
}

/// A ticket that is known is known by all of its content.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_ran_cannot_be_used_again_with_any_field_changed() {
    let lab = Lab::new(&scaling());
    let running = lab.running("scale-it", &json!({"n": 3}));
    done(lab.execute(&running).await);
    let words = Words::of(&running);
    let edits: [fn(&mut Words); 5] = [
        |words| words.d = "0".repeat(64),
        |words| words.e = "0".repeat(64),
        |words| _ = words.a.insert("n".to_owned(), ParamValue::Integer(4)),
        |words| words.a.clear(),
        |words| words.x += 1,
    ];
    for edit in edits {
        let mut forged = words.clone();
        edit(&mut forged);
        for question in ["scale-it", "void-ticket", "void-settle"] {
            let command = format!("{question} {}", forged.encode());
            assert_eq!(
                is_refused(&lab.say(&command)),
                Reason::TicketMismatch,
                "{command}"
            );
        }
    }
    let moved = format!("scale-other {}", words.encode());
    assert_eq!(is_refused(&lab.say(&moved)), Reason::TicketMismatch);
    assert_eq!(lab.effects(), ["@/effect|3|"]);
}

/// A ticket that is new is checked for all that the host can know.
#[tokio::test(flavor = "multi_thread")]
async fn a_forged_ticket_runs_nothing_that_the_host_can_check() {
    let lab = Lab::new(&scaling());
    let words = Words::of(&lab.running("scale-it", &json!({"n": 3})));
    let other = lab.action("scale-other").exec_digest().to_string();
    let past = u64::try_from(now().as_ms()).unwrap() - 1;
    let with = |edit: &dyn Fn(&mut Words)| {
        let mut forged = words.clone();
        edit(&mut forged);
        forged.encode()
    };
    let number =
        |n: i64| with(&move |words| _ = words.a.insert("n".to_owned(), ParamValue::Integer(n)));
    let text = |text: &str| {
        let text = text.to_owned();
        with(&move |words| {
            _ = words
                .a
                .insert("n".to_owned(), ParamValue::Text(text.clone()));
        })
    };
    let cases = [
        (with(&|words| words.e = "0".repeat(64)), Reason::Drift),
        (with(&|words| words.e.clone_from(&other)), Reason::Drift),
        (with(&|words| words.x = past), Reason::Expired),
        (with(&|words| words.x = 0), Reason::Expired),
        (number(6), Reason::BadParams),
        (number(-1), Reason::BadParams),
        (number(i64::MIN), Reason::BadParams),
        (text("3"), Reason::BadParams),
        (text("--help"), Reason::BadParams),
        (with(&|words| words.a.clear()), Reason::BadParams),
        (
            with(&|words| _ = words.a.insert("m".to_owned(), ParamValue::Integer(1))),
            Reason::BadParams,
        ),
    ];
    for (word, reason) in cases {
        let command = format!("scale-it {word}");
        assert_eq!(is_refused(&lab.say(&command)), reason, "{command}");
    }
    // What the type cannot even express.
    let plain =
        json!({"p": words.p, "d": words.d, "e": words.e, "a": {"n": 3}, "x": words.x, "s": null});
    type Edit = (fn(&mut Value), Reason);
    let edits: [Edit; 10] = [
        (
            |ticket| ticket["s"] = json!("signature"),
            Reason::SignatureUnsupported,
        ),
        (|ticket| ticket["more"] = json!(1), Reason::BadTicket),
        (
            |ticket| ticket["p"] = json!("../../etc/passwd"),
            Reason::BadTicket,
        ),
        (
            |ticket| ticket["p"] = json!(ticket["p"].as_str().unwrap().to_uppercase()),
            Reason::BadTicket,
        ),
        (|ticket| ticket["d"] = json!("d"), Reason::BadTicket),
        (|ticket| ticket["x"] = json!(-1), Reason::BadTicket),
        (|ticket| ticket["a"] = json!({"n": [3]}), Reason::BadTicket),
        (|ticket| ticket["a"] = json!([]), Reason::BadTicket),
        (
            |ticket| _ = ticket.as_object_mut().unwrap().remove("x"),
            Reason::BadTicket,
        ),
        (
            |ticket| _ = ticket.as_object_mut().unwrap().remove("s"),
            Reason::BadTicket,
        ),
    ];
    for (edit, reason) in edits {
        let mut ticket = plain.clone();
        edit(&mut ticket);
        let command = format!("scale-it {}", encoded(&ticket.to_string()));
        assert_eq!(is_refused(&lab.say(&command)), reason, "{ticket}");
    }
    let twice = plain.to_string().replacen('{', "{\"x\":1,", 1);
    let command = format!("scale-it {}", encoded(&twice));
    assert_eq!(is_refused(&lab.say(&command)), Reason::BadTicket);
    assert_eq!(lab.effects(), [""; 0]);
    // Unforged, it runs: the cases above fail for their own reason.
    let output = lab.say(&format!("scale-it {}", words.encode()));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(lab.effects(), ["@/effect|3|"]);
}

fn encoded(json: &str) -> String {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    format!("v1.{}", engine.encode(json))
}
