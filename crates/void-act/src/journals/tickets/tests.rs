use super::*;
use crate::clock::Moment;
use serde_json::json;

const P: &str = "00000000-0000-7000-8000-000000000001";

fn mark() -> Mark {
    Mark {
        proposal: P.to_owned(),
        fingerprint: "f".repeat(64),
        expires_ms: 7,
    }
}

fn at() -> Moment {
    Moment {
        wall_ms: 1,
        boot: "b".to_owned(),
        up_ms: 1,
    }
}

fn lines() -> [Vec<u8>; 3] {
    let (ticket, at) = (mark(), at());
    let id = ActionId::parse("a").unwrap();
    let start = Start {
        id,
        ticket: ticket.clone(),
        at: at.clone(),
    };
    let stone = Tombstone { ticket, at };
    [
        line_of(&Record::Start(start)),
        line_of(&Record::End(Ending::failed("why".to_owned()))),
        line_of(&Record::Void(stone)),
    ]
}

#[test]
fn cut_anywhere_a_start_is_a_start() {
    let [start, end, _] = lines();
    let text = [start.clone(), end].concat();
    for cut in 0..=text.len() {
        let content = Content::parse(&text[..cut]).unwrap();
        let expected = match cut {
            _ if cut < start.len() => matches!(content, Content::Torn),
            _ if cut < text.len() => matches!(content, Content::Run { ending: None, .. }),
            _ => matches!(
                content,
                Content::Run {
                    ending: Some(_),
                    ..
                }
            ),
        };
        assert!(expected, "{cut}: {content:?}");
        let seen = content.seen_by(&mark()).unwrap();
        assert!(matches!(seen, Seen::Ran { .. }), "{cut}");
    }
}

#[test]
fn what_contradicts_itself_is_damage() {
    let [start, end, stone] = lines();
    for bad in [
        vec![end.clone()],
        vec![start.clone(), start.clone()],
        vec![start.clone(), stone.clone()],
        vec![stone.clone(), start.clone()],
        vec![stone.clone(), end.clone()],
        vec![start.clone(), end.clone(), end.clone()],
        vec![b"\n".to_vec()],
        vec![b"{}\n".to_vec(), start.clone()],
        vec![start.clone(), b"\0\0\n".to_vec()],
    ] {
        assert!(Content::parse(&bad.concat()).is_err(), "{bad:?}");
    }
    let mut extra: serde_json::Value = serde_json::from_slice(&start).unwrap();
    extra["start"]["extra"] = json!(1);
    assert!(Content::parse(format!("{extra}\n").as_bytes()).is_err());
}

#[test]
fn a_ticket_is_known_by_all_of_its_content() {
    let [start, _, stone] = lines();
    let seen = |text: &[u8], change: fn(&mut Mark)| {
        let mut mark = mark();
        change(&mut mark);
        Content::parse(text).unwrap().seen_by(&mark)
    };
    for text in [&start, &stone] {
        for change in [(|mark| mark.expires_ms += 1) as fn(&mut Mark), |mark| {
            mark.fingerprint.clear();
        }] {
            assert_eq!(seen(text, change).unwrap(), Seen::Mismatch);
        }
        // A file at another ticket's place is no answer about either.
        assert!(seen(text, |mark| mark.proposal.replace_range(..1, "1")).is_err());
    }
    assert_eq!(seen(&stone, |_| {}).unwrap(), Seen::Settled);
}
