//! The sentences of the two files beside this one.

use super::{Listener, Reaction};

const MUST_NOT_ACT: &str = include_str!("must_not_act.txt");
const EVERYDAY: &str = include_str!("everyday.txt");

/// One line: what has to come of what is said, one thing after the other.
struct Sentence {
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
    for front in ["Shall I run `", "Which one do you mean: `"] {
        if let Some(ids) = last.strip_prefix(front) {
            let ids = ids.strip_suffix("`?").unwrap().replace("`, `", ",");
            return format!("offers {ids}");
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

#[tokio::test(flavor = "multi_thread")]
async fn no_sentence_that_must_not_act_does() {
    let (listener, _room) = Listener::start().await;
    let sentences = sentences(MUST_NOT_ACT);
    assert!(sentences.len() >= 200, "{}", sentences.len());
    let (mut acted, mut different) = (Vec::new(), Vec::new());
    for sentence in &sentences {
        assert!(
            !sentence.expected.starts_with("acts"),
            "{:?}",
            sentence.said
        );
        let reaction = listener.hear(&sentence.said).await;
        let came = outcome(&reaction);
        if !reaction.acts.is_empty() {
            acted.push(format!("{:?} {came}", sentence.said));
        }
        if came != sentence.expected {
            different.push(format!(
                "{:?}: {} but {came}: {}",
                sentence.said, sentence.expected, reaction.body
            ));
        }
    }
    assert!(acted.is_empty(), "{acted:#?}");
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn everyday_sentences_are_understood() {
    let (listener, _room) = Listener::start().await;
    let sentences = sentences(EVERYDAY);
    assert!(sentences.len() + self::sentences(MUST_NOT_ACT).len() >= 400);
    let (mut wrongly_acted, mut different) = (Vec::new(), Vec::new());
    for sentence in &sentences {
        let reaction = listener.hear(&sentence.said).await;
        let came = outcome(&reaction);
        if came == sentence.expected {
            continue;
        }
        let line = format!(
            "{:?}: {} but {came}: {}",
            sentence.said, sentence.expected, reaction.body
        );
        if !reaction.acts.is_empty() {
            wrongly_acted.push(line.clone());
        }
        different.push(line);
    }
    assert!(wrongly_acted.is_empty(), "{wrongly_acted:#?}");
    let understood = sentences.len() - different.len();
    println!(
        "{understood} of {} understood\n{}",
        sentences.len(),
        different.join("\n\n")
    );
    assert!(
        understood * 10 >= sentences.len() * 9,
        "{}",
        different.join("\n\n")
    );
}
