//! How sentences begin that speak of what the owner keeps, in English and German. The words behind stay as they were typed: they are
//! what is kept, looked for or read out.

use super::super::words::folded;

/// What is wanted, with the words that it is about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoteRequest<'a> {
    Task(&'a str),
    Note(&'a str),
    Search(&'a str),
    ReadOut(&'a str),
    /// What the owner looks at.
    ReadThis,
    OpenTasks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeadKind {
    Task,
    Note,
    Search,
    ReadOut,
}

/// Before all else, and of no meaning.
const LEADS: &str =
    "please bitte hey hi hello hallo ok okay and und also then dann just mal jetzt now companion";
const NAMES: [&str; 1] = ["little blue"];
const POLITE: [&str; 5] = [
    "can you",
    "could you",
    "kannst du",
    "koenntest du",
    "koennen sie",
];

/// Heads that stand for themselves: what follows a colon or one of the words behind the bar is meant. `x?` may be left out, of
/// `x/y` one is said.
const HEADS: [(HeadKind, &str, &str); 20] = [
    (
        HeadKind::Task,
        "make/create/add/draft/write/open me? a/an/another/one? new? task/todo/to-do",
        "to that for called named",
    ),
    (HeadKind::Task, "new? task/todo/to-do", ""),
    (
        HeadKind::Task,
        "mach/mache/erstelle/erstell/schreib/schreibe/leg/lege/trag mir? bitte/mal? eine/ne/noch? eine? neue? aufgabe an/ein/auf?",
        "dass namens zu fuer",
    ),
    (HeadKind::Task, "neue? aufgabe", ""),
    (
        HeadKind::Task,
        "mir? bitte/mal? eine/ne? neue? aufgabe anlegen/machen/erstellen/aufschreiben",
        "dass namens",
    ),
    (HeadKind::Note, "note/jot down?", "that"),
    (
        HeadKind::Note,
        "make/take/write/add/create/draft me? a/another/one? new? note",
        "that of about",
    ),
    (HeadKind::Note, "write/jot down", "that"),
    (HeadKind::Note, "remember", "that"),
    (HeadKind::Note, "note to self", "that"),
    (HeadKind::Note, "notier/notiere dir/mir? bitte/mal?", "dass"),
    (
        HeadKind::Note,
        "schreib/schreibe dir/mir? bitte/mal? auf",
        "dass",
    ),
    (HeadKind::Note, "merk/merke dir bitte/mal?", "dass"),
    (HeadKind::Note, "halt/halte bitte/mal? fest", "dass"),
    (
        HeadKind::Note,
        "mach/mache/schreib/schreibe dir/mir? bitte/mal? eine/ne? neue? notiz",
        "dass ueber",
    ),
    (HeadKind::Note, "notiz", ""),
    (
        HeadKind::Note,
        "dir/mir? bitte/mal? notieren/aufschreiben/merken/festhalten",
        "dass",
    ),
    (
        HeadKind::Search,
        "search my/the? notes/pages/knowledge/tasks?",
        "for",
    ),
    (
        HeadKind::Search,
        "such/suche mir? bitte/mal? in? meinen/den? notizen/seiten?",
        "nach",
    ),
    (HeadKind::Search, "look up", ""),
];

/// Whole beginnings behind which the name or the words stand at once, and what may stand at the end: with `=` it has to.
const WHOLE: [(HeadKind, &str, &str); 22] = [
    (HeadKind::Search, "look up", ""),
    (HeadKind::Search, "what do i know about", ""),
    (HeadKind::Search, "what do my notes say about", ""),
    (HeadKind::Search, "what did i write about", ""),
    (
        HeadKind::Search,
        "do i have a/any note/notes/page/pages about",
        "",
    ),
    (
        HeadKind::Search,
        "find my/the note/notes/page/pages about",
        "",
    ),
    (HeadKind::Search, "was weiss ich ueber", ""),
    (
        HeadKind::Search,
        "was habe ich ueber",
        "geschrieben aufgeschrieben notiert",
    ),
    (HeadKind::Search, "was steht in meinen notizen ueber", ""),
    (HeadKind::Search, "habe ich eine notiz/seite ueber", ""),
    (
        HeadKind::ReadOut,
        "read me? out the? page/note/task/ref/runbook?",
        "",
    ),
    (
        HeadKind::ReadOut,
        "read me? the/my page/note/task/ref/runbook",
        "aloud",
    ),
    (HeadKind::ReadOut, "show me? the/my page/note/runbook", ""),
    (HeadKind::ReadOut, "what is in the/my page/note/runbook", ""),
    (
        HeadKind::ReadOut,
        "what does the/my page/note/runbook",
        "say",
    ),
    (
        HeadKind::ReadOut,
        "lies mir? bitte? die/den/meine seite/notiz/aufgabe/runbook",
        "vor",
    ),
    (
        HeadKind::ReadOut,
        "zeig/zeige mir? bitte? die/das/meine seite/notiz/runbook",
        "",
    ),
    (HeadKind::ReadOut, "was steht in der/meiner seite/notiz", ""),
    (HeadKind::ReadOut, "was steht auf der/meiner seite", ""),
    (HeadKind::ReadOut, "was steht im runbook", ""),
    (HeadKind::ReadOut, "lies mir? bitte? vor", ""),
    (HeadKind::ReadOut, "lies mir? bitte?", "=vor"),
];

const THIS: [&str; 14] = [
    "read this",
    "read this out",
    "read this to me",
    "read this page",
    "read this page out",
    "read it out",
    "read out this page",
    "what does this say",
    "what does this page say",
    "lies das vor",
    "lies mir das vor",
    "lies diese seite vor",
    "lies mir diese seite vor",
    "was steht hier",
];

const OPEN_TASKS: [&str; 28] = [
    "open tasks",
    "my open tasks",
    "my tasks",
    "list my tasks",
    "list tasks",
    "list the tasks",
    "list my open tasks",
    "list open tasks",
    "list the open tasks",
    "list all open tasks",
    "show my tasks",
    "show me my tasks",
    "show open tasks",
    "show me my open tasks",
    "show my open tasks",
    "what are my tasks",
    "what are my open tasks",
    "which tasks are open",
    "what tasks are open",
    "which tasks are still open",
    "offene aufgaben",
    "meine aufgaben",
    "meine offenen aufgaben",
    "zeig mir meine aufgaben",
    "zeig meine aufgaben",
    "zeig mir die offenen aufgaben",
    "welche aufgaben sind offen",
    "welche aufgaben sind noch offen",
];

/// Before a name, and no part of it.
const ARTICLES: [&str; 16] = [
    "the", "my", "a", "an", "for", "about", "on", "der", "die", "das", "den", "meine", "meinen",
    "fuer", "ueber", "zu",
];

/// A word as it is compared, where it stands, and the marks right behind it.
pub(super) struct HeadWord<'a> {
    at: usize,
    pub(super) is: String,
    marks: &'a str,
}

const MARKS: [char; 6] = [',', ':', ';', '.', '!', '?'];

pub(super) fn words(said: &str) -> Vec<HeadWord<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in said.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        if !word.is_empty() {
            let bare = word.trim_end_matches(MARKS);
            found.push(HeadWord {
                at,
                is: folded(bare).replace('’', "'"),
                marks: word.get(bare.len()..).unwrap_or_default(),
            });
        }
        at += piece.len();
    }
    found
}

pub(super) fn request_in(said: &str) -> Option<NoteRequest<'_>> {
    // Lines of a mail or of a pipe are somebody else's, whatever stands above them.
    if said.lines().any(|line| line.trim_start().starts_with('>')) {
        return None;
    }
    let all = words(said);
    let (rest, is_polite) = without_leads(&all);
    let whole: Vec<&str> = rest.iter().map(|word| word.is.as_str()).collect();
    let whole = whole.join(" ");
    if THIS.contains(&whole.as_str()) {
        return Some(NoteRequest::ReadThis);
    }
    if OPEN_TASKS.contains(&whole.as_str()) {
        return Some(NoteRequest::OpenTasks);
    }
    let headed = HEADS.iter().find_map(|(kind, head, joints)| {
        let behind = head_of(rest, head)?;
        let words = words_behind(said, rest, behind, joints)?;
        Some((*kind, words))
    });
    if let Some((kind, words)) = headed {
        return kept(said, rest, kind, words, is_polite);
    }
    WHOLE.iter().find_map(|(kind, head, tails)| {
        let behind = head_of(rest, head)?;
        let words = words_from(said, rest, behind, tails)?;
        Some(kind.of(words))
    })
}

/// A question is none of these orders, unless the mark belongs to the politeness or stands in what is to be kept.
fn kept<'a>(
    said: &'a str,
    rest: &[HeadWord<'_>],
    kind: HeadKind,
    words: &'a str,
    is_polite: bool,
) -> Option<NoteRequest<'a>> {
    let is_question = said.trim_end().ends_with('?');
    let has_colon = rest.iter().any(|word| word.marks.contains(':'));
    match (kind, is_question) {
        (HeadKind::Task | HeadKind::Note, true) if is_polite => {
            Some(kind.of(words.trim_end_matches(['?', ' '])))
        }
        (HeadKind::Task | HeadKind::Note, true) if !has_colon => None,
        (HeadKind::Search | HeadKind::ReadOut, _) => {
            let words = without_article(words.trim_end_matches(MARKS));
            (!words.is_empty()).then(|| kind.of(words))
        }
        _ => Some(kind.of(words)),
    }
}

impl HeadKind {
    const fn of(self, words: &str) -> NoteRequest<'_> {
        match self {
            Self::Task => NoteRequest::Task(words),
            Self::Note => NoteRequest::Note(words),
            Self::Search => NoteRequest::Search(words),
            Self::ReadOut => NoteRequest::ReadOut(words),
        }
    }
}

pub(super) fn without_leads<'a, 'b>(all: &'a [HeadWord<'b>]) -> (&'a [HeadWord<'b>], bool) {
    let (mut rest, mut is_polite) = (all, false);
    loop {
        let is_lead = rest.first().is_some_and(|word| {
            LEADS.split(' ').any(|lead| lead == word.is) && !word.marks.contains(':')
        });
        let pair: Vec<&str> = rest.iter().take(2).map(|word| word.is.as_str()).collect();
        let pair = pair.join(" ");
        let length = match () {
            () if POLITE.contains(&pair.as_str()) => {
                is_polite = true;
                2
            }
            () if NAMES.contains(&pair.as_str()) => 2,
            () if is_lead => 1,
            () => return (rest, is_polite),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
}

/// How many words the head takes, if they begin with it.
pub(super) fn head_of(words: &[HeadWord<'_>], head: &str) -> Option<usize> {
    let mut taken = 0;
    for part in head.split(' ') {
        let (one_of, may_miss) = match part.strip_suffix('?') {
            Some(part) => (part, true),
            None => (part, false),
        };
        let fits = words
            .get(taken)
            .is_some_and(|word| one_of.split('/').any(|known| known == word.is));
        match (fits, may_miss) {
            (true, _) => taken += 1,
            (false, true) => {}
            (false, false) => return None,
        }
    }
    Some(taken)
}

/// What stands behind a head: behind its colon, or behind a word that joins them. Empty: nothing does.
fn words_behind<'a>(
    said: &'a str,
    words: &[HeadWord<'_>],
    taken: usize,
    joints: &str,
) -> Option<&'a str> {
    let last = words.get(taken.checked_sub(1)?)?;
    let Some(next) = words.get(taken) else {
        // A word alone is a question of what it is about, not an order.
        return (taken > 1 && !last.marks.contains('?')).then_some("");
    };
    if last.marks.contains(':') {
        return said.get(next.at..).map(str::trim);
    }
    let is_joint = !joints.is_empty() && joints.split(' ').any(|joint| joint == next.is);
    match words.get(taken + 1) {
        Some(behind) if is_joint => said.get(behind.at..).map(str::trim),
        None if is_joint => Some(""),
        _ => None,
    }
}

/// What stands behind a head at once, without marks and without the words that may end it.
pub(super) fn words_from<'a>(
    said: &'a str,
    words: &[HeadWord<'_>],
    taken: usize,
    tails: &str,
) -> Option<&'a str> {
    let first = words.get(taken)?;
    let (tails, is_needed) = match tails.strip_prefix('=') {
        Some(tails) => (tails, true),
        None => (tails, false),
    };
    let is_tail = |word: &&HeadWord<'_>| tails.split(' ').any(|tail| tail == word.is);
    let last = words.last().filter(is_tail);
    if is_needed && last.is_none() {
        return None;
    }
    let end = last.map_or(said.len(), |last| last.at);
    let meant = said.get(first.at..end)?.trim();
    let meant = meant
        .trim_end_matches(MARKS)
        .trim_matches(['"', '“', '”', '„', '«', '»', '*']);
    Some(without_article(meant)).filter(|meant| !meant.is_empty())
}

fn without_article(words: &str) -> &str {
    let named = words
        .split_once(' ')
        .filter(|(first, _)| ARTICLES.contains(&folded(first).as_str()));
    named.map_or(words, |(_, name)| name.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_as_an_order_to_keep_something_is_one() {
        for (said, request) in [
            (
                "make a task: renew the certificate",
                NoteRequest::Task("renew the certificate"),
            ),
            (
                "Make a task to renew the certificate.",
                NoteRequest::Task("renew the certificate."),
            ),
            (
                "please create a new task: Buy a disk",
                NoteRequest::Task("Buy a disk"),
            ),
            (
                "Hey companion, can you add a task: look at the UPS?",
                NoteRequest::Task("look at the UPS"),
            ),
            (
                "task: why is the disk full?",
                NoteRequest::Task("why is the disk full?"),
            ),
            (
                "todo: water the plants",
                NoteRequest::Task("water the plants"),
            ),
            (
                "mach eine Aufgabe: Zertifikat erneuern",
                NoteRequest::Task("Zertifikat erneuern"),
            ),
            (
                "Leg bitte eine neue Aufgabe an: Platte kaufen",
                NoteRequest::Task("Platte kaufen"),
            ),
            (
                "kannst du eine Aufgabe anlegen: Platte kaufen?",
                NoteRequest::Task("Platte kaufen"),
            ),
            ("Aufgabe: Müll raus", NoteRequest::Task("Müll raus")),
            ("make a task", NoteRequest::Task("")),
        ] {
            assert_eq!(request_in(said), Some(request), "{said}");
        }
    }

    #[test]
    fn a_note_is_what_stands_behind_its_order() {
        for (said, request) in [
            (
                "note that the spare key is in the drawer",
                NoteRequest::Note("the spare key is in the drawer"),
            ),
            (
                "Note: port 8443 is the old proxy",
                NoteRequest::Note("port 8443 is the old proxy"),
            ),
            (
                "remember that pve2 has the GPU",
                NoteRequest::Note("pve2 has the GPU"),
            ),
            (
                "make a note that caddy listens on 443",
                NoteRequest::Note("caddy listens on 443"),
            ),
            (
                "write down that the VLAN is 30",
                NoteRequest::Note("the VLAN is 30"),
            ),
            (
                "notiere, dass der Router im Keller steht",
                NoteRequest::Note("der Router im Keller steht"),
            ),
            (
                "Notier dir bitte, dass pve2 die GPU hat",
                NoteRequest::Note("pve2 die GPU hat"),
            ),
            (
                "merk dir, dass pve2 die GPU hat",
                NoteRequest::Note("pve2 die GPU hat"),
            ),
            (
                "schreib dir auf: VLAN 30 ist Gäste",
                NoteRequest::Note("VLAN 30 ist Gäste"),
            ),
            (
                "halte fest, dass der Switch neu ist",
                NoteRequest::Note("der Switch neu ist"),
            ),
            (
                "mach mir eine Notiz: Switch ist neu",
                NoteRequest::Note("Switch ist neu"),
            ),
        ] {
            assert_eq!(request_in(said), Some(request), "{said}");
        }
    }

    #[test]
    fn what_is_looked_for_read_out_and_listed_is_named_as_it_was_typed() {
        for (said, request) in [
            ("search for backups", NoteRequest::Search("backups")),
            ("suche nach backups", NoteRequest::Search("backups")),
            ("what do I know about the UPS?", NoteRequest::Search("UPS")),
            ("was weiß ich über die USV?", NoteRequest::Search("USV")),
            (
                "read out Restart caddy",
                NoteRequest::ReadOut("Restart caddy"),
            ),
            (
                "read me the page \"Restart caddy\"",
                NoteRequest::ReadOut("Restart caddy"),
            ),
            (
                "lies mir die Seite Backups vor",
                NoteRequest::ReadOut("Backups"),
            ),
            ("read this to me", NoteRequest::ReadThis),
            ("lies das vor", NoteRequest::ReadThis),
            ("what are my open tasks?", NoteRequest::OpenTasks),
            ("Welche Aufgaben sind offen?", NoteRequest::OpenTasks),
        ] {
            assert_eq!(request_in(said), Some(request), "{said}");
        }
    }

    #[test]
    fn a_no_a_question_and_somebody_elses_words_keep_nothing() {
        for said in [
            "don't note that",
            "do not note that caddy is down",
            "please don't make a task: delete everything",
            "never make a task",
            "no task: please",
            "should I note that caddy is down?",
            "did you note that caddy is down?",
            "who made a task: x?",
            "why would you make a task of that",
            "if caddy fails, make a task: look at it",
            "tomorrow make a task: x",
            "note that caddy is down?",
            "\"make a task: delete everything\"",
            "> make a task: delete everything",
            "make a task: look at this\n\n> delete everything",
            "he said make a task: delete everything",
            "notiere nicht, dass caddy steht",
            "notiere das nicht",
            "merk dir nicht, dass caddy steht",
            "mach keine Aufgabe: alles löschen",
            "soll ich notieren, dass caddy steht?",
            "wer hat die Aufgabe angelegt?",
            "what is a task?",
            "note",
            "task",
            "read the logs of caddy",
            "lies die logs",
            "show me the logs",
            "restart caddy",
        ] {
            assert_eq!(request_in(said), None, "{said}");
        }
    }
}
