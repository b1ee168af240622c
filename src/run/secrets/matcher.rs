//! Finds values in a text, also if they are escaped, encoded or incomplete.
//!
//! Takes values and their replacements, gives texts without the values. One automaton reads the text as it is and again
//! without its escapes, so the time is linear in the length of the text. Must not know environment variables.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aho_corasick::automaton::Automaton;
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, PatternID};
use base64::engine::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// The length of a piece, in bytes. Each piece of a value is hidden, if the value is hidden in part too.
pub(super) const PIECE: usize = 8;
/// The length of a piece in base64: the number of characters that encode eight bytes at any alignment.
const PIECE_IN_BASE64: usize = 11;
/// The length of a piece in hexadecimal digits.
const PIECE_IN_HEX: usize = 2 * PIECE;
/// The number of bytes at each end of a long value whose pieces are hidden.
const ENDS: usize = 2 << 10;
/// The most bytes that an escape takes for one byte: `\\u0041`, and some more.
const WIDEST: usize = 12;
/// The number of layers of escapes that are decoded, such as JSON in JSON.
const LAYERS: usize = 2;

/// A value to hide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    /// The value.
    pub(super) value: String,
    /// The replacement.
    pub(super) name: String,
    /// Set if pieces of the value are hidden too, because a cut or split text lacks the whole value.
    pub(super) in_part: bool,
}

/// Finds all values at once.
#[derive(Debug)]
pub(super) struct Matcher {
    automaton: NFA,
    /// The replacement for each pattern.
    names: Vec<String>,
    longest: usize,
}

/// A range of bytes of a text to replace.
#[derive(Clone, Copy, Debug)]
struct Hit {
    start: usize,
    end: usize,
    pattern: PatternID,
    /// The length of the pattern. The longest pattern of a range decides the replacement.
    weight: usize,
}

/// A text without its escapes, with the original position of each byte.
struct Decoded {
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

/// The escapes that are removed from a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// Backslash escapes, as in JSON and the strings of most languages.
    Backslash,
    /// Backslash escapes, `%41`, and `&amp;`.
    All,
}

impl Matcher {
    /// Builds a matcher for these values; `None` if there are none.
    pub(super) fn new(wanted: &[Wanted]) -> Option<Self> {
        let (mut patterns, mut names, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for one in wanted {
            for pattern in patterns_of(one) {
                if known.insert(pattern.to_ascii_lowercase()) {
                    patterns.push(pattern);
                    names.push(one.name.clone());
                }
            }
        }
        let longest = patterns.iter().map(Vec::len).max()?;
        let automaton = NFA::builder().ascii_case_insensitive(true).build(&patterns);
        Some(Self { automaton: automaton.expect("an environment is smaller than an automaton"), names, longest })
    }

    /// Returns the text without the values.
    pub(super) fn replaced<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replaced_within(text, text.len())
    }

    /// Returns the first `most` bytes of a text without the values. A value that only begins there is replaced too.
    pub(super) fn replaced_within<'t>(&self, text: &'t str, most: usize) -> Cow<'t, str> {
        let most = floor(text, most);
        let seen = &text[..floor(text, most.saturating_add(self.longest.saturating_mul(WIDEST)))];
        let mut hits = Vec::new();
        self.search(seen.as_bytes(), None, &mut hits);
        self.search_decoded(seen, Escapes::Backslash, &mut hits);
        if seen.contains(['%', '&']) {
            self.search_decoded(seen, Escapes::All, &mut hits);
        }
        if hits.is_empty() {
            return Cow::Borrowed(&text[..most]);
        }
        hits.sort_unstable_by_key(|hit| (hit.start, hit.end));
        let (mut out, mut at) = (String::with_capacity(most), 0);
        for hit in merged(hits) {
            let (start, end) = (floor(seen, hit.start).max(at), ceil(seen, hit.end));
            if start >= most {
                break;
            }
            out.push_str(&seen[at..start]);
            out.push_str(&self.names[hit.pattern]);
            at = end;
        }
        out.push_str(&seen[at.min(most)..most]);
        Cow::Owned(out)
    }

    fn search_decoded(&self, text: &str, escapes: Escapes, hits: &mut Vec<Hit>) {
        let mut last: Option<Decoded> = None;
        for _ in 0..LAYERS {
            let from = last.as_ref().map_or(text.as_bytes(), |last| &last.bytes);
            let Some(decoded) = decoded(from, last.as_ref().map(|last| &*last.starts), escapes) else { return };
            self.search(&decoded.bytes, Some((&decoded.starts, text.len())), hits);
            last = Some(decoded);
        }
    }

    /// Finds all patterns. `origin` has the original position of each byte and the length of the original text.
    fn search(&self, bytes: &[u8], origin: Option<(&[u32], usize)>, hits: &mut Vec<Hit>) {
        let automaton = &self.automaton;
        let first = hits.len();
        let mut state = automaton.start_state(Anchored::No).expect("the automaton has an unanchored start");
        for (index, byte) in bytes.iter().enumerate() {
            state = automaton.next_state(Anchored::No, state, *byte);
            if !automaton.is_special(state) || !automaton.is_match(state) {
                continue;
            }
            for number in 0..automaton.match_len(state) {
                let pattern = automaton.match_pattern(state, number);
                let weight = automaton.pattern_len(pattern);
                let (start, end) = (index + 1 - weight, index + 1);
                let (start, end) = origin
                    .map_or((start, end), |(starts, length)| (starts[start] as usize, source_end(starts, end, length)));
                push(hits, first, Hit { start, end, pattern, weight });
            }
        }
    }
}

/// Adds a hit, and joins it with earlier hits that overlap.
fn push(hits: &mut Vec<Hit>, first: usize, mut hit: Hit) {
    while let Some(last) = hits.last().filter(|last| hits.len() > first && hit.start < last.end) {
        hit = join(*last, hit);
        hits.pop();
    }
    hits.push(hit);
}

fn join(one: Hit, other: Hit) -> Hit {
    let (start, end) = (one.start.min(other.start), one.end.max(other.end));
    Hit { start, end, ..if other.weight > one.weight { other } else { one } }
}

/// Joins overlapping hits. The hits must be sorted.
fn merged(hits: Vec<Hit>) -> Vec<Hit> {
    let mut merged: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        push(&mut merged, 0, hit);
    }
    merged
}

/// Returns the original end of a decoded byte: the beginning of the next byte that is not part of the same escape.
fn source_end(starts: &[u32], end: usize, length: usize) -> usize {
    let last = starts[end - 1];
    starts[end..].iter().find(|start| **start != last).map_or(length, |start| *start as usize)
}

/// Returns all patterns of a value.
fn patterns_of(wanted: &Wanted) -> Vec<Vec<u8>> {
    let value = wanted.value.as_bytes();
    let plus = value.contains(&b' ').then(|| wanted.value.replace(' ', "+").into_bytes());
    let encoded =
        (0..3).flat_map(|lead| [in_base64(&STANDARD_NO_PAD, value, lead), in_base64(&URL_SAFE_NO_PAD, value, lead)]);
    let forms = [(value.to_vec(), PIECE), (in_hex(value), PIECE_IN_HEX)].into_iter();
    let forms = forms.chain(plus.map(|plus| (plus, PIECE))).chain(encoded.map(|text| (text, PIECE_IN_BASE64)));
    forms.flat_map(|(form, piece)| if wanted.in_part { pieces(&form, piece) } else { vec![form] }).collect()
}

/// Returns all pieces of a value; for a very long value the value itself and the pieces of its ends.
fn pieces(form: &[u8], piece: usize) -> Vec<Vec<u8>> {
    if form.len() <= piece {
        return vec![form.to_vec()];
    }
    let pieces = |bytes: &[u8]| bytes.windows(piece).map(<[u8]>::to_vec).collect::<Vec<_>>();
    if form.len() <= 2 * ENDS {
        return pieces(form);
    }
    let ends = [pieces(&form[..ENDS]), pieces(&form[form.len() - ENDS..])];
    std::iter::once(form.to_vec()).chain(ends.into_iter().flatten()).collect()
}

/// Returns the common part of all base64 texts that contain the value after `lead` other bytes.
fn in_base64(engine: &impl Engine, value: &[u8], lead: usize) -> Vec<u8> {
    let text = engine.encode([&[0; 2][..lead], value].concat());
    let (start, end) = ((lead * 8).div_ceil(6), (lead + value.len()) * 8 / 6);
    text[start..end].into()
}

fn in_hex(value: &[u8]) -> Vec<u8> {
    value.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect()
}

/// Removes one layer of escapes from a text; `None` if it has none. `origin` has the original position of each byte.
fn decoded(bytes: &[u8], origin: Option<&[u32]>, escapes: Escapes) -> Option<Decoded> {
    let is_mark = |byte: u8| byte == b'\\' || escapes == Escapes::All && matches!(byte, b'%' | b'&');
    let first = bytes.iter().position(|byte| is_mark(*byte))?;
    let place = |index: usize| origin.map_or_else(|| u32::try_from(index).unwrap_or(u32::MAX), |origin| origin[index]);
    let mut out = Decoded { bytes: bytes[..first].to_vec(), starts: (0..first).map(place).collect() };
    let mut at = first;
    while at < bytes.len() {
        let escape = if is_mark(bytes[at]) { unescaped(&bytes[at..]) } else { None };
        let mut buffer = [0; 4];
        let (made, length) = match escape {
            None => (&bytes[at..=at], 1),
            Some((Unit::Byte(byte), length)) => {
                buffer[0] = byte;
                (&buffer[..1], length)
            }
            Some((Unit::Char(one), length)) => (one.encode_utf8(&mut buffer).as_bytes(), length),
        };
        out.bytes.extend_from_slice(made);
        out.starts.extend(std::iter::repeat_n(place(at), made.len()));
        at += length;
    }
    Some(out)
}

/// The decoded value of an escape.
enum Unit {
    Byte(u8),
    Char(char),
}

/// Decodes the escape at the beginning of these bytes; also returns its length.
fn unescaped(bytes: &[u8]) -> Option<(Unit, usize)> {
    match bytes {
        [b'\\', b'u', b'{', ..] => braced(&bytes[3..]).map(|(one, length)| (Unit::Char(one), length + 3)),
        [b'\\', b'u', ..] => utf16(bytes),
        [b'\\', b'U', ..] => char::from_u32(hex(bytes.get(2..10)?)?).map(|one| (Unit::Char(one), 10)),
        [b'\\', b'x', ..] => u8::try_from(hex(bytes.get(2..4)?)?).ok().map(|byte| (Unit::Byte(byte), 4)),
        [b'\\', one, ..] => Some((Unit::Byte(control(*one)), 2)),
        [b'%', ..] => u8::try_from(hex(bytes.get(1..3)?)?).ok().map(|byte| (Unit::Byte(byte), 3)),
        [b'&', ..] => entity(bytes),
        _ => None,
    }
}

fn control(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'e' => 27,
        b'0' => 0,
        other => other,
    }
}

/// Decodes `\u0041`, or a surrogate pair.
fn utf16(bytes: &[u8]) -> Option<(Unit, usize)> {
    let unit = |at: usize| match bytes.get(at..at + 6)? {
        [b'\\', b'u', digits @ ..] => u16::try_from(hex(digits)?).ok(),
        _ => None,
    };
    let first = unit(0)?;
    if let Some(one) = char::from_u32(first.into()) {
        return Some((Unit::Char(one), 6));
    }
    let one = char::decode_utf16([first, unit(6)?]).next()?.ok()?;
    Some((Unit::Char(one), 12))
}

/// Decodes the rest of `\u{1f511}`.
fn braced(bytes: &[u8]) -> Option<(char, usize)> {
    let end = bytes.iter().take(9).position(|byte| *byte == b'}')?;
    Some((char::from_u32(hex(&bytes[..end])?)?, end + 1))
}

/// Decodes `&amp;`, `&#38;` or `&#x26;`.
fn entity(bytes: &[u8]) -> Option<(Unit, usize)> {
    let end = bytes.iter().take(12).position(|byte| *byte == b';')?;
    let one = match &bytes[1..end] {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        b"sol" => '/',
        b"plus" => '+',
        b"equals" => '=',
        b"nbsp" => '\u{a0}',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    Some((Unit::Char(one), end + 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = digits.iter().map(|digit| char::from(*digit).to_digit(16));
    let mut digits = digits.peekable();
    digits.peek()?;
    digits.try_fold(0_u32, |value, digit| value.checked_mul(16)?.checked_add(digit?))
}

/// Returns the last boundary of a character at or before this byte.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
