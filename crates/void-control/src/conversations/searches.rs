//! Lists of conversations, with what was found in each where words were looked for.

use void_domain::conversations::SearchedWords;
use void_store::conversations::Summary;
use void_store::{Page, StoreError, Tx, conversations};

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConversation {
    pub summary: Summary,
    /// If words were looked for: the part of its newest message that has one of them.
    pub part: Option<String>,
}

pub(super) async fn told(
    tx: &mut Tx,
    page: Page<Summary>,
    words: Option<&SearchedWords>,
) -> Result<Page<FoundConversation>, StoreError> {
    let mut items = Vec::with_capacity(page.items.len());
    for summary in page.items {
        let part = match words {
            None => None,
            Some(words) => {
                let body = conversations::newest_with_words(tx, summary.id, words).await?;
                body.and_then(|body| words.part_of(&body))
            }
        };
        items.push(FoundConversation { summary, part });
    }
    Ok(Page {
        items,
        next: page.next,
    })
}
