//! What she asked for in this conversation and what still waits: a yes to it is the owner's and not given here,
//! a no takes it back. Only her own requests of this conversation are ever withdrawn, and only by a
//! sentence that is nothing but that.

use serde_json::{Value, json};
use void_domain::proposals::DisplayState;

use super::acts::came_of_it;
use super::questions::{Said, reply, without_front};
use super::results::{standing, text};
use super::times::Times;
use super::words::{Sentence, is_one_of};
use super::{Knowledge, Next, rejections, topics, unclear};

/// How she says that something was queued, and that somebody had asked for it before.
pub(super) const QUEUED: &str = "It waits for your yes: **";
pub(super) const WAITS_ALREADY: &str = "waits for your yes already: **";
/// How she says that a yes to it is given elsewhere.
const NOT_HERE: &str = "A yes here does not approve. **";
const CODE_BYTES_MAX: usize = 12;
/// How many of her requests she looks at before she says that nothing is done.
const LOOKED_AT_MAX: usize = 3;
/// So many are taken back at once: each is a call of a tool, and a turn has a dozen.
const WITHDRAWN_MAX: usize = 8;

/// Before what takes it back.
pub(super) const LEADS: &str = "no|nope|nah|nein|noe|ne|nee|oh|ah|hm|hmm|ach|wait|sorry|oops|ups|actually|please|bitte|ok|okay|hey\
    |little blue|blue|lieber|dann|then|doch|mal|just|jetzt|now|i mean|ich meine";
pub(super) const YOU: &str = "can you|could you|kannst du|koenntest du";
pub(super) const TAILS: &str =
    "please bitte now jetzt thanks danke again wieder doch mal lieber sofort";
/// Front and back of a sentence that takes a request back; what stands between names it.
const WITHDRAWALS: [(&str, &str); 9] = [
    (
        "cancel|withdraw|reject|deny|decline|discard|revoke|retract|abort|call off|storniere|stornier|verwirf|widerrufe|cancele",
        "",
    ),
    ("call", "off"),
    ("zieh|ziehe", "zurueck"),
    ("brich|breche", "ab"),
    ("lehn|lehne", "ab"),
    ("", "zurueckziehen"),
    ("", "stornieren"),
    ("", "abbrechen"),
    ("", "ablehnen"),
];
/// These may also mean something that ran, unless she has just asked.
const TAKEN_BACK: [(&str, &str); 8] = [
    ("take back|pull back|undo|revert|reverse", ""),
    ("take|pull", "back"),
    ("nimm|hol|hole", "zurueck"),
    ("", "zuruecknehmen"),
    ("mach|mache", "rueckgaengig"),
    ("", "rueckgaengig machen"),
    ("", "rueckgaengig"),
    ("back out of", ""),
];
pub(super) const OBJECTS: &str = "it that this them one the of request requests proposal proposals my your our es das den die der ihn sie anfrage \
    anfragen antrag antraege wunsch wuensche deine deinen meine meinen both all everything beide beides alle alles again";
/// Behind what is taken back: whose it is.
const YOURS: &str = "that you asked for|you asked for|that you requested|you requested|you queued|from you|of yours\
    |was du angefragt hast|die du gestellt hast|von dir";
/// As many as there are.
const EVERYTHING: &str = "everything alles";
/// More than one: those that she has just asked for, or all if that was one.
const SEVERAL: &str = "all them alle requests proposals anfragen antraege wuensche";
const BOTH: &str = "both beide beides";
/// Right after she asked, these are a no to it.
const NO: &str = "no|nope|nah|no thanks|no thank you|nein|nein danke|noe|ne|nee|cancel|abort|stop|never mind|nevermind|forget it\
    |forget that|do not|dont|do not do it|do not do that|no way|lass|lass es|lass das|lass sein|lass es sein|lieber nicht|doch nicht\
    |nicht|vergiss es|bloss nicht|auf keinen fall|besser nicht|lieber doch nicht|dann nicht|changed my mind|i changed my mind\
    |hab es mir anders ueberlegt|nicht mehr|scrap that|scrap it";

/// The codes behind a phrase of hers, each once.
pub(super) fn codes<'a>(said: &'a str, phrase: &str) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for after in said.split(phrase).skip(1) {
        let code = after.split_once("**").map_or("", |(code, _)| code);
        let is_code = (4..=CODE_BYTES_MAX).contains(&code.len())
            && code.chars().all(|c| c.is_ascii_alphanumeric());
        if is_code && !found.contains(&code) {
            found.push(code);
        }
    }
    found
}

/// Whether she said of a request that it is withdrawn, or that it could not be.
pub(super) fn is_told_over(told: &str, code: &str) -> bool {
    told.contains(&format!("**{code}** is withdrawn"))
        || told.contains(&format!("I could not withdraw **{code}**"))
}

/// Leaves things as they are, and says what of hers goes on waiting all the same: a no to something is no *cancel*.
pub(super) fn leaves_it(turn: &Knowledge<'_>, said: &str) -> Next {
    let recent = turn.requested.iter().rev().take(LOOKED_AT_MAX);
    let codes: Vec<&str> = recent.map(String::as_str).collect();
    let seen: Vec<&Value> = turn
        .results("proposal_status")
        .map(|(_, result)| result)
        .collect();
    if let Some(code) = codes.get(seen.len())
        && turn.has_tool("proposal_status")
    {
        return Next::look("proposal_status", json!({"proposal": code}));
    }
    let pairs = codes.iter().zip(seen);
    let waiting: Vec<&str> = pairs
        .filter(|(_, result)| standing(result) == Some(DisplayState::Waiting))
        .map(|(code, _)| *code)
        .collect();
    match waiting.as_slice() {
        [] => Next::say(said),
        codes => Next::say(format!(
            "{said} {} still {}.",
            listed(codes),
            match codes {
                [_] => "waits for your yes: *cancel that* withdraws it",
                _ => "wait for your yes: *withdraw everything* withdraws them",
            }
        )),
    }
}

/// The codes of what her last message says that she asked for.
fn just_queued<'a>(turn: &Knowledge<'a>) -> Vec<&'a str> {
    let told = turn.said_last.unwrap_or_default();
    let is_hers = |code: &&str| turn.requested.iter().any(|asked| asked == code);
    let again = codes(told, NOT_HERE).into_iter().filter(is_hers);
    codes(told, QUEUED).into_iter().chain(again).collect()
}

/// What she has just asked for has not run: there is nothing to undo, but something to take back.
pub(super) fn not_run_yet(turn: &Knowledge<'_>) -> Option<Next> {
    let queued = just_queued(turn);
    (!queued.is_empty()).then(|| still_waits(&queued))
}

/// Beside a question of hers only what names a request, or all of them, takes one back: *cancel* alone is a no to
/// the question.
pub(super) fn beside_a_question(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<Next> {
    let Some(object) = withdrawal(sentence, false) else {
        return rejections::next(turn, sentence);
    };
    let is_named = object.iter().any(|word| {
        let is_hers = |code: &String| code.eq_ignore_ascii_case(word);
        is_one_of(word, EVERYTHING) || turn.requested.iter().any(is_hers)
    });
    let waits = !turn.requested.is_empty();
    (is_named && waits && !topics::is_about_everything(sentence))
        .then(|| withdrawn(turn, &[], &object))
}

/// `None`: it is about something else.
pub(super) fn next(turn: &Knowledge<'_>, sentence: &Sentence) -> Option<Next> {
    let told = turn.said_last.unwrap_or_default();
    let queued = just_queued(turn);
    if unclear::is_answer(sentence) {
        let waiting = [queued, codes(told, WAITS_ALREADY)].concat();
        return (!waiting.is_empty()).then(|| does_not_approve(turn, &waiting));
    }
    let words: Vec<&str> = sentence.spoken().collect();
    let is_marked = sentence.has_question_mark || sentence.has_quotes;
    if !queued.is_empty() && !is_marked && is_no(&words) {
        return Some(match queued.as_slice() {
            [code] => withdraw(turn, &[code]),
            codes => which(codes),
        });
    }
    // "abort everything" is for the freeze, which is the owner's.
    if let Some(object) = withdrawal(sentence, !queued.is_empty())
        && !topics::is_about_everything(sentence)
    {
        return Some(withdrawn(turn, &queued, &object));
    }
    if let Some(next) = rejections::next(turn, sentence) {
        return Some(next);
    }
    let leaves = reply(sentence) == Said::No;
    (!queued.is_empty() && leaves).then(|| still_waits(&queued))
}

/// One no and nothing else: *do not* and *cancel* are both a no, and together the contrary.
fn is_no(words: &[&str]) -> bool {
    let rest = without_tails(without_front(words, &[LEADS]));
    let is_phrase = NO
        .split('|')
        .any(|phrase| rest.iter().copied().eq(phrase.split(' ')));
    let said_no = words
        .iter()
        .any(|word| is_one_of(word, "no nope nah nein noe ne nee"));
    is_phrase || (rest.is_empty() && said_no)
}

fn without_tails<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let mut rest = words;
    while let Some((last, front)) = rest.split_last()
        && is_one_of(last, TAILS)
    {
        rest = front;
    }
    rest
}

/// The words that name what is taken back, if a sentence does nothing else.
fn withdrawal(sentence: &Sentence, has_just_asked: bool) -> Option<Vec<&str>> {
    let words: Vec<&str> = sentence.spoken().collect();
    let plain = without_front(&words, &[LEADS]);
    let asked = without_front(plain, &[YOU]);
    let is_polite = asked.len() < plain.len();
    if sentence.has_quotes || (sentence.has_question_mark && !is_polite) {
        return None;
    }
    let rest = without_tails(without_front(asked, &[LEADS]));
    let of_yours = YOURS.split('|').find_map(|yours| {
        let yours: Vec<&str> = yours.split(' ').collect();
        rest.strip_suffix(yours.as_slice())
    });
    let rest = of_yours.unwrap_or(rest);
    let besides = if has_just_asked { &TAKEN_BACK[..] } else { &[] };
    let mut forms = WITHDRAWALS.iter().chain(besides);
    let object = forms.find_map(|(fronts, back)| {
        let rest = match *fronts {
            "" => rest,
            fronts => fronts.split('|').find_map(|front| {
                let front: Vec<&str> = front.split(' ').collect();
                rest.strip_prefix(front.as_slice())
            })?,
        };
        match *back {
            "" => Some(rest),
            back => {
                let back: Vec<&str> = back.split(' ').collect();
                rest.strip_suffix(back.as_slice())
            }
        }
    })?;
    let is_its = |word: &&str| is_one_of(word, OBJECTS) || is_like_a_code(word);
    let object: Vec<&str> = object
        .iter()
        .copied()
        .filter(|word| !is_one_of(word, TAILS))
        .collect();
    object.iter().all(is_its).then_some(object)
}

fn is_like_a_code(word: &str) -> bool {
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    word.len() == 4 && has_digit && word.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Takes back what is named; what was not asked for here is the owner's to reject.
fn withdrawn(turn: &Knowledge<'_>, queued: &[&str], object: &[&str]) -> Next {
    let all: Vec<&str> = turn.requested.iter().map(String::as_str).collect();
    let said = |code: &&str| object.iter().any(|word| word.eq_ignore_ascii_case(code));
    let named: Vec<&str> = all.iter().copied().filter(said).collect();
    let names_code = object
        .iter()
        .any(|word| is_like_a_code(word) && !is_one_of(word, OBJECTS));
    if !named.is_empty() {
        return withdraw(turn, &named);
    }
    let is_done = turn
        .said_last
        .is_some_and(|told| told.contains("** is withdrawn"));
    if is_done && all.is_empty() && !names_code {
        return Next::say(
            "It is withdrawn already: nothing that I asked for here waits. Nothing was run.",
        );
    }
    if names_code || all.is_empty() {
        let mut codes = object.iter().filter(|&&word| is_like_a_code(word));
        let code = codes
            .next()
            .map_or("CODE".to_owned(), |code| code.to_ascii_uppercase());
        return Next::say(format!(
            "I withdraw only what I asked for in this chat, and as far as I look back that is not such a request. `void inbox ls` shows what waits, \
             `void inbox reject {code}` says no. Nothing was run."
        ));
    }
    let says = |list: &str| object.iter().any(|word| is_one_of(word, list));
    let last = if queued.is_empty() { &all[..] } else { queued };
    let several = if queued.len() > 1 { queued } else { &all[..] };
    if says(EVERYTHING) {
        return withdraw(turn, &all);
    }
    if says(BOTH) {
        let pairs = [queued, &all[..]];
        let pair = pairs.into_iter().find(|codes| codes.len() == 2);
        return pair.map_or_else(|| which(&all), |pair| withdraw(turn, pair));
    }
    match last {
        _ if says(SEVERAL) => withdraw(turn, several),
        [code] => withdraw(turn, &[code]),
        codes => which(codes),
    }
}

pub(super) fn listed(codes: &[&str]) -> String {
    let codes: Vec<String> = codes.iter().map(|code| format!("**{code}**")).collect();
    codes.join(", ")
}

fn which(codes: &[&str]) -> Next {
    let first = codes.first().copied().unwrap_or_default();
    let (how_many, list) = (codes.len(), listed(codes));
    Next::say(match how_many {
        1 => format!(
            "I asked for one thing here: {list}. *cancel {first}* withdraws it. Nothing was withdrawn."
        ),
        _ => format!(
            "I asked for more than one thing here: {list}. Say which one: *cancel {first}*. Nothing was withdrawn."
        ),
    })
}

fn still_waits(codes: &[&str]) -> Next {
    Next::say(format!(
        "{} still waits for your yes, and nothing has run. *Cancel that* withdraws it.",
        listed(codes)
    ))
}

/// One after the other, then what came of each.
pub(super) fn withdraw(turn: &Knowledge<'_>, codes: &[&str]) -> Next {
    if !turn.has_tool("withdraw_proposal") {
        let lines: Vec<String> = codes
            .iter()
            .map(|code| format!("**{code}** still waits: `void inbox reject {code}` says no."))
            .collect();
        return Next::say(lines.join("\n"));
    }
    let (codes, left) = codes.split_at(codes.len().min(WITHDRAWN_MAX));
    let made: Vec<&Value> = turn
        .results("withdraw_proposal")
        .map(|(_, result)| result)
        .collect();
    if let Some(code) = codes.get(made.len()) {
        return Next::saying(
            format!("I withdraw **{code}**."),
            "withdraw_proposal",
            json!({"proposal": code}),
        );
    }
    let lines = codes.iter().zip(made).map(|(code, result)| {
        let error = result.get("error");
        match error.map(|error| (text(error, "code"), text(error, "message"))) {
            None => format!("**{code}** is withdrawn: it will not run. Nothing was run."),
            Some(("forbidden", _)) => format!(
                "**{code}** still waits: somebody else asked for it too. `void inbox reject {code}` says no."
            ),
            Some((_, message)) => format!(
                "I could not withdraw **{code}**: {message}. `void inbox show {code}` shows it."
            ),
        }
    });
    let mut lines: Vec<String> = lines.collect();
    if !left.is_empty() {
        lines.push(format!("{} still wait: say it again.", listed(left)));
    }
    Next::say(lines.join("\n"))
}

/// A yes in the chat is no approval: says what is, for what still waits.
fn does_not_approve(turn: &Knowledge<'_>, codes: &[&str]) -> Next {
    let seen: Vec<&Value> = turn
        .results("proposal_status")
        .map(|(_, result)| result)
        .collect();
    if let Some(code) = codes.get(seen.len()) {
        return Next::look("proposal_status", json!({"proposal": code}));
    }
    let lines = codes
        .iter()
        .zip(seen)
        .map(|(code, result)| match standing(result) {
            None | Some(DisplayState::Waiting) => format!(
                "{NOT_HERE}{code}** waits: `void inbox approve {code}`, or the button on its card."
            ),
            Some(_) => format!(
                "{}: {}",
                text(result, "label"),
                came_of_it(result, &Times::at(""))
            ),
        });
    Next::say(lines.collect::<Vec<_>>().join("\n"))
}
