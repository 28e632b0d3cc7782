//! A page becomes the text that a person reads on it: its article where it has one, otherwise everything but
//! navigation; headings, lists, quotes, code and tables as text; nothing that the page does not show.
//!
//! Nothing here calls itself: the tree is an array in document order with a bounded depth, so a page that is
//! nested a million deep costs what a flat one of its size costs.

mod articles;
mod elements;
mod markdown;
mod trees;

use url::Url;

use crate::encodings;
use crate::plain_text::one_line;
use crate::reports::{ExtractHints, Extracted, Unreadable};

pub(crate) fn extract(bytes: &[u8], hints: &ExtractHints) -> Result<Extracted, Unreadable> {
    let charset = hints.charset.as_deref();
    let text = encodings::decode(bytes, charset, encodings::declared_by_page)?;
    let tree = trees::parse(&text);
    drop(text);
    let shown = articles::choose(&tree);
    let base = base_url(hints.url.as_deref(), tree.base.as_deref());
    let written = markdown::write(&tree, &shown, base.as_ref());
    let titles = [&tree.title, &tree.social_title, &written.first_heading];
    let mut titles = titles.into_iter().flatten().map(|title| one_line(title));
    Ok(Extracted {
        title: titles.find(|title| !title.is_empty()),
        text: written.text,
        language: tree.language.as_deref().and_then(language),
        cut: tree.cut || written.cut,
    })
}

/// Where relative links begin: at the page, or where the page says.
fn base_url(page: Option<&str>, said: Option<&str>) -> Option<Url> {
    let page = page.and_then(|page| Url::parse(page).ok());
    let said = said.and_then(|said| match &page {
        Some(page) => page.join(said).ok(),
        None => Url::parse(said).ok(),
    });
    said.filter(|said| matches!(said.scheme(), "http" | "https"))
        .or(page)
}

/// `de`, `pt-BR`, `zh-Hant-TW`.
fn language(said: &str) -> Option<String> {
    let said = said.trim();
    let mut parts = said.split('-');
    let first = parts.next()?;
    let is_letters = |part: &str| part.bytes().all(|b| b.is_ascii_alphabetic());
    let is_part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let fits = (2..=3).contains(&first.len()) && is_letters(first) && said.len() <= 35;
    (fits && parts.all(is_part)).then(|| said.to_owned())
}

#[cfg(test)]
mod tests;
