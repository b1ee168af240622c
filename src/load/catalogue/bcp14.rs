//! The words of BCP 14 in a text, and the sentences of a page that have such words.
//!
//! Takes a plain text or a [`Page`], gives words with their places and levels, and [`Duty`]s. Must not know the
//! requirement catalogue.

use std::ops::Range;

use super::page::{Kind, Page};
use crate::model::spec::Level;

/// The texts that end with a full stop and do not end a sentence.
const ABBREVIATIONS: [&str; 4] = ["e.g.", "i.e.", "etc.", "vs."];

/// A word of BCP 14, which is written in capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keyword {
    /// The place of the word in its text, in bytes.
    pub(super) at: usize,
    pub(super) level: Level,
}

/// A sentence of a page with a word of BCP 14, or an item of a list that such a sentence introduces.
pub(super) struct Duty<'p> {
    /// The index of the block with the sentence, or the item.
    pub(super) block: usize,
    /// The sentence, or the whole item.
    pub(super) text: &'p str,
    /// The sentence before the list, if the item has no word of BCP 14 itself.
    pub(super) introduction: Option<&'p str>,
    /// The index of the block that has the words.
    pub(super) worded: usize,
    /// The words, with their places in that block.
    pub(super) keywords: Vec<Keyword>,
}

/// The words of BCP 14 of a text, in their order.
pub(super) fn keywords(text: &str) -> Vec<Keyword> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, one) in text.char_indices().chain([(text.len(), ' ')]) {
        match (one.is_ascii_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    let is_not = |place: usize| words.get(place).is_some_and(|(_, word)| *word == "NOT");
    let level = |place: usize| match words[place].1 {
        "MUST" | "SHALL" if is_not(place + 1) => Some(Level::MustNot),
        "MUST" | "SHALL" | "REQUIRED" => Some(Level::Must),
        "SHOULD" if is_not(place + 1) => Some(Level::ShouldNot),
        "RECOMMENDED" if place > 0 && is_not(place - 1) => Some(Level::ShouldNot),
        "SHOULD" | "RECOMMENDED" => Some(Level::Should),
        "MAY" | "OPTIONAL" => Some(Level::May),
        _ => None,
    };
    (0..words.len()).filter_map(|place| Some(Keyword { at: words[place].0, level: level(place)? })).collect()
}

/// The places of the sentences of a block.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (blank, _) in text.match_indices(' ') {
        let before = text[start..blank].trim_end_matches(['"', '\'', ')']);
        let is_abbreviated = ABBREVIATIONS.iter().any(|one| before.ends_with(one));
        if before.ends_with(['.', '!', '?']) && !is_abbreviated {
            sentences.push(start..blank);
            start = blank + 1;
        }
    }
    sentences.push(start..text.len());
    sentences
}

/// The duties of a page, in their order. Code and headings have none.
pub(super) fn duties(page: &Page) -> Vec<Duty<'_>> {
    let words: Vec<Vec<Keyword>> = page.blocks.iter().map(|block| keywords(&block.text)).collect();
    let mut introductions = vec![None; page.blocks.len()];
    for (index, block) in page.blocks.iter().enumerate() {
        if block.kind == Kind::Item && words[index].is_empty() {
            introductions[index] = page.introduction(index).filter(|before| {
                let last = sentences(&page.blocks[*before].text).pop().unwrap_or_default();
                words[*before].iter().any(|word| last.contains(&word.at))
            });
        }
    }
    let mut duties = Vec::new();
    for (index, block) in page.blocks.iter().enumerate() {
        if matches!(block.kind, Kind::Code | Kind::Heading) {
            continue;
        }
        if let Some(before) = introductions[index] {
            let text = page.blocks[before].text.as_str();
            let last = sentences(text).pop().unwrap_or_default();
            let keywords = words[before].iter().copied().filter(|word| last.contains(&word.at)).collect();
            let introduction = Some(&text[last]);
            duties.push(Duty { block: index, text: &block.text, introduction, worded: before, keywords });
            continue;
        }
        // The items of a list stand for the sentence that introduces them.
        let is_introduction = introductions.contains(&Some(index));
        let mut places = sentences(&block.text);
        if is_introduction {
            places.pop();
        }
        for place in places {
            let keywords: Vec<_> = words[index].iter().copied().filter(|word| place.contains(&word.at)).collect();
            if !keywords.is_empty() {
                let text = &block.text[place];
                duties.push(Duty { block: index, text, introduction: None, worded: index, keywords });
            }
        }
    }
    duties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_have_their_levels_and_places() {
        let text = "A MUST NOT b, SHOULD-c, must d; NOT RECOMMENDED, REQUIRED or MAY.";
        let found: Vec<_> = keywords(text).into_iter().map(|word| (word.at, word.level)).collect();
        let wanted =
            [(2, Level::MustNot), (14, Level::Should), (36, Level::ShouldNot), (49, Level::Must), (61, Level::May)];
        assert_eq!(found, wanted);
    }

    #[test]
    fn sentences_end_at_stops_and_not_at_abbreviations() {
        let text = "It MUST run (e.g. now, etc.) here. `x` follows! Or not";
        let found: Vec<_> = sentences(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["It MUST run (e.g. now, etc.) here.", "`x` follows!", "Or not"]);
    }

    #[test]
    fn duties_are_sentences_and_items_without_a_word_of_their_own() {
        let page = Page::markdown(
            "# It MUST be\n\nAll do this. Servers MUST:\n\n- stay\n\n  here\n- leave. Nobody MAY follow.\n  1. Then they SHOULD:\n     - \
             rest\n     - sleep\n\n```\nx MUST y\n```\n\n| a | MUST b |\n",
        );
        let found: Vec<_> = duties(&page).iter().map(|duty| (duty.introduction, duty.text)).collect();
        let wanted = [
            (Some("Servers MUST:"), "stay"),
            (None, "Nobody MAY follow."),
            (Some("Then they SHOULD:"), "rest"),
            (Some("Then they SHOULD:"), "sleep"),
            (None, "MUST b"),
        ];
        assert_eq!(found, wanted);
    }
}
