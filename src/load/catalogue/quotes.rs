//! Comparison of the quotes of the requirement catalogue with a checkout of the specification's repository.
//!
//! Takes the files of requirements and of exclusions, and a folder. Reports quotes that their page does not have, quotes
//! that begin or end inside a sentence, and sentences that nothing accounts for. Reads files only below the folder, and
//! nothing from the network. Must not know the cases.

use std::collections::BTreeMap;
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use miette::SourceSpan;

use super::bcp14;
use super::exclusions::exclusions;
use super::page::{self, Page, Passage, plain};
use super::unquoted::{Quoted, Unquoted};
use crate::load::source::{self, Text};
use crate::load::text::diagnostic::Lint;
use crate::load::text::json;
use crate::load::text::node::{Kind, Node};
use crate::load::text::read::{Object, Reader};
use crate::model::spec::Level;

/// The largest page that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// The words that may begin a condition or an exception in a parenthesis after the quoted words.
const CONDITIONS: [&str; 13] = [
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

/// A checkout, and the pages that were read.
struct Checkout<'a> {
    root: &'a Utf8Path,
    pages: BTreeMap<String, Rc<Vec<Page>>>,
}

/// Compares all quotes. Returns the diagnostics of each file in a reader of its own.
pub(in crate::load) fn compare(texts: &[Text], root: &Utf8Path) -> Vec<Reader> {
    let mut checkout = Checkout { root, pages: BTreeMap::new() };
    let (mut readers, mut quotes) = (Vec::new(), Vec::new());
    for text in texts.iter().filter(|text| text.kind.requirements().is_some()) {
        let mut tree = text.reader();
        let mut reader = text.reader();
        let Some(node) = json::parse(&mut tree) else { continue };
        for requirement in node.members().iter().filter(|member| &*member.key != "$schema") {
            let object = Object { node: &requirement.value };
            let revisions = tree.revisions(object);
            let also = match object.get("also").map(|node| &node.kind) {
                Some(Kind::Array(items)) => items.to_vec(),
                _ => Vec::new(),
            };
            for node in also.iter().chain([&requirement.value]) {
                checkout.quote(&mut reader, node);
                if let (Some((quote, _)), true) = (text_of(node, "quote"), is_whole(node)) {
                    quotes.push(Quoted { revisions, parts: parts(quote) });
                }
            }
        }
        if !text.is_context {
            readers.push(reader);
        }
    }
    readers.extend(texts.iter().filter_map(|text| checkout.sentences(text, &quotes)));
    readers
}

/// A text of an object, with its place.
fn text_of<'n>(node: &'n Node, key: &str) -> Option<(&'n str, SourceSpan)> {
    match (Object { node }).get(key).map(|node| (&node.kind, node.span)) {
        Some((Kind::String(text), span)) => Some((text, span)),
        _ => None,
    }
}

/// Returns whether the quote must be a whole sentence. A DERIVED requirement follows from a part of one.
fn is_whole(node: &Node) -> bool {
    text_of(node, "level").is_some_and(|(level, _)| level != Level::Derived.word())
}

/// The parts of a quote, without the words that ` … ` stands for.
fn parts(quote: &str) -> Vec<String> {
    quote.split('…').map(plain).filter(|part| !part.is_empty()).collect()
}

impl Checkout<'_> {
    /// Reports the sentences of the pages that a file of exclusions names, as far as nothing accounts for them.
    fn sentences(&mut self, text: &Text, quotes: &[Quoted]) -> Option<Reader> {
        if !matches!(text.kind, source::Kind::Exclusions) {
            return None;
        }
        let mut tree = text.reader();
        let mut reader = text.reader();
        let exclusions = exclusions(&mut tree, &json::parse(&mut text.reader())?);
        let mut unquoted = Unquoted::new(&exclusions, quotes);
        for (revision, name) in &exclusions.pages {
            if let Some(page) = self.pages(&format!("specification/{revision}/{}", name.text)).first() {
                unquoted.page(&mut reader, *revision, name, page);
            } else {
                let message = format!("the specification's checkout has no page `{}` of {revision}", name.text);
                let missing = reader.mistake(Lint::ExclusionNotFound, message).at(name.span, "no such file");
                reader.push(missing.help("correct the page, or update the checkout"));
            }
        }
        unquoted.unmatched(&mut reader);
        Some(reader)
    }

    /// Compares one quote with its page.
    fn quote(&mut self, reader: &mut Reader, node: &Node) {
        let (Some((source, at)), Some((quote, span))) = (text_of(node, "source"), text_of(node, "quote")) else {
            return;
        };
        let pages = self.pages(source);
        if pages.is_empty() {
            let missing =
                reader.mistake(Lint::QuoteNotFound, format!("the specification's checkout has no page `{source}`"));
            reader.push(missing.at(at, "no such file").help("correct `source`, or update the checkout"));
            return;
        }
        let parts = parts(quote);
        let Some(page) = pages.iter().find(|page| page.has(&parts)) else {
            let drift =
                reader.mistake(Lint::QuoteNotFound, format!("the page `{source}` does not have the quoted words"));
            reader.push(drift.at(span, "not found").help("copy the sentence again, or name the page that has it"));
            return;
        };
        if let Some((_, anchor)) = source.split_once('#')
            && !pages.iter().any(|page| page.has_anchor(anchor))
        {
            let stray = reader.mistake(Lint::QuoteNotFound, format!("the page has no heading `#{anchor}`"));
            reader.push(stray.at(at, "leads nowhere").help("name the heading above the sentence"));
        }
        // `when` states the condition of a part of a sentence in other words.
        if !is_whole(node) || text_of(node, "when").is_some() {
            return;
        }
        let cut = |message: String| reader.mistake(Lint::QuoteCut, message);
        let mut cuts = Vec::new();
        if let Some(left_out) = parts.last().and_then(|part| left_out(page, part, rest_of)) {
            let cut = cut(format!("the quoted sentence goes on: \"{left_out}\""));
            cuts.push(cut.at(span, "ends inside a sentence").help("quote the sentence to its end"));
        }
        if let Some(left_out) = parts.first().and_then(|part| left_out(page, part, beginning_of)) {
            let cut = cut(format!("the quoted sentence begins with \"{left_out}\""));
            cuts.push(cut.at(span, "begins inside a sentence").help("quote the sentence from its beginning"));
        }
        if let [part] = parts.as_slice()
            && let Some(before) = left_out(page, part, introduction_of)
        {
            let cut = cut(format!("the list of the quoted item is introduced by \"{before}\""));
            let help = "quote that sentence too, with ` … ` between it and the item: the level of the item is its word";
            cuts.push(cut.at(span, "an item without the sentence before its list").help(help));
        }
        for cut in cuts {
            reader.push(cut);
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

/// The words that a quote leaves out, unless the page has the quote without leaving anything out.
fn left_out<'p>(page: &'p Page, part: &str, find: fn(&'p Page, Passage) -> Option<&'p str>) -> Option<&'p str> {
    let mut places = page.find(part).map(|passage| find(page, passage));
    let first = places.next()??;
    places.all(|left_out| left_out.is_some()).then_some(first)
}

/// The rest of the sentence after a passage. A parenthesis without a condition may be left out.
fn rest_of(page: &Page, passage: Passage) -> Option<&str> {
    let text = &page.blocks[passage.block].text;
    if text[..passage.end].ends_with(['.', '!', '?', ':', ';']) {
        return None;
    }
    let end = bcp14::sentences(text).into_iter().map(|place| place.end).find(|end| passage.end <= *end)?;
    let rest = text[passage.end..end].trim();
    let after = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((inside, after)) if !words(inside).any(|word| CONDITIONS.contains(&word.as_str())) => after.trim_start(),
        _ => rest,
    };
    (!after.is_empty() && !after.starts_with(['.', '!', '?', ':', ';'])).then_some(rest)
}

/// The beginning of the sentence before a passage. A label that ends with a colon may be left out.
fn beginning_of(page: &Page, passage: Passage) -> Option<&str> {
    let text = &page.blocks[passage.block].text;
    let start = bcp14::sentences(text).into_iter().map(|place| place.start).rfind(|start| *start <= passage.start)?;
    let before = text[start..passage.start].trim();
    (!before.is_empty() && !before.ends_with([':', ';'])).then_some(before)
}

/// The sentence before the list of a quoted item, if only that sentence has a word of BCP 14.
fn introduction_of(page: &Page, passage: Passage) -> Option<&str> {
    let block = &page.blocks[passage.block];
    if block.kind != page::Kind::Item || !bcp14::keywords(&block.text[passage.start..passage.end]).is_empty() {
        return None;
    }
    let before = &page.blocks[page.introduction(passage.block)?].text;
    let last = before.get(bcp14::sentences(before).pop()?)?;
    (!bcp14::keywords(last).is_empty()).then_some(last)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|one: char| !one.is_alphanumeric() && one != '-').map(str::to_lowercase)
}
