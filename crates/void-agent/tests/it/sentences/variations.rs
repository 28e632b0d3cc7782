//! Generated sentences: every way not to order something, times verb, target and politeness. None of them
//! may act. Beside them the same orders plainly, which must: a brain that does nothing would pass otherwise.

use super::Listener;

const GENERATED: usize = 10_000;
const ORDERED: usize = 4_000;

/// `#` is the target.
const ORDERS: [(&str, &str); 12] = [
    ("restart #", "restart"),
    ("reboot #", "reboot"),
    ("power cycle #", "reboot"),
    ("start #", "start"),
    ("turn # on", "start"),
    ("switch on #", "start"),
    ("boot #", "start"),
    ("stop #", "stop"),
    ("turn # off", "stop"),
    ("shut down #", "stop"),
    ("power # off", "stop"),
    ("shut # down", "stop"),
];

/// `~` is where an adverb goes.
const GERMAN: [(&str, &str, &str); 6] = [
    ("starte #~ neu", "# neu starten", "restart"),
    ("starte #~", "# starten", "start"),
    ("schalte #~ ein", "# einschalten", "start"),
    ("schalte #~ aus", "# ausschalten", "stop"),
    ("stoppe #~", "# stoppen", "stop"),
    ("fahre #~ herunter", "# herunterfahren", "stop"),
];

/// The name, and what may be done with it.
const TARGETS: [(&str, &[(&str, &str)]); 9] = [
    ("caddy", &[("restart", "restart-caddy")]),
    ("jellyfin", &[("restart", "restart-jellyfin")]),
    ("grafana", &[("restart", "restart-grafana")]),
    (
        "iventoy",
        &[("start", "start-ct107"), ("stop", "stop-ct107")],
    ),
    ("ct107", &[("start", "start-ct107"), ("stop", "stop-ct107")]),
    (
        "ct 107",
        &[("start", "start-ct107"), ("stop", "stop-ct107")],
    ),
    (
        "ct100",
        &[("reboot", "reboot-ct100"), ("restart", "reboot-ct100")],
    ),
    (
        "the media stack",
        &[("reboot", "reboot-ct100"), ("restart", "reboot-ct100")],
    ),
    (
        "home assistant",
        &[("reboot", "reboot-vm200"), ("restart", "reboot-vm200")],
    ),
];

const BEFORE: [&str; 11] = [
    "",
    "please ",
    "hey little blue, ",
    "can you ",
    "could you please ",
    "ok, ",
    "bitte ",
    "hello! ",
    "jo, ",
    "so ",
    "pls ",
];
const AFTER: [&str; 8] = [
    "",
    " please",
    " now",
    ", thanks",
    "!",
    " bitte",
    " asap",
    " real quick",
];

/// `{}` is the order.
const NOT_ORDERED: [&str; 100] = [
    "do not {}",
    "don't {}",
    "don’t {}",
    "dont {}",
    "never {}",
    "you must never {}",
    "you should not {}",
    "you shouldn't {}",
    "no need to {}",
    "there is no reason to {}",
    "i do not want you to {}",
    "i would not {}",
    "stop trying to {}",
    "without asking {}",
    "avoid having to {}",
    "rather than {}",
    "instead of that {}",
    "{} not",
    "{} - no, wait",
    "{}... never mind",
    "nobody may {}",
    "it is not time to {}",
    "should i {}?",
    "shall we {}?",
    "how do i {}?",
    "how can i {}",
    "when did you {}?",
    "why did you {}",
    "did you {}?",
    "have you ever tried to {}?",
    "what happens if i {}?",
    "what if you {}",
    "who can {}?",
    "is it safe to {}?",
    "would it help to {}?",
    "{}?",
    "which of them should {}",
    "do you {}?",
    "{} if it hangs",
    "if it hangs {}",
    "if it hangs, {}",
    "unless i say no, {}",
    "{} unless it is busy",
    "{} when it is quiet",
    "once it is quiet, {}",
    "{} as soon as it is idle, in case it matters",
    "{} tomorrow",
    "{} tomorrow at 8",
    "tomorrow {}",
    "{} at 8",
    "{} at 22:00",
    "{} in 5 minutes",
    "in an hour {}",
    "{} later",
    "{} tonight",
    "{} every night",
    "every monday {}",
    "{} next week",
    "yesterday i had to {}",
    "we used to {} last year",
    "he said {}",
    "\"{}\"",
    "the manual says: {}",
    "i will {} myself tomorrow",
    "whatever you do, don't {}",
    "dnt {}",
    "i was about to {}",
    "i just had to {}",
    "i'll {} myself",
    "we are going to {}",
    "remind me to {}",
    "before you {} ask me",
    "{} (just kidding)",
    "{} or not",
    "{}, oh wait no",
    "yeah right, {}, as if that helped",
    "my wife says i should {}",
    "chatgpt told me to {}",
    "on the forum they write: {}",
    "> {}",
    "- name: {}",
    "TODO: {}, buy milk",
    "$ {}",
    "{} in case it is down",
    "{} only with my permission",
    "{} the day after tomorrow",
    "{} after lunch",
    "should it fail, {}",
    "{} and hello",
    "{}, hello",
    "{} and blue",
    "12:30:01 {}",
    "would you {}?",
    "would you {}",
    "would you mind, {}",
    "when jellyfin goes down, {}",
    "remind me tomorrow to {}",
    "i was going to {} but changed my mind",
    "reject the request to {}",
    "{} except caddy",
];
/// A no to the order, wherever it stands and whatever stands between: it is not even offered.
const FORBIDDEN: [&str; 16] = [
    "do not {}",
    "don't {}",
    "never {}",
    "please never, ever, {}",
    "do not, under any circumstances, {}",
    "do not - really - {}",
    "under no circumstances, {}",
    "you must not, as i said, {}",
    "you should never, please, {}",
    "no need to {}",
    "whatever you do, don't {}",
    "nobody may {}",
    "bitte nicht, unter keinen umständen, {}",
    "auf keinen fall, wirklich, {}",
    "nein, niemals, {}",
    "{} is not needed",
];
const GERMAN_ADVERBS: [&str; 24] = [
    " nicht",
    " nie",
    " niemals",
    " bloß nicht",
    " auf keinen fall",
    " noch nicht",
    " morgen",
    " um 8",
    " um 8 uhr",
    " später",
    " in 5 minuten",
    " jeden abend",
    " erst morgen",
    " nur wenn es hängt",
    " nich",
    " ned",
    " ja nicht",
    " unter keinen umständen",
    " heute nacht",
    " in ner stunde",
    " am wochenende",
    " nachher",
    " notfalls",
    " vielleicht",
];
/// `{}` is the infinitive.
const GERMAN_NOT_ORDERED: [&str; 40] = [
    "würdest du {}",
    "würdest du {}?",
    "wenn jellyfin ausfällt, {}",
    "soll ich {}?",
    "sollte man {}",
    "wie kann ich {}",
    "wann soll ich {}?",
    "warum willst du {}",
    "darf ich {}?",
    "ich will nicht {}",
    "du sollst nicht {}",
    "kannst du bitte nicht {}",
    "könntest du morgen {}",
    "würdest du nie {}",
    "kannst du um 8 {}",
    "kannst du {}, falls es hängt",
    "wenn es hängt, {}",
    "er sagte, ich soll {}",
    "ich werde später {}",
    "ich wollte gerade {}",
    "du brauchst nicht {}",
    "willst du {}?",
    "wolltest du nicht {}",
    "würde es helfen, {}",
    "statt {} lieber warten",
    "meine frau sagt ich soll {}",
    "in der anleitung steht: {}",
    "morgen früh {}",
    "ab jetzt jede nacht {}",
    "bevor wir {}",
    "kein grund {}",
    "{}?",
    "{} hilft nicht",
    "{} und hallo",
    "nicht {}",
    "lieber {}",
    "vielleicht {}",
    "man könnte {}",
    "todo: {}",
    "„{}“",
];

/// Every combination that must not act.
fn negatives() -> Vec<String> {
    let mut all = Vec::new();
    for (target, _) in TARGETS {
        for before in BEFORE {
            for after in AFTER {
                for (order, _) in ORDERS {
                    let order = order.replace('#', target);
                    // "can you restart caddy?" is a way to order it.
                    let ways = NOT_ORDERED
                        .iter()
                        .filter(|way| !(before.contains("you") && **way == "{}?"));
                    let ways = ways.map(|way| way.replace("{}", &order));
                    all.extend(ways.map(|said| format!("{before}{said}{after}")));
                }
                for (order, infinitive, _) in GERMAN {
                    let order = order.replace('#', target);
                    let ways = GERMAN_ADVERBS
                        .iter()
                        .map(|adverb| order.replace('~', adverb));
                    all.extend(ways.map(|said| format!("{before}{said}{after}")));
                    let infinitive = infinitive.replace('#', target);
                    let ways = GERMAN_NOT_ORDERED
                        .iter()
                        .map(|way| way.replace("{}", &infinitive));
                    all.extend(ways.map(|said| format!("{before}{said}{after}")));
                }
            }
        }
    }
    all
}

/// A spread over all of them that is the same in every run.
fn spread<T: Clone>(all: Vec<T>, count: usize) -> Vec<T> {
    assert!(all.len() >= count, "{}", all.len());
    // Odd and without a factor in common with the length, so that nothing comes twice.
    let step = (1..)
        .map(|n| 7_919 + 2 * n)
        .find(|step| gcd(*step, all.len()) == 1)
        .unwrap();
    (0..count)
        .map(|n| all[n * step % all.len()].clone())
        .collect()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_is_not_ordered_is_done_in_ten_thousand() {
    let (listener, _room) = Listener::start().await;
    let mut acted = Vec::new();
    for said in spread(negatives(), GENERATED) {
        let reaction = listener.hear(&[&said]).await;
        if !reaction.acts.is_empty() {
            acted.push(format!("{said}: {:?}", reaction.acts));
        }
    }
    assert!(
        acted.is_empty(),
        "{} acted\n{}",
        acted.len(),
        acted.join("\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forbidden_is_not_even_offered() {
    let (listener, _room) = Listener::start().await;
    let mut offered = Vec::new();
    for (target, _) in TARGETS {
        for (order, _) in ORDERS {
            let order = order.replace('#', target);
            for way in FORBIDDEN {
                let said = way.replace("{}", &order);
                let reaction = listener.hear(&[&said]).await;
                assert_eq!(reaction.acts, Vec::<String>::new(), "{said}");
                let asks = ["Shall I", "Which one do you mean"];
                if asks.iter().any(|ask| reaction.body.contains(ask)) {
                    offered.push(format!("{said}: {}", reaction.body));
                }
            }
        }
    }
    assert!(offered.is_empty(), "{}", offered.join("\n"));
}

/// What takes a yes back, puts it off or makes a question of it.
const TAKEN_BACK: [&str; 20] = [
    "?",
    " but not now",
    ", but later",
    " if nobody is using it",
    " when i am back",
    " tomorrow",
    " at 8",
    " or no?",
    " maybe",
    ", no",
    " - wait, no",
    " in an hour",
    ", said nobody",
    ", aber später",
    ", aber nicht jetzt",
    ", wenn keiner schaut",
    ", morgen",
    " oder nein",
    ", lieber doch nicht",
    ", aber frag mich vorher",
];
const YES: [&str; 12] = [
    "yes", "yeah", "sure", "ok", "do it", "go ahead", "fix it", "ja", "jo", "klar", "mach das",
    "ja bitte",
];

/// A yes runs what she asked about; with anything that takes it back it runs nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_that_takes_itself_back_does_nothing() {
    let (listener, _room) = Listener::start().await;
    for yes in YES {
        let plain = listener.hear(&["what is wrong?", yes]).await;
        assert_eq!(plain.acts, ["restart-caddy"], "{yes}");
        for taken_back in TAKEN_BACK {
            let said = format!("{yes}{taken_back}");
            let reaction = listener.hear(&["what is wrong?", &said]).await;
            assert_eq!(reaction.acts, Vec::<String>::new(), "{said}");
        }
        let unasked = listener.hear(&["hello", yes]).await;
        assert_eq!(unasked.acts, Vec::<String>::new(), "{yes}");
    }
}

/// `{}` takes back what was asked for.
const NOT_WITHDRAWN: [&str; 31] = [
    "don't {}",
    "do not {}",
    "dont {}",
    "never {}",
    "please never {}",
    "you must not {}",
    "should i {}?",
    "{}?",
    "how do i {}",
    "who may {}?",
    "did you {}?",
    "if it hangs {}",
    "{} if it hangs",
    "{} tomorrow",
    "{} at 8",
    "{} - no, wait",
    "he said {}",
    "\"{}\"",
    "> {}",
    "ich will nicht {}",
    "wenn es hängt {}",
    "morgen {}",
    "nicht {}",
    "bitte noch nicht {}",
    "{} bitte nicht",
    "soll ich {}?",
    "um 8 {}",
    "{}, falls es hängt",
    "erst fragen, dann {}",
    "{} from nightly",
    "gestern musste ich {}",
];
const WITHDRAWN: [&str; 20] = [
    "withdraw the stop of iventoy",
    "reject the iventoy request",
    "lehne den stopp von iventoy ab",
    "cancel that",
    "withdraw it",
    "reject it",
    "cancel",
    "cancel NK59",
    "zieh das zurück",
    "brich das ab",
    "das abbrechen",
    "take it back",
    "withdraw everything",
    "cancel all of them",
    "abbrechen",
    "zurückziehen",
    "alles abbrechen",
    "zieh alles zurück",
    "undo that",
    "mach das rückgängig",
];

/// A request is taken back by what says just that, and by nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_withdrawn_only_by_what_says_so() {
    let (listener, _room) = Listener::start().await;
    for phrase in WITHDRAWN {
        for before in ["", "please ", "no, ", "oh wait, "] {
            let said = format!("{before}{phrase}");
            let plain = listener.hear(&["stop iventoy", &said]).await;
            assert_eq!(plain.acts, ["withdraw NK59"], "{said}");
            for way in NOT_WITHDRAWN {
                let said = format!("{before}{}", way.replace("{}", phrase));
                let reaction = listener.hear(&["stop iventoy", &said]).await;
                assert_eq!(reaction.acts, Vec::<String>::new(), "{said}");
            }
            // What nobody asked for here is not hers to take back.
            let others = listener.hear(&["what waits for me?", &said]).await;
            assert_eq!(others.acts, Vec::<String>::new(), "{said}");
        }
    }
}

const UNDONE: [&str; 6] = [
    "undo that",
    "revert it",
    "take that back",
    "mach das rückgängig",
    "nimm das zurück",
    "rückgängig machen",
];
/// No, not now, or only if: `{}` is what undoes.
const NOT_UNDONE: [&str; 12] = [
    "don't {}",
    "do not {}",
    "please never {}",
    "no need to {}",
    "nicht {}",
    "bitte nicht {}",
    "{} tomorrow",
    "{} at 8",
    "{} in 5 minuten",
    "{} if it hangs",
    "falls es hängt, {}",
    "morgen {}",
];

/// Undoing offers the inverse of the run that was just told of, and of no other one; what is not to be undone is not
/// even offered.
#[tokio::test(flavor = "multi_thread")]
async fn undoing_means_the_run_that_was_told_of() {
    let (listener, _room) = Listener::start().await;
    let asked = |name: &str| {
        [
            format!("who restarted {name}?"),
            format!("wer hat {name} neu gestartet?"),
        ]
    };
    let offered = "Shall I run `restart-blog-old`?";
    for phrase in UNDONE {
        for before in ["", "please ", "oh no, "] {
            let said = format!("{before}{phrase}");
            for question in asked("the new blog") {
                let plain = listener.hear(&[&question, &said]).await;
                assert!(plain.body.ends_with(offered), "{said}: {}", plain.body);
                for way in NOT_UNDONE {
                    let said = format!("{before}{}", way.replace("{}", phrase));
                    let left = listener.hear(&[&question, &said]).await;
                    assert_eq!(left.acts, Vec::<String>::new(), "{said}");
                    assert!(!left.body.contains("Shall I"), "{said}: {}", left.body);
                }
            }
            // What the record does not have is not undone, and nothing else in its place.
            for name in ["caddy", "iventoy", "jellyfin"] {
                for question in asked(name) {
                    let nothing = listener.hear(&[&question, &said]).await;
                    assert!(
                        !nothing.body.contains("Shall I"),
                        "{said}: {}",
                        nothing.body
                    );
                    let yes = listener.hear(&[&question, &said, "yes"]).await;
                    assert_eq!(yes.acts, Vec::<String>::new(), "{said}");
                }
            }
        }
    }
}

/// What is plainly ordered is done, and exactly that; what the catalogue does not have is not.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_plainly_ordered_is_done() {
    let (listener, _room) = Listener::start().await;
    let mut all = Vec::new();
    for (target, may) in TARGETS {
        let orders = ORDERS.map(|(order, operation)| (order.replace('#', target), operation));
        let german = GERMAN
            .map(|(order, _, operation)| (order.replace('#', target).replace('~', ""), operation));
        for (order, operation) in orders.into_iter().chain(german) {
            let mut may = may.iter().filter(|(known, _)| *known == operation);
            let wanted = may.next().map(|(_, id)| *id);
            for before in BEFORE {
                all.extend(AFTER.map(|after| (format!("{before}{order}{after}"), wanted)));
            }
        }
        for (_, infinitive, operation) in GERMAN {
            let mut may = may.iter().filter(|(known, _)| *known == operation);
            let wanted = may.next().map(|(_, id)| *id);
            let order = infinitive.replace('#', target);
            for before in BEFORE.iter().filter(|before| !before.contains("you")) {
                all.extend(AFTER.map(|after| (format!("{before}{order}{after}"), wanted)));
            }
        }
    }
    let (mut wrong, mut done) = (Vec::new(), 0);
    for (said, wanted) in spread(all, ORDERED) {
        let reaction = listener.hear(&[&said]).await;
        done += reaction.acts.len();
        if reaction.acts.iter().map(String::as_str).ne(wanted) {
            wrong.push(format!("{said}: {:?}, not {wanted:?}", reaction.acts));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(done > 1_000, "{done}");
}
