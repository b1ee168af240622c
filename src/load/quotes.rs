//! Comparison of the quotes of the requirement catalogue with a checkout of the specification's repository.
//!
//! Takes the files of requirements and a folder, reports quotes that their page does not have, and quotes that leave out a
//! condition of their sentence. Reads files only below the folder, and nothing from the network. Must not know the cases.

use std::collections::BTreeMap;
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};

use super::diagnostic::Lint;
use super::json;
use super::node::{Kind, Node};
use super::page::{Page, Passage, plain};
use super::read::{Object, Reader};
use super::source::Text;
use crate::model::spec::Level;

/// The largest page that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The words that may begin a condition or an exception after the quoted words.
const AFTER: [&str; 13] = [
    "except",
    "if",
    "only",
    "otherwise",
    "provided",
    "unless",
    "until",
    "when",
    "whenever",
    "where",
    "whereas",
    "while",
    "whose",
];

/// The words that may begin a condition before the quoted words.
const BEFORE: [&str; 13] =
    ["after", "before", "during", "except", "for", "if", "once", "on", "unless", "upon", "when", "whenever", "where"];

/// The words of BCP 14.
const KEYWORDS: [&str; 8] = ["MUST", "SHALL", "REQUIRED", "SHOULD", "RECOMMENDED", "MAY", "OPTIONAL", "NOT"];

/// A checkout, and the pages that were read.
struct Checkout<'a> {
    root: &'a Utf8Path,
    pages: BTreeMap<String, Rc<Vec<Page>>>,
}

/// Compares all quotes. Returns the diagnostics of each file of requirements in a reader of its own.
pub(super) fn compare<'t>(texts: impl Iterator<Item = &'t Text>, root: &Utf8Path) -> Vec<Reader> {
    let mut checkout = Checkout { root, pages: BTreeMap::new() };
    texts
        .map(|text| {
            let mut tree = text.reader();
            let mut reader = text.reader();
            if let Some(node) = json::parse(&mut tree) {
                for requirement in node.members().iter().filter(|member| &*member.key != "$schema") {
                    checkout.quote(&mut reader, &requirement.value);
                    if let Some(Kind::Array(items)) =
                        (Object { node: &requirement.value }).get("also").map(|node| &node.kind)
                    {
                        items.iter().for_each(|item| checkout.quote(&mut reader, item));
                    }
                }
            }
            reader
        })
        .collect()
}

impl Checkout<'_> {
    /// Compares one quote with its page.
    fn quote(&mut self, reader: &mut Reader, node: &Node) {
        let object = Object { node };
        let text = |key: &str| match object.get(key).map(|node| (&node.kind, node.span)) {
            Some((Kind::String(text), span)) => Some((&**text, span)),
            _ => None,
        };
        let (Some((source, at)), Some((quote, span))) = (text("source"), text("quote")) else { return };
        let pages = self.pages(source);
        if pages.is_empty() {
            let missing =
                reader.mistake(Lint::QuoteNotFound, format!("the specification's checkout has no page `{source}`"));
            reader.push(missing.at(at, "no such file").help("correct `source`, or update the checkout"));
            return;
        }
        let parts: Vec<String> = quote.split('…').map(plain).filter(|part| !part.is_empty()).collect();
        let Some(page) = pages.iter().find(|page| page.has(&parts)) else {
            let drift =
                reader.mistake(Lint::QuoteNotFound, format!("the page `{source}` does not have the quoted words"));
            reader.push(drift.at(span, "not found").help("copy the sentence again, or name the page that has it"));
            return;
        };
        // A DERIVED requirement follows from a part of a sentence, and `when` states the condition in other words.
        let is_part = text("level").is_none_or(|(level, _)| level == Level::Derived.word()) || text("when").is_some();
        let ([part], false) = (parts.as_slice(), is_part) else { return };
        let Some(passage) = page.find(part) else { return };
        if let Some(left_out) = rest_of(page, passage) {
            let cut = reader.mistake(Lint::QuoteCut, format!("the quoted sentence goes on: \"{left_out}\""));
            reader.push(cut.at(span, "ends before a condition").help("quote the sentence to its end"));
        }
        if let Some(left_out) = beginning_of(page, passage) {
            let cut = reader.mistake(Lint::QuoteCut, format!("the quoted sentence begins with \"{left_out}\""));
            reader.push(cut.at(span, "begins after a condition").help("quote the sentence from its beginning"));
        }
        if let Some(before) = introduction_of(page, passage, part) {
            let cut =
                reader.mistake(Lint::QuoteCut, format!("the list of the quoted item is introduced by \"{before}\""));
            let help = "quote that sentence too, with ` … ` between it and the item: the level of the item is its word";
            reader.push(cut.at(span, "an item without the sentence before its list").help(help));
        }
    }

    /// The files of a source: the page, and for the schema also the file that the page is made from.
    fn pages(&mut self, source: &str) -> Rc<Vec<Page>> {
        let page = source.split('#').next().unwrap_or_default();
        if let Some(known) = self.pages.get(page) {
            return Rc::clone(known);
        }
        let mut pages = Vec::new();
        if page.split('/').all(|part| !part.is_empty() && part != "." && part != "..") {
            let docs = self.root.join("docs");
            let files = [docs.join(format!("{page}.mdx")), docs.join(page).join("index.mdx")];
            pages.extend(files.iter().filter_map(read).map(|text| Page::markdown(&text)));
            if let Some(revision) = page.strip_prefix("specification/").and_then(|page| page.strip_suffix("/schema")) {
                let schema = self.root.join("schema").join(revision).join("schema.ts");
                pages.extend(read(&schema).map(|text| Page::source_code(&text)));
            }
        }
        let pages = Rc::new(pages);
        self.pages.insert(page.to_owned(), Rc::clone(&pages));
        pages
    }
}

fn read(file: &Utf8PathBuf) -> Option<String> {
    let is_small = std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.len() <= MOST_BYTES);
    is_small.then(|| std::fs::read_to_string(file).ok()).flatten()
}

/// The rest of the sentence after a passage, if it has a condition.
fn rest_of(page: &Page, passage: Passage) -> Option<&str> {
    let text = &page.blocks[passage.block].text;
    if text[..passage.end].ends_with(['.', '!', '?', ':', ';']) {
        return None;
    }
    let rest = &text[passage.end..];
    let end = rest.match_indices(['.', '!', '?', ';']).map(|(place, _)| place);
    let end = end.into_iter().find(|place| rest[place + 1..].chars().next().is_none_or(char::is_whitespace));
    let rest = rest[..end.unwrap_or(rest.len())].trim();
    let has = words(rest).any(|word| AFTER.contains(&word.as_str()))
        || rest.contains("as long as")
        || rest.contains("in case");
    has.then_some(rest)
}

/// The beginning of the sentence before a passage, if it has a condition.
fn beginning_of(page: &Page, passage: Passage) -> Option<&str> {
    let before = &page.blocks[passage.block].text[..passage.start];
    let mut ends = before.rmatch_indices(['.', '!', '?', ':', ';']).map(|(place, _)| place + 1);
    let start = ends.find(|end| before[*end..].starts_with(' ')).unwrap_or(0);
    let before = before[start..].trim();
    words(before).any(|word| BEFORE.contains(&word.as_str())).then_some(before)
}

/// The sentence before the list of a quoted item, if only that sentence has a word of BCP 14.
fn introduction_of<'p>(page: &'p Page, passage: Passage, part: &str) -> Option<&'p str> {
    let has_keyword = |text: &str| text.split(|one: char| !one.is_alphanumeric()).any(|word| KEYWORDS.contains(&word));
    let before = page.introduction(passage.block).filter(|_| page.blocks[passage.block].is_item)?;
    let start = before.rfind(". ").map_or(0, |place| place + 2);
    (!has_keyword(part) && has_keyword(&before[start..])).then(|| &before[start..])
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|one: char| !one.is_alphanumeric() && one != '-').map(str::to_lowercase)
}
