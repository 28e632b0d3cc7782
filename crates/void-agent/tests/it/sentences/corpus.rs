//! The sentences of the files beside this one, set by set. A held-out set was written before the rules were
//! read or changed: what it shows first is how far they reach.

use std::collections::BTreeSet;

use super::{Listener, Reaction};

struct Set {
    name: &'static str,
    everyday: &'static str,
    must_not_act: &'static str,
    /// Every line of the second file has to come out as it says, not only without an act.
    is_strict: bool,
}

const SETS: [Set; 10] = [
    Set {
        name: "corpus",
        everyday: include_str!("everyday.txt"),
        must_not_act: include_str!("must_not_act.txt"),
        is_strict: true,
    },
    Set {
        name: "held-out 1",
        everyday: include_str!("held_out_1_everyday.txt"),
        must_not_act: include_str!("held_out_1_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 2",
        everyday: include_str!("held_out_2_everyday.txt"),
        must_not_act: include_str!("held_out_2_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 3",
        everyday: include_str!("held_out_3_everyday.txt"),
        must_not_act: include_str!("held_out_3_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 4",
        everyday: include_str!("held_out_4_everyday.txt"),
        must_not_act: include_str!("held_out_4_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 5",
        everyday: include_str!("held_out_5_everyday.txt"),
        must_not_act: include_str!("held_out_5_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 6",
        everyday: include_str!("held_out_6_everyday.txt"),
        must_not_act: include_str!("held_out_6_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 7",
        everyday: include_str!("held_out_7_everyday.txt"),
        must_not_act: include_str!("held_out_7_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 8",
        everyday: include_str!("held_out_8_everyday.txt"),
        must_not_act: include_str!("held_out_8_must_not_act.txt"),
        is_strict: false,
    },
    Set {
        name: "held-out 9",
        everyday: include_str!("held_out_9_everyday.txt"),
        must_not_act: include_str!("held_out_9_must_not_act.txt"),
        is_strict: false,
    },
];

/// One line: what has to come of what is said, one thing after the other.
struct Sentence {
    /// `X or Y`: either.
    expected: &'static str,
    said: Vec<&'static str>,
}

fn sentences(file: &'static str) -> Vec<Sentence> {
    let lines = file.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let sentences = lines.map(|line| {
        let (expected, said) = line.split_once('|').unwrap_or_else(|| panic!("{line}"));
        Sentence {
            expected: expected.trim(),
            said: said.split(">>").map(str::trim).collect(),
        }
    });
    sentences.collect()
}

/// What came of it, in the words of the files.
fn outcome(reaction: &Reaction) -> String {
    if !reaction.acts.is_empty() {
        return format!("acts {}", reaction.acts.join(","));
    }
    let last = reaction.body.lines().last().unwrap_or_default();
    let questions = [
        ("Shall I run `", "`?"),
        ("Shall I ask for `", "`? It waits for your yes then."),
        ("Which one do you mean: `", "`, or both?"),
        ("Which one do you mean: `", "`, or all?"),
    ];
    for (front, back) in questions {
        let ids = last
            .strip_prefix(front)
            .and_then(|ids| ids.strip_suffix(back));
        if let Some(ids) = ids {
            return format!("offers {}", ids.replace("`, `", ","));
        }
    }
    let has = |part: &str| reaction.body.contains(part);
    let word = match () {
        () if last.ends_with('?') || has("I did not understand") || has("Yes to what?") => "asks",
        () if has("I cannot") || has("I know no action") || has("Only you approve") => "refuses",
        () => "answers",
    };
    word.to_owned()
}

/// The words by which an answer shows what it is about.
fn marks_of(subject: &str) -> &'static [&'static str] {
    match subject {
        "record" => &[
            "the record says",
            "The record has",
            "was refused and nothing failed",
            "(**",
            "It waits for your yes: **",
        ],
        "status" => &["is up", "are up", "is down"],
        "waiting" => &["waits for you", "says yes."],
        "uptime" => &["how long its check has said so"],
        "about" => &["Nothing was run."],
        "help" => &["I can look at services"],
        "social" => &["Hello!", "Gladly.", "Good night.", "Good-bye."],
        "approving" => &["A yes here does not approve."],
        "withdrawing" => &["I withdraw only", "still waits for your yes"],
        "unknown" => &["I do not know"],
        "signs" => &[
            "well-known signs only: something",
            "well-known signs only: a ",
        ],
        "mute" => &["void notify mute", "void notify unmute"],
        "backup" => &["void backup create"],
        "verify" => &["void audit verify"],
        "logs" => &["I cannot read logs"],
        "freeze" => &["I cannot freeze"],
        "ran" => &["Restart the new blog ran"],
        "approvals" => &["nobody said yes to anything", "said yes to"],
        "guests" => &["That is what I watch or may work on"],
        "updates" => &["I cannot look for updates"],
        "rejecting" => &["`void inbox reject NK59` says no"],
        "conditions" => &["I cannot wait for a condition"],
        "one" => &["more than one thing at a time"],
        "reminders" => &["I cannot remind you"],
        "jellyfin" => &["Jellyfin (rehearsal) is up"],
        "keeps" => &["I keep no notes and look for none."],
        "hour" => &["void notify mute caddy --for 1h"],
        "resources" => &["I cannot see temperatures"],
        "load" => &["% of"],
        _ => panic!("{subject}"),
    }
}

impl Sentence {
    fn is_met_by(&self, reaction: &Reaction) -> bool {
        let came = outcome(reaction);
        let mut ways = self.expected.split(" or ");
        ways.any(|way| match way.split_once(' ') {
            None => way == came || (way == "holds" && reaction.acts.is_empty()),
            Some(("offers", ids)) => {
                let set = |ids: &str| ids.split(',').map(str::to_owned).collect::<BTreeSet<_>>();
                let offered = came.strip_prefix("offers ");
                offered.is_some_and(|offered| set(offered) == set(ids))
            }
            Some((word @ ("answers" | "refuses"), subject)) => {
                let mut marks = marks_of(subject).iter();
                word == came && marks.any(|mark| reaction.body.contains(mark))
            }
            Some(_) => way == came,
        })
    }

    fn told(&self, reaction: &Reaction) -> String {
        let (said, came) = (&self.said, outcome(reaction));
        format!("{said:?}: {} but {came}: {}", self.expected, reaction.body)
    }
}

/// What did not come out as its line says, and what acted although its line does not say so.
async fn heard(listener: &Listener, sentences: &[Sentence]) -> (Vec<String>, Vec<String>) {
    let (mut different, mut acted) = (Vec::new(), Vec::new());
    for sentence in sentences {
        // A line of a file is one line; `\n` in it is where another one begins.
        let said: Vec<String> = sentence
            .said
            .iter()
            .map(|it| it.replace("\\n", "\n"))
            .collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let reaction = listener.hear(&said).await;
        if sentence.is_met_by(&reaction) {
            continue;
        }
        let line = sentence.told(&reaction);
        if !reaction.acts.is_empty() {
            acted.push(line.clone());
        }
        different.push(line);
    }
    (different, acted)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_sentence_that_must_not_act_does() {
    let (listener, _room) = Listener::start().await;
    let (mut acts, mut misses, mut count) = (Vec::new(), Vec::new(), 0);
    for set in &SETS {
        let sentences = sentences(set.must_not_act);
        for sentence in &sentences {
            assert!(!sentence.expected.contains("acts"), "{:?}", sentence.said);
        }
        let (different, acted) = heard(&listener, &sentences).await;
        println!(
            "{}: {} acts, {} of {} as they should be\n{}\n",
            set.name,
            acted.len(),
            sentences.len() - different.len(),
            sentences.len(),
            different.join("\n\n")
        );
        let allowed = if set.is_strict {
            0
        } else {
            sentences.len() / 10
        };
        if different.len() > allowed {
            misses.push(format!("{}: {}", set.name, different.join("\n\n")));
        }
        acts.extend(acted);
        count += sentences.len();
    }
    assert!(count >= 200, "{count}");
    assert!(acts.is_empty(), "{acts:#?}");
    assert!(misses.is_empty(), "{}", misses.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn everyday_sentences_are_understood() {
    let (listener, _room) = Listener::start().await;
    let (mut acts, mut misses, mut count) = (Vec::new(), Vec::new(), 0);
    for set in &SETS {
        let sentences = sentences(set.everyday);
        let (different, acted) = heard(&listener, &sentences).await;
        let understood = sentences.len() - different.len();
        println!(
            "{}: {understood} of {} understood\n{}\n",
            set.name,
            sentences.len(),
            different.join("\n\n")
        );
        if understood * 10 < sentences.len() * 9 {
            misses.push(format!("{}: {}", set.name, different.join("\n\n")));
        }
        acts.extend(acted);
        count += sentences.len();
    }
    assert!(count >= 400, "{count}");
    assert!(acts.is_empty(), "{acts:#?}");
    assert!(misses.is_empty(), "{}", misses.join("\n\n"));
}
