//! A page of the specification as blocks of plain text: paragraphs, list items, cells of tables, headings and code.
//!
//! Takes the text of a file in MDX or Markdown, or of source code with comments. Quotes pass through the same function,
//! so that emphasis, links, tags and line breaks make no difference. Must not know the requirement catalogue.

use std::ops::Range;

/// A page.
pub(super) struct Page {
    pub(super) blocks: Vec<Block>,
    /// The anchors of the headings; the first is empty.
    anchors: Vec<String>,
}

/// A paragraph, a list item, a cell, a heading or a part of code.
pub(super) struct Block {
    pub(super) text: String,
    pub(super) kind: Kind,
    /// The number of columns before the text, or before the mark of the item.
    indent: usize,
    /// The index of the heading above it in [`Page::anchors`]; 0 for none.
    heading: usize,
    /// The index of the first cell of its row, if it is another cell.
    row: Option<usize>,
}

/// The kind of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A paragraph or a cell.
    #[default]
    Text,
    Item,
    Heading,
    Code,
}

/// A passage of a page.
#[derive(Clone, Copy)]
pub(super) struct Passage {
    pub(super) block: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The marks of a text that stay in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Marks {
    /// None: the words alone.
    #[default]
    Dropped,
    /// Those of code, and all that stands between them.
    OfCode,
}

/// The marks that began a part of code, which as many of the same marks end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// Reads a line without its indent; returns whether it begins or ends a part of code.
    pub(super) fn read(open: &mut Option<Self>, line: &str) -> bool {
        let Some(mark) = line.chars().next().filter(|one| matches!(one, '`' | '~')) else { return false };
        let rest = line.trim_start_matches(mark);
        let length = line.len() - rest.len();
        let is_fence = match *open {
            Some(fence) => fence.mark == mark && length >= fence.length && rest.trim().is_empty(),
            None => length >= 3 && !(mark == '`' && rest.contains('`')),
        };
        if is_fence {
            *open = if open.is_none() { Some(Self { mark, length }) } else { None };
        }
        is_fence
    }
}

/// Tags that begin or end a block.
const BLOCKS: [&str; 18] = [
    "br", "div", "h1", "h2", "h3", "h4", "h5", "li", "note", "ol", "p", "section", "table", "td", "tip", "tr", "ul",
    "warning",
];

impl Page {
    /// Reads MDX or Markdown.
    pub(super) fn markdown(text: &str) -> Self {
        Self::of(&content(text), Marks::Dropped)
    }

    /// Reads MDX or Markdown, and keeps code as it is written, for people who read the blocks.
    pub(super) fn readable(text: &str) -> Self {
        Self::of(&content(text), Marks::OfCode)
    }

    /// Reads source code, with its comments as text.
    pub(super) fn source_code(text: &str) -> Self {
        let line = |line: &str| {
            let line = line.trim();
            if line == "/**" || line == "*/" {
                return String::new();
            }
            comment(line).unwrap_or(if line == "*" { "" } else { line }).trim_end_matches("*/").to_owned()
        };
        Self::of(&text.lines().map(line).collect::<Vec<_>>().join("\n"), Marks::Dropped)
    }

    fn of(text: &str, marks: Marks) -> Self {
        let mut blocks = Blocks { anchors: vec![String::new()], marks, ..Blocks::default() };
        for line in text.lines() {
            blocks.line(line);
        }
        blocks.flush();
        Self { blocks: blocks.done, anchors: blocks.anchors }
    }

    /// Finds a text, each time within one block.
    pub(super) fn find(&self, text: &str) -> impl Iterator<Item = Passage> {
        self.blocks.iter().enumerate().flat_map(move |(block, one)| {
            let places = one.text.match_indices(text);
            places.map(move |(start, found)| Passage { block, start, end: start + found.len() })
        })
    }

    /// The places of these texts in one block.
    pub(super) fn find_in<'t>(&'t self, block: usize, texts: &'t [String]) -> impl Iterator<Item = Range<usize>> + 't {
        let block = self.blocks[block].text.as_str();
        texts.iter().flat_map(move |text| block.match_indices(text.as_str())).map(|(at, text)| at..at + text.len())
    }

    /// Returns whether the page has these texts in this order, with anything between them.
    pub(super) fn has(&self, parts: &[String]) -> bool {
        let whole = self.blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join(" ");
        let mut rest = whole.as_str();
        parts.iter().all(|part| match rest.find(part.as_str()) {
            Some(place) => {
                rest = &rest[place + part.len()..];
                true
            }
            None => false,
        })
    }

    /// The index of the paragraph or item before the list of an item.
    pub(super) fn introduction(&self, item: usize) -> Option<usize> {
        let indent = self.blocks[item].indent;
        let is_outside = |block: &Block| match block.kind {
            Kind::Code => false,
            Kind::Item => block.indent < indent,
            Kind::Text | Kind::Heading => block.indent <= indent,
        };
        let before = self.blocks[..item].iter().rposition(is_outside)?;
        let block = &self.blocks[before];
        (block.kind != Kind::Heading && block.text.ends_with(':')).then_some(before)
    }

    /// Returns whether a heading has this anchor, in the spelling of any site: one dash or several between words.
    pub(super) fn has_anchor(&self, name: &str) -> bool {
        self.anchors.contains(&anchor(name))
    }

    /// The first cell of the row of a cell.
    pub(super) fn row(&self, block: usize) -> Option<&str> {
        self.blocks[block].row.map(|first| self.blocks[first].text.as_str())
    }

    /// The anchor of the heading above a block; empty without one.
    pub(super) fn anchor(&self, block: usize) -> &str {
        &self.anchors[self.blocks[block].heading]
    }
}

/// The blocks of the lines that were read, and the block that these lines go on with.
#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    anchors: Vec<String>,
    text: String,
    kind: Kind,
    indent: usize,
    /// The fence of the code that the lines belong to.
    fence: Option<Fence>,
    marks: Marks,
}

impl Blocks {
    fn line(&mut self, whole: &str) {
        let rest = without_indent(whole);
        let (line, indent) = (rest.trim_end(), whole.len() - rest.len());
        let mut fence = self.fence;
        if Fence::read(&mut fence, line) {
            self.flush();
            self.fence = fence;
            return;
        }
        if self.fence.is_some() && self.marks == Marks::OfCode {
            // People read the comments of code too.
            match comment(line) {
                Some(words) => self.text.extend([words, "\n"]),
                None => self.flush(),
            }
            return;
        }
        let item = after_bullet(line);
        if line.is_empty() || item.is_some() || line.starts_with(['#', '|']) {
            self.flush();
        }
        if self.text.is_empty() {
            self.indent = indent;
        }
        if line.starts_with('|') {
            let first = self.done.len();
            for cell in cells(line) {
                self.text = cell;
                self.flush();
            }
            self.done.iter_mut().skip(first + 1).for_each(|cell| cell.row = Some(first));
            return;
        }
        let is_heading = line.starts_with('#');
        if item.is_some() {
            self.kind = Kind::Item;
        } else if is_heading {
            self.kind = Kind::Heading;
        }
        self.text.push_str(item.unwrap_or(line));
        self.text.push('\n');
        if is_heading {
            self.flush();
        }
    }

    /// Ends the block.
    fn flush(&mut self) {
        let text = with_marks(&std::mem::take(&mut self.text), self.marks);
        let kind = if self.fence.is_some() && self.marks == Marks::Dropped { Kind::Code } else { self.kind };
        self.kind = Kind::Text;
        if text.is_empty() {
            return;
        }
        if kind == Kind::Heading {
            self.anchors.push(anchor(&text));
        }
        self.done.push(Block { text, kind, indent: self.indent, heading: self.anchors.len() - 1, row: None });
    }
}

/// The words of a line of a comment.
fn comment(line: &str) -> Option<&str> {
    let rest = ["* ", "/** ", "// "].into_iter().find_map(|mark| line.strip_prefix(mark))?;
    Some(rest.trim_end_matches("*/"))
}

/// The cells of a line of a table. A mark behind a backslash or in code is text.
fn cells(line: &str) -> Vec<String> {
    let (mut all, mut cell, mut is_code) = (Vec::new(), String::new(), false);
    // A single mark of code begins none.
    let mut left = line.matches('`').count();
    let mut chars = line.chars().peekable();
    while let Some(one) = chars.next() {
        if one == '\\' && chars.peek() == Some(&'|') {
            chars.next();
            cell.push('|');
        } else if one == '|' && !is_code {
            all.push(std::mem::take(&mut cell));
        } else {
            if one == '`' {
                left -= 1;
                is_code = !is_code && left > 0;
            }
            cell.push(one);
        }
    }
    all.push(cell);
    all
}

/// The anchor of a heading: its words in lower case, with `-` between them.
fn anchor(heading: &str) -> String {
    let words = heading.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// The text of a list item; `None` if the line does not begin one.
fn after_bullet(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => line.trim_start_matches(|one: char| one.is_ascii_digit()).strip_prefix(['.', ')'])?,
    };
    (rest.len() < line.len()).then(|| rest.strip_prefix(' ')).flatten()
}

fn without_indent(line: &str) -> &str {
    line.trim_start_matches(|one: char| one.is_whitespace() || one == '>')
}

/// The lines of MDX or Markdown that people see.
fn content(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    with_breaks(&without_comments(without_front_matter(&text)))
}

/// Drops comments of HTML outside of code. One without an end goes to the end of the text.
fn without_comments(text: &str) -> String {
    let (mut out, mut fence, mut is_comment) = (String::with_capacity(text.len()), None, false);
    for line in text.lines() {
        let is_within = is_comment;
        if !is_comment && (Fence::read(&mut fence, without_indent(line)) || fence.is_some()) {
            out.extend([line, "\n"]);
            continue;
        }
        let mut rest = line;
        loop {
            if is_comment {
                let Some((_, after)) = rest.split_once("-->") else { break };
                (rest, is_comment) = (after, false);
            } else {
                let Some(start) = comment_of_html(rest) else { break };
                out.push_str(&rest[..start]);
                // The dashes of the beginning may belong to the end too.
                (rest, is_comment) = (&rest[start + "<!".len()..], true);
            }
        }
        if !is_comment {
            out.push_str(rest);
        }
        if !(is_within && is_comment) {
            out.push('\n');
        }
    }
    out
}

/// The place of the first comment in a line that does not begin in code.
fn comment_of_html(line: &str) -> Option<usize> {
    let mut is_code = false;
    for (at, one) in line.char_indices() {
        if one == '`' {
            is_code = !is_code;
        } else if one == '<' && !is_code && line[at..].starts_with("<!--") {
            return Some(at);
        }
    }
    None
}

fn without_front_matter(text: &str) -> &str {
    text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body)
}

/// Replaces tags that begin or end a block by empty lines.
fn with_breaks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.find('<') {
        let (before, tag) = rest.split_at(place);
        out.push_str(before);
        let name = tag[1..].trim_start_matches('/');
        let name: String = name.chars().take_while(char::is_ascii_alphanumeric).collect();
        if BLOCKS.contains(&name.to_ascii_lowercase().as_str()) {
            // Without an end of this tag, there is none of a later one.
            let Some(end) = tag.find('>') else { return out + tag };
            out.push_str("\n\n");
            rest = &tag[end + 1..];
        } else {
            out.push('<');
            rest = &tag[1..];
        }
    }
    out + rest
}

/// A text without tags, links, emphasis and marks of code, with single blanks.
pub(super) fn plain(text: &str) -> String {
    with_marks(text, Marks::Dropped)
}

fn with_marks(text: &str, marks: Marks) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (mut out, mut at, mut is_code, mut is_link) = (String::with_capacity(text.len()), 0, false, false);
    let from =
        |at: usize, wanted: &str| wanted.chars().enumerate().all(|(index, one)| chars.get(at + index) == Some(&one));
    // A mark that is not in the rest is not searched again, which would take quadratic time.
    let mut absent = Vec::new();
    let mut end = |at: usize, close: char| {
        if absent.contains(&close) {
            return None;
        }
        let found = chars[at..].iter().position(|one| *one == close).map(|index| at + index);
        if found.is_none() {
            absent.push(close);
        }
        found
    };
    while let Some(one) = chars.get(at).copied() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        at += 1;
        match one {
            '`' => {
                is_code = !is_code;
                if marks == Marks::OfCode {
                    out.push('`');
                }
            }
            one if is_code && marks == Marks::OfCode => out.push(one),
            ']' if !is_code && after == Some(&'(') => at = end(at, ')').map_or(at, |end| end + 1),
            ']' if !is_code && after == Some(&'[') => at = end(at, ']').map_or(at, |end| end + 1),
            '*' | '\\' | '[' | ']' => {}
            '_' => {
                if [before, after].iter().all(|one| one.is_some_and(|one| one.is_alphanumeric())) {
                    out.push('_');
                }
            }
            '<' if !is_code && after.is_some_and(|one| one.is_ascii_alphabetic() || *one == '/') => {
                match end(at, '>') {
                    Some(end) => at = end + 1,
                    None => out.push('<'),
                }
            }
            '{' if from(at, "@link ") => {
                is_link = true;
                at += "@link ".len();
            }
            '}' if is_link => is_link = false,
            '&' => match entity(&chars[at..]) {
                Some((decoded, length)) => {
                    out.push(decoded);
                    at += length;
                }
                None => out.push('&'),
            },
            one => out.push(one),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The character of an HTML entity, after its `&`, and the length of the rest.
fn entity(rest: &[char]) -> Option<(char, usize)> {
    let length = rest.iter().take(10).position(|one| *one == ';')?;
    let name: String = rest[..length].iter().collect();
    let decoded = match name.as_str() {
        "quot" => '"',
        "apos" => '\'',
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        _ => {
            let code = match name.strip_prefix("#x").or_else(|| name.strip_prefix("#X")) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => name.strip_prefix('#')?.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((decoded, length + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_links_are_no_text() {
        let text =
            "Servers **MUST** [do\nit](/a#b) with `_meta`, `snake_case` and an [`Error`][e]&nbsp;&#x7B;<b>now</b>}.";
        assert_eq!(plain(text), "Servers MUST do it with meta, snake_case and an Error {now}.");
        assert_eq!(plain("`Name: <value>` \"{@link Tool} is\""), "Name: <value> \"Tool is\"");
    }

    #[test]
    fn readable_text_keeps_its_code() {
        let page = Page::readable(
            "A *client* `_meta[x]` and\n`events/*`.\n\n| `a\\|b` | c |\n\n```ts\n/**\n * Servers MUST\n * stop. */\nx: 1 // no\n```\n",
        );
        let blocks: Vec<_> = page.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(blocks, ["A client `_meta[x]` and `events/*`.", "`a|b`", "c", "Servers MUST stop."]);
    }

    fn texts(page: &Page) -> Vec<&str> {
        page.blocks.iter().map(|block| block.text.as_str()).collect()
    }

    #[test]
    fn front_matter_may_have_a_byte_order_mark_and_carriage_returns() {
        let page = Page::markdown("\u{feff}---\r\ntitle: A\r\n---\r\n# H\r\n\r\none\r\nmore\r\n");
        assert_eq!(texts(&page), ["# H", "one more"]);
    }

    #[test]
    fn comments_of_html_are_no_text() {
        let page = Page::readable(
            "a <!-- x --> b <!--> c\n\nd <!-- x\n\ny\n--> e `<!--` f\n\n```\n<!--\n```\n\ng <!-- h\n\ni",
        );
        assert_eq!(texts(&page), ["a b c", "d e `<!--` f", "g"]);
    }

    #[test]
    fn code_ends_by_its_own_mark() {
        let page = Page::readable("a\n\n````md\n```\nx\n```\ny\n````\n\nb\n\n~~~\nx\n```\n~~~\n\nc ~~x~~\n\n```d``` e");
        assert_eq!(texts(&page), ["a", "b", "c ~~x~~", "```d``` e"]);
    }

    #[test]
    fn mark_in_code_divides_no_cell() {
        let page = Page::readable("| `x | y` | a \\| b | c ` |\n");
        assert_eq!(texts(&page), ["`x | y`", "a | b", "c `"]);
    }

    #[test]
    fn unclosed_marks_take_linear_time() {
        for mark in ["<a ", "<p ", "a](", "a]["] {
            let text = mark.repeat(300_000);
            assert_eq!(Page::markdown(&text).blocks.len(), 1, "{mark}");
        }
    }

    #[test]
    fn page_has_its_paragraphs_items_and_cells() {
        let page = Page::markdown(
            "---\ntitle: A\n---\n# H & I\n\nAll of these:\n\n- one\n  more\n\n  ```json\n  x\n  ```\n\n- **two**:\n  - three\n\n| a | b |\n\
             <p>x</p>y",
        );
        let blocks: Vec<_> = page.blocks.iter().map(|block| (block.text.as_str(), block.kind)).collect();
        let wanted = [
            ("# H & I", Kind::Heading),
            ("All of these:", Kind::Text),
            ("one more", Kind::Item),
            ("x", Kind::Code),
            ("two:", Kind::Item),
            ("three", Kind::Item),
            ("a", Kind::Text),
            ("b", Kind::Text),
            ("x", Kind::Text),
            ("y", Kind::Text),
        ];
        assert_eq!(blocks, wanted);
        let introduction = |text| page.introduction(page.find(text).next().expect("it is there").block);
        assert_eq!((introduction("two"), introduction("three"), introduction("one")), (Some(1), Some(4), Some(1)));
        assert_eq!((page.anchor(4), Page::markdown("a").anchor(0)), ("h-i", ""));
        assert!(page.has(&["All of these".into(), "two".into()]) && !page.has(&["two".into(), "one".into()]));
    }
}
