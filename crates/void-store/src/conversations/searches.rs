//! Finding conversations by words of what was said in them. Small and capital letters are one: engines differ in which of them they
//! know, so each word is looked for in two spellings that both of them find.

use void_domain::conversations::SearchedWords;
use void_domain::ids::ConversationId;

use crate::errors::StoreError;
use crate::queries::Select;
use crate::tx::Tx;

const HAS_WORD: &str = "EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = conversations.id \
    AND lower(m.body) LIKE ? ESCAPE '!')";

/// Those in which every word was said, by whoever and wherever.
pub(super) fn with_words<'a>(select: Select<'a>, words: Option<&SearchedWords>) -> Select<'a> {
    let words = words.into_iter().flat_map(SearchedWords::iter);
    words.fold(select, |select, word| {
        select.only_with_either(HAS_WORD, spellings(word))
    })
}

/// The newest message of a conversation in which one of the words stands.
pub async fn newest_with_words(
    tx: &mut Tx,
    id: ConversationId,
    words: &SearchedWords,
) -> Result<Option<String>, StoreError> {
    for word in words.iter() {
        let found = Select::new("messages", "SELECT seq, body FROM messages")
            .only_with("conversation_id = ?", id.to_string())
            .only_with_either("lower(body) LIKE ? ESCAPE '!'", spellings(word))
            .order_by("seq DESC")
            .all(tx, 1, |row| row.string("body").map(Some))
            .await?;
        if let Some(body) = found.into_iter().next() {
            return Ok(Some(body));
        }
    }
    Ok(None)
}

/// In small letters, and as an engine leaves it that knows the small letters of ASCII alone.
fn spellings(word: &str) -> [String; 2] {
    let capital = word.chars().map(|letter| match letter.is_ascii() {
        true => letter.to_string(),
        false => letter.to_uppercase().collect(),
    });
    [word.to_owned(), capital.collect()].map(|word| format!("%{}%", literal(&word)))
}

/// Without a meaning for LIKE.
fn literal(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for letter in word.chars() {
        if matches!(letter, '%' | '_' | '!') {
            out.push('!');
        }
        out.push(letter);
    }
    out
}
