//! The sentences of the specification that neither a requirement quotes nor an exclusion names.
//!
//! Takes the pages in scope, the quotes of the catalogue and the exclusions, reports sentences with a word of BCP 14 that
//! nothing accounts for, and exclusions that match no sentence. Must not know where pages lie, or the cases.

use std::collections::BTreeSet;

use super::bcp14::{self, Duty};
use super::exclusions::{Exclusions, Placed};
use super::page::{Page, plain};
use crate::load::text::diagnostic::Lint;
use crate::load::text::read::Reader;
use crate::model::spec::{Level, Revision, Revisions};

/// The quote of a requirement at a level of BCP 14, in the words of its page.
pub(super) struct Quoted {
    /// The revisions in which the requirement is in force.
    pub(super) revisions: Revisions,
    pub(super) parts: Vec<String>,
}

/// The sentences of the pages that were looked at so far.
pub(super) struct Unquoted<'e> {
    exclusions: &'e Exclusions,
    quotes: &'e [Quoted],
    /// The places of the pages and sentences of exclusions that matched.
    matched: BTreeSet<usize>,
}

impl<'e> Unquoted<'e> {
    pub(super) fn new(exclusions: &'e Exclusions, quotes: &'e [Quoted]) -> Self {
        Self { exclusions, quotes, matched: BTreeSet::new() }
    }

    /// Reports each sentence of a page that nothing accounts for, at the place where the page is named.
    pub(super) fn page(&mut self, reader: &mut Reader, revision: Revision, name: &Placed, page: &Page) {
        let is_in_force = |quote: &Quoted| !quote.revisions.is_draft && quote.revisions.contains(revision);
        let is_here = |quote: &&Quoted| is_in_force(quote) && page.has(&quote.parts);
        let quotes: Vec<&Quoted> = self.quotes.iter().filter(is_here).collect();
        for duty in bcp14::duties(page) {
            let is_excluded = self.is_excluded(revision, &name.text, &duty);
            let is_permission = duty.keywords.iter().all(|keyword| keyword.level == Level::May);
            if is_excluded || self.exclusions.has_permissions && is_permission || is_quoted(page, &duty, &quotes) {
                continue;
            }
            let levels: BTreeSet<&str> = duty.keywords.iter().map(|keyword| keyword.level.word()).collect();
            let levels = levels.into_iter().collect::<Vec<_>>().join(" and ");
            let anchor = Some(page.anchor(duty.block)).filter(|anchor| !anchor.is_empty());
            let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
            let before = duty.introduction.map(|text| format!("{text} … ")).unwrap_or_default();
            let message = format!(
                "specification/{revision}/{}{anchor} has a {levels} that no requirement quotes: \"{before}{}\"",
                name.text, duty.text
            );
            let missing = reader.mistake(Lint::SentenceNotQuoted, message).at(name.span, "on this page");
            reader.push(missing.help("add a requirement with this quote, or an exclusion with the reason"));
        }
    }

    /// Reports the pages and sentences of exclusions that matched nothing.
    pub(super) fn unmatched(&self, reader: &mut Reader) {
        let mut report = |placed: &Placed, message: String| {
            if !self.matched.contains(&placed.span.offset()) {
                let unknown = reader.mistake(Lint::ExclusionNotFound, message).at(placed.span, "matches nothing");
                reader.push(unknown.help("copy the beginning of the sentence again, or remove this"));
            }
        };
        for exclusion in &self.exclusions.lists {
            for sentence in &exclusion.sentences {
                let text = &sentence.text;
                report(sentence, format!("no page of this exclusion has a sentence that begins with \"{text}\""));
            }
            for page in &exclusion.pages {
                report(page, format!("none of these sentences is on the page `{}`", page.text));
            }
        }
    }

    fn is_excluded(&mut self, revision: Revision, page: &str, duty: &Duty<'_>) -> bool {
        let mut is_excluded = false;
        for exclusion in self.exclusions.lists.iter().filter(|one| one.revisions.contains(revision)) {
            let Some(page) = exclusion.pages.iter().find(|one| &*one.text == page) else { continue };
            for sentence in &exclusion.sentences {
                let beginning = plain(&sentence.text);
                let begins = |text: &str| text.starts_with(&beginning);
                if begins(duty.text) || duty.introduction.is_some_and(begins) {
                    self.matched.extend([sentence.span.offset(), page.span.offset()]);
                    is_excluded = true;
                }
            }
        }
        is_excluded
    }
}

/// Returns whether the quotes have each word of a sentence, and its item of the list.
fn is_quoted(page: &Page, duty: &Duty<'_>, quotes: &[&Quoted]) -> bool {
    let item = duty.introduction.map(|_| page.blocks[duty.block].text.as_str());
    duty.keywords.iter().all(|keyword| {
        quotes.iter().any(|quote| {
            let has_word = page.find_in(duty.worded, &quote.parts).any(|place| place.contains(&keyword.at));
            has_word && item.is_none_or(|item| quote.parts.iter().any(|part| item.contains(part.as_str())))
        })
    })
}
