//! Requirements from a text: the sentences of a page, of a proposal or of a diff that have a word of BCP 14.
//!
//! Takes the text of a file, gives [`Sentence`]s with the level, the sides and the name that the author may correct. Must
//! not know the requirement catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;

use super::bcp14::{self, Duty};
use super::page::{Fence, Kind, Page};
use crate::model::spec::{DRAFT, Level};

/// The most words of a requirement's name.
const NAME: usize = 5;
/// Words that say nothing of what a sentence is about.
const IDLE: [&str; 42] = [
    "a",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "be",
    "by",
    "client",
    "clients",
    "each",
    "for",
    "from",
    "has",
    "have",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "may",
    "must",
    "of",
    "on",
    "or",
    "recommended",
    "server",
    "servers",
    "shall",
    "should",
    "such",
    "that",
    "the",
    "their",
    "this",
    "to",
    "when",
    "with",
    "will",
];

/// A sentence at one level.
#[derive(Debug, PartialEq, Eq)]
pub struct Sentence {
    name: String,
    level: Level,
    roles: Vec<&'static str>,
    source: String,
    quote: String,
}

/// The sentences of a file, by its path and text. Of a diff (in the format of `git diff`) those that it adds.
pub fn sentences(path: &str, text: &str) -> Vec<Sentence> {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    let headers = headers(&lines);
    if headers.is_empty() {
        return of_page(&source(path), &Page::readable(text));
    }
    let mut found = Vec::new();
    for (index, header) in headers.iter().enumerate() {
        let end = headers.get(index + 1).copied().unwrap_or(lines.len());
        // Another line, such as `diff --git` or one of a commit, ends the parts of the file.
        let is_part =
            |line: &&&str| line.is_empty() || line.starts_with([' ', '+', '-', '\\']) || line.starts_with("@@");
        let rest: Vec<&str> = lines[header + 2..end].iter().take_while(is_part).copied().collect();
        let side = |own: char| {
            // A line that begins a part of the file ends what was before it. Some programs drop the blank of an empty line.
            let line = |line: &&str| match line.strip_prefix([own, ' ']) {
                Some(line) => Some(line.to_owned()),
                None => (line.is_empty() || line.starts_with("@@")).then(String::new),
            };
            Page::readable(&rest.iter().filter_map(line).collect::<Vec<_>>().join("\n"))
        };
        let name = lines[header + 1].trim_start_matches("+++ ").split('\t').next().unwrap_or_default();
        let source = source(name.strip_prefix("b/").unwrap_or(name));
        let old: BTreeSet<String> = of_page(&source, &side('-')).into_iter().map(|one| one.quote).collect();
        found.extend(of_page(&source, &side('+')).into_iter().filter(|one| !old.contains(&one.quote)));
    }
    found
}

/// The places of the lines that begin the files of a diff: `---`, `+++` and `@@`. A page may show a diff as code.
fn headers(lines: &[&str]) -> Vec<usize> {
    let (mut found, mut fence) = (Vec::new(), None);
    for (at, line) in lines.iter().enumerate() {
        Fence::read(&mut fence, line);
        let is_next = |offset: usize, mark: &str| lines.get(at + offset).is_some_and(|line| line.starts_with(mark));
        if fence.is_none() && is_next(0, "--- ") && is_next(1, "+++ ") && is_next(2, "@@") {
            found.push(at);
        }
    }
    found
}

/// The file `requirements.json` of these sentences. Equal names get a number, and equal sentences stand once.
pub fn requirements(found: Vec<Sentence>) -> String {
    let (mut names, mut numbers, mut seen) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
    let mut file = "{\n  \"$schema\": \"../schemas/requirements.json\"".to_owned();
    for Sentence { name, level, roles, source, quote } in found {
        if !seen.insert((level, quote.clone())) {
            continue;
        }
        let number = numbers.entry(name.clone()).or_insert(1_usize);
        let mut free = name.clone();
        while !names.insert(free.clone()) {
            *number += 1;
            free = format!("{name}-{number}");
        }
        let roles: Vec<_> = roles.iter().map(|role| format!("\"{role}\"")).collect();
        let (roles, quote) = (roles.join(", "), Value::from(quote));
        file += &format!(
            ",\n  \"{free}\": {{\n    \"level\": \"{level}\", \"roles\": [{roles}], \"since\": \"{DRAFT}\",\n    \
             \"source\": \"{source}\",\n    \"quote\": {quote},\n    \"harm\": \"interop\",\n    \
             \"why\": \"Say why the sentence matters to users.\"\n  }}"
        );
    }
    file + "\n}\n"
}

/// The path of a page on the specification's site, as its file lies in the repository of the specification.
fn source(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = format!("/{path}");
    let stem = path.rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem);
    let below = |folder: &str| stem.rfind(folder).map(|at| &stem[at + 1..]);
    let page = below("/specification/").or_else(|| below("/seps/")).or_else(|| stem.rsplit('/').next());
    let is_plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '/');
    page.unwrap_or_default().chars().map(|one| if is_plain(one) { one } else { '-' }).collect()
}

fn of_page(source: &str, page: &Page) -> Vec<Sentence> {
    let places: Vec<_> = page.blocks.iter().map(|block| bcp14::sentences(&block.text)).collect();
    bcp14::duties(page).iter().flat_map(|duty| at_each_level(source, page, &places[duty.worded], duty)).collect()
}

/// One sentence for each level of its words, which are in a block with sentences at these places.
fn at_each_level(source: &str, page: &Page, places: &[Range<usize>], duty: &Duty<'_>) -> Vec<Sentence> {
    // An item says nothing without the sentence before its list, nor a cell without the first one of its row.
    let quote = match duty.introduction.or_else(|| page.row(duty.block)) {
        Some(before) => format!("{before} … {}", duty.text),
        None => duty.text.to_owned(),
    };
    // The words `MUST`, `SHOULD` and `MAY` of RFC 2119's own paragraph are in quotation marks.
    if quote.contains("BCP 14") {
        return Vec::new();
    }
    let anchor = Some(page.anchor(duty.block)).filter(|anchor| !anchor.is_empty());
    let levels: BTreeSet<Level> = duty.keywords.iter().map(|keyword| keyword.level).collect();
    let is_item = page.blocks[duty.block].kind == Kind::Item;
    let of_level = |level| Sentence {
        name: name(if duty.introduction.is_some() && is_item { duty.text } else { &quote }),
        level,
        roles: roles(page, places, duty, level),
        source: anchor.map_or_else(|| source.to_owned(), |anchor| format!("{source}#{anchor}")),
        quote: quote.clone(),
    };
    levels.into_iter().map(of_level).collect()
}

/// Words before a comma that say when, and not who.
const CONDITIONS: [&str; 9] = ["if ", "when ", "where ", "while ", "after ", "before ", "unless ", "for ", "in "];
/// The words for the two sides; a host acts by its client.
const SIDES: [(&str, &str); 3] = [("server", "server"), ("client", "client"), ("host", "client")];

/// The sides that a sentence binds: the first one in it before the word of its level, or two that are named together. Without
/// any, what `it` means, the sentence before a list, or the heading decides, if one side is named there; else both are bound.
fn roles(page: &Page, places: &[Range<usize>], duty: &Duty<'_>, level: Level) -> Vec<&'static str> {
    let worded = page.blocks[duty.worded].text.as_str();
    let at = duty.keywords.iter().find(|keyword| keyword.level == level).map_or(0, |keyword| keyword.at);
    // Only the sentence with the word counts.
    let place = places.partition_point(|place| place.start <= at).saturating_sub(1);
    let start = places.get(place).map_or(0, |place| place.start);
    let sentence = worded[start..at].to_lowercase();
    let sentence = sentence.as_str();
    let is_condition = CONDITIONS.iter().any(|word| sentence.starts_with(word));
    let clause = sentence.rsplit_once(", ").map_or(sentence, |(_, clause)| clause);
    let clause = if is_condition && !sides(clause).is_empty() { clause } else { sentence };
    let named = sides(clause);
    let names = || SIDES.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("{name}s")]);
    let together = |one: &str, other: &str| {
        [" and ", ", ", " sdks and "].iter().any(|words| clause.contains(&format!("{one}{words}{other}")))
    };
    let is_list = names().any(|one| names().any(|other| together(&one, &other)));
    match named.as_slice() {
        [_, ..] if is_list && both(&named) => vec!["server", "client"],
        [first, ..] => vec![first],
        [] => {
            let is_pronoun = ["it ", "they "].iter().any(|word| sentence.starts_with(word));
            let earlier = is_pronoun.then(|| sides(&end_of(&worded[..start])).last().copied()).flatten();
            let is_item = page.blocks[duty.worded].kind == Kind::Item;
            let introduction = is_item.then(|| page.introduction(duty.worded)).flatten();
            let introduced = introduction.and_then(|text| only(&sides(&end_of(&page.blocks[text].text))));
            let heading = || only(&sides(&page.anchor(duty.worded).replace('-', " ")));
            earlier.or(introduced).or_else(heading).map_or_else(|| vec!["server", "client"], |side| vec![side])
        }
    }
}

/// The last sentences of a text in lower case. All of a long text, for each sentence after it, would take quadratic time.
fn end_of(text: &str) -> String {
    let most = text.len().saturating_sub(2_000);
    let from = (most..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = &text[from..];
    // The first one may begin in the middle of code.
    let whole = if from == 0 { None } else { bcp14::sentences(end).get(1).map(|place| place.start) };
    end[whole.unwrap_or(0)..].to_lowercase()
}

/// The side that is named, if it is the only one.
fn only(sides: &[&'static str]) -> Option<&'static str> {
    let first = sides.first().copied()?;
    sides.iter().all(|side| *side == first).then_some(first)
}

fn both(sides: &[&str]) -> bool {
    sides.contains(&"server") && sides.contains(&"client")
}

/// The sides in a text, in their order. Words in code, and parts of other words such as `server-facing`, are none.
fn sides(text: &str) -> Vec<&'static str> {
    let outside = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let is_end = |one: char| !one.is_alphanumeric() && one != '-' && one != '\'';
    let words = outside.split(is_end).map(|word| word.trim_end_matches("'s").trim_end_matches('s').to_owned());
    words.filter_map(|word| SIDES.iter().find(|(name, _)| *name == word).map(|(_, side)| *side)).collect()
}

/// A name in kebab-case of the first words that say something.
fn name(text: &str) -> String {
    let words = text.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.map(str::to_ascii_lowercase).filter(|word| !IDLE.contains(&word.as_str()) && word.len() <= 20);
    let mut name = String::new();
    for word in words.take(NAME).filter(|word| *word != "not") {
        if name.len() + word.len() < 50 {
            name += if name.is_empty() { "" } else { "-" };
            name += &word;
        }
    }
    if name.is_empty() { "sentence".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Rates\n\nServers **MUST** send a rate. Clients SHOULD read it, and MAY ignore it.\n\n\
                        ## Marks\n\nClients MUST NOT:\n\n- send a mark\n- keep a mark\n\nA mark is short.\n";

    fn found(path: &str, text: &str) -> Vec<(String, Level, String, String)> {
        let all = sentences(path, text).into_iter();
        all.map(|one| (one.name, one.level, one.roles.join(" "), one.source)).collect()
    }

    #[test]
    fn each_sentence_has_its_levels_sides_and_heading() {
        let page = "spec/docs/specification/draft/server/rates.mdx";
        let (rates, marks) = ("specification/draft/server/rates#rates", "specification/draft/server/rates#marks");
        let one = |name: &str, level, role: &str, source: &str| (name.into(), level, role.into(), source.into());
        let wanted = [
            one("send-rate", Level::Must, "server", rates),
            one("read-ignore", Level::Should, "client", rates),
            one("read-ignore", Level::May, "client", rates),
            one("send-mark", Level::MustNot, "client", marks),
            one("keep-mark", Level::MustNot, "client", marks),
        ];
        assert_eq!(found(page, PAGE), wanted);
    }

    #[test]
    fn sides_are_those_that_act() {
        for (sentence, wanted) in [
            ("In both cases the server MUST stop.", "server"),
            ("Clients MUST treat marks as text unless the server is trusted, and MUST NOT use them.", "client"),
            ("Hosts MUST ask the user before a server is called.", "client"),
            ("Hosts, servers, and SDKs MUST redact it.", "server client"),
            ("Clients and servers MUST agree.", "server client"),
            ("If the server cannot answer, the client MUST stop.", "client"),
            ("If the client cannot support this version, it MUST disconnect.", "client"),
            ("The server-facing `client/x` MUST carry a mark.", "server client"),
            ("A mark SHOULD be short.", "server client"),
            ("A client's answer MUST be short.", "client"),
            ("A client reads it. It MUST be kept.", "client"),
            ("Servers SHOULD evolve:\n\n- Fields SHOULD NOT be removed.", "server"),
            ("## Duties of servers\n\nA mark MUST be short.", "server"),
            ("Additive changes MUST NOT end it. Clients read them.", "server client"),
        ] {
            let all = sentences("a.md", sentence);
            assert!(all.iter().all(|one| one.roles.join(" ") == wanted), "{sentence}: {all:?}");
        }
    }

    #[test]
    fn cell_has_the_first_one_of_its_row() {
        let all = sentences("a.md", "| member | duty |\n| --- | --- |\n| `a\\|b` | Servers MUST send it. |\n");
        assert_eq!(all[0].quote, "`a|b` … Servers MUST send it.");
    }

    #[test]
    fn code_stays_as_it_is_written() {
        let all = sentences("a.md", "A server MUST keep `_meta[x]` of `events/*`, **always**.");
        assert_eq!(all[0].quote, "A server MUST keep `_meta[x]` of `events/*`, always.");
    }

    #[test]
    fn diff_has_the_sentences_that_it_adds() {
        let diff = "diff --git a/docs/seps/9-x.md b/docs/seps/9-x.md\n--- a/docs/seps/9-x.md\n+++ b/docs/seps/9-x.md\n\
                    @@ -1,3 +1,3 @@\n # Rates\n \n-Servers SHOULD send a rate.\n+Servers MUST send a\n+rate. Clients MUST read it.\n Servers MAY wait.\n";
        let found = found("changes.diff", diff);
        let found: Vec<_> =
            found.iter().map(|(name, level, _, source)| (name.as_str(), *level, source.as_str())).collect();
        assert_eq!(found, [("send-rate", Level::Must, "seps/9-x#rates"), ("read", Level::Must, "seps/9-x#rates")]);
    }

    #[test]
    fn page_with_a_diff_as_code_or_with_signs_is_a_page() {
        let text =
            "+++ a\n\nServers MUST stop.\n\n```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n\nClients MAY wait.\n";
        let quotes: Vec<_> = sentences("a.md", text).into_iter().map(|one| one.quote).collect();
        assert_eq!(quotes, ["Servers MUST stop.", "Clients MAY wait."]);
    }

    #[test]
    fn diff_has_added_lines_that_look_like_headers_and_no_lines_of_commits() {
        let diff = "\u{feff}--- a/x.md\t1\r\n+++ b/x.md\t2\r\n@@ -1 +1,5 @@\r\n a\r\n\r\n+++ b\r\n+\r\n\
                    +Servers MUST stop.\r\n-- \r\n2.40\r\n\r\nFrom 1\r\n\r\n+ Servers MAY go.\r\n\
                    --- a/y.md\r\n+++ b/y.md\r\n@@ -0,0 +1 @@\r\n+Clients MAY wait.\r\n";
        let found: Vec<_> = sentences("a.diff", diff).into_iter().map(|one| (one.quote, one.source)).collect();
        let wanted = [("Servers MUST stop.", "x"), ("Clients MAY wait.", "y")];
        assert_eq!(found, wanted.map(|(quote, source)| (quote.to_owned(), source.to_owned())));
    }

    #[test]
    fn many_sentences_of_one_paragraph_have_their_sides_and_names() {
        let all = sentences("a.md", &format!("Clients read. {}", "It MUST be kept. ".repeat(2_000)));
        assert_eq!(all.len(), 2_000);
        assert_eq!(all[0].roles, ["client"]);
        assert_eq!(all[1_999].roles, ["server", "client"]);
        let text: Vec<_> = (0..2_000).map(|number| format!("It MUST be {}.", "é".repeat(number % 40 + 1))).collect();
        let file: Value = serde_json::from_str(&requirements(sentences("a.md", &text.join(" ")))).expect("JSON");
        assert!(file["sentence"].is_object() && file["sentence-40"].is_object() && file["sentence-41"].is_null());
    }

    #[test]
    fn names_are_unique_and_sentences_stand_once() {
        let text = "Servers MUST stop.\n\nA server MUST stop.\n\nServers MUST stop.\n";
        let file = requirements(sentences("a.md", text));
        let file: Value = serde_json::from_str(&file).expect("JSON");
        let names: Vec<_> = file.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(names, ["$schema", "stop", "stop-2"]);
        assert_eq!(file["stop"]["since"], "draft");
    }
}
