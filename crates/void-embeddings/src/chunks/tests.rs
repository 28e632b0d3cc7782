use super::pieces::PIECE_TOKENS_MAX;
use super::*;
use crate::index::splitmix;

fn sentences(count: usize) -> String {
    let sentence =
        |n: usize| format!("Sentence {n} says that the host is well and its disks are fine.");
    (0..count).map(sentence).collect::<Vec<_>>().join(" ")
}

/// What holds for every text.
fn checked(text: &str) -> Vec<&str> {
    let chunks = Chunks::of(text);
    assert_eq!(
        chunks,
        Chunks::of(text),
        "the same text gives the same chunks"
    );
    let texts: Vec<&str> = chunks.texts(text).collect();
    assert_eq!(texts.len(), chunks.ranges.len(), "no character is cut");
    for chunk in &texts {
        assert!(
            estimate_tokens(chunk) <= CHUNK_TOKENS_MAX,
            "{}",
            estimate_tokens(chunk)
        );
        assert_eq!(chunk.trim(), *chunk);
        assert!(!chunk.is_empty());
    }
    let mut covered = 0;
    for range in &chunks.ranges {
        let gap = text.get(covered.min(range.start)..range.start).unwrap();
        assert!(gap.trim().is_empty(), "{gap:?} is in no chunk");
        assert!(range.end > covered, "a chunk says nothing new");
        covered = range.end;
    }
    if !chunks.is_cut {
        assert!(text[covered..].trim().is_empty());
    }
    texts
}

#[test]
fn nothing_has_no_chunks_and_a_little_has_one() {
    assert!(checked("").is_empty());
    assert!(checked(" \n\n\t \u{a0}").is_empty());
    assert_eq!(checked("  One line.\n"), ["One line."]);
    assert_eq!(
        checked("One.\n\nTwo.\n\n# Three\n- four\n- five"),
        ["One.\n\nTwo.\n\n# Three\n- four\n- five"]
    );
}

#[test]
fn chunks_end_with_sentences_and_repeat_the_last_ones() {
    let text = sentences(100);
    let chunks = checked(&text);
    assert!((3..=6).contains(&chunks.len()), "{}", chunks.len());
    for pair in chunks.windows(2) {
        assert!(pair[0].ends_with("fine."));
        assert!(pair[1].starts_with("Sentence"));
        let first_sentence = pair[1].split_inclusive('.').next().unwrap();
        assert!(pair[0].contains(first_sentence), "the overlap");
        let overlap = (0..pair[1].len()).rev().find(|end| {
            pair[1]
                .get(..*end)
                .is_some_and(|start| pair[0].ends_with(start))
        });
        let overlap = estimate_tokens(&pair[1][..overlap.unwrap()]);
        assert!(overlap > 0 && overlap <= OVERLAP_TOKENS_MAX, "{overlap}");
        assert!(estimate_tokens(pair[0]) > CHUNK_TOKENS_MAX - PIECE_TOKENS_MAX);
    }
}

#[test]
fn a_paragraph_that_nearly_fills_a_chunk_ends_it() {
    let paragraph = sentences(23);
    let tokens = estimate_tokens(&paragraph);
    assert!(
        (PARAGRAPH_END_TOKENS..CHUNK_TOKENS_MAX).contains(&tokens),
        "{tokens}"
    );
    let text = [paragraph.as_str(); 3].join("\n\n");
    let chunks = checked(&text);
    assert_eq!(chunks.len(), 3);
    assert!(chunks.iter().all(|chunk| chunk.ends_with(&paragraph)));
    let other_ends = [paragraph.as_str(); 3].join("\r\n  \r\n");
    assert_eq!(checked(&other_ends).len(), 3);
}

#[test]
fn a_chunk_is_exactly_as_long_as_it_may_be() {
    let words = |count: usize| vec!["word"; count].join(" ");
    let halves = format!(
        "{}. {}.",
        words(PIECE_TOKENS_MAX - 1),
        words(PIECE_TOKENS_MAX - 1)
    );
    assert_eq!(estimate_tokens(&halves), CHUNK_TOKENS_MAX);
    assert_eq!(checked(&halves).len(), 1);
    assert_eq!(checked(&format!("{halves} More.")).len(), 2);
}

#[test]
fn what_has_no_sentences_is_divided_between_words_or_anywhere() {
    let words = vec!["word"; 1_000].join(" ");
    assert!(
        checked(&words)
            .iter()
            .all(|chunk| chunk.starts_with("word") && chunk.ends_with("word"))
    );
    for endless in [
        "x", "é", "語", "🦀", "e\u{301}", "\u{200b}", "!", "\u{1100}",
    ] {
        let text = endless.repeat(5_000);
        let chunks = checked(&text);
        assert!(chunks.len() > 1, "{endless}");
    }
    assert!(
        checked(&"かな。".repeat(500))
            .iter()
            .all(|chunk| chunk.ends_with('。'))
    );
}

#[test]
fn lists_and_tables_are_divided_between_lines() {
    let line = "- a line of a list without an end of a sentence\n";
    let chunks_of = line.repeat(200);
    for chunk in checked(&chunks_of) {
        assert!(
            chunk.starts_with("- a line") && chunk.ends_with("sentence"),
            "{chunk}"
        );
    }
}

#[test]
fn abbreviations_and_numbers_end_no_sentence() {
    let text = "It is 3.14 at example.org (see v1.2)\nand \"so on.\" Then more.";
    let pieces: Vec<&str> = Pieces::of(text).map(|piece| &text[piece.range]).collect();
    assert_eq!(
        pieces,
        [
            "It is 3.14 at example.org (see v1.2)\nand \"so on.\"",
            "Then more."
        ]
    );
}

#[test]
fn an_entity_has_a_largest_number_of_chunks() {
    // 200 tokens a piece and two pieces a chunk, without an overlap.
    let exactly = "!".repeat(CHUNK_TOKENS_MAX * CHUNKS_PER_ENTITY_MAX);
    let chunks = Chunks::of(&exactly);
    assert_eq!(
        (chunks.ranges.len(), chunks.is_cut),
        (CHUNKS_PER_ENTITY_MAX, false)
    );
    let one_more = Chunks::of(&format!("{exactly}!"));
    assert_eq!(
        (one_more.ranges.len(), one_more.is_cut),
        (CHUNKS_PER_ENTITY_MAX, true)
    );
    assert_eq!(chunks.ranges, one_more.ranges);
}

/// 512 KiB.
#[test]
fn the_largest_page_is_covered_whatever_is_in_it() {
    for filling in ["! ", "a ", "word. ", "語", "\n\nx", "- ", "…"] {
        let text = filling.repeat(512 * 1024 / filling.len());
        let chunks = Chunks::of(&text);
        assert!(
            !chunks.is_cut,
            "{filling:?} makes {} chunks",
            chunks.ranges.len()
        );
    }
}

/// What a mutated text gives holds to the same rules: 400 seeded mixtures of what is hard.
#[test]
fn mixtures_of_everything_hold_to_the_rules() {
    let parts = [
        "word ",
        "ein längeres Wort, ",
        "。",
        "! ",
        "\n",
        "\n\n",
        "\r\n\r\n",
        "x",
        "🦀",
        "- ",
        "| a | b |\n",
        "\u{301}",
        "\u{2029}",
        "\u{a0}",
        "“quoted.” ",
        "1. ",
        "語",
        "....",
        "\t",
    ];
    let mut state = 11;
    for _ in 0..400 {
        let mut below = |end: usize| usize::try_from(splitmix(&mut state) % end as u64).unwrap();
        let mixed: Vec<&str> = (0..below(2_000))
            .map(|_| parts[below(parts.len())])
            .collect();
        checked(&mixed.concat());
    }
}
