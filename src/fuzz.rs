//! Fuzzing as a part of `cargo test`: real inputs of this repository with changed bytes and tokens.
//!
//! Takes seeds and a parser, gives the smallest input for which the parser panics, fails or takes too long.
//! `CASEBOOK_FUZZ_SECONDS` is the time for each parser, `CASEBOOK_FUZZ_SEED` selects the inputs. For each error that
//! fuzzing finds, add a test beside the parser. Must not know the format of the inputs.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// The seconds for each parser, unless the environment sets another number.
const USUAL: f64 = 0.2;
/// The time limit for one input, with room for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of inputs between two checks of the time.
const ROUND: u32 = 16;
/// The most bytes of an input.
const LONGEST: usize = 4 << 20;

/// Texts that parsers often handle wrongly.
const TOKENS: &[&[u8]] = &[
    b"null",
    b"true",
    b"false",
    b"0",
    b"-0",
    b"-1",
    b"1e400",
    b"1E-400",
    b"1.0",
    b"9007199254740993",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"NaN",
    b"\"\"",
    b"\"\\ud800\"",
    b"\"\\u0000\"",
    b"\"\\x\"",
    b"\"__proto__\"",
    b"\"$ref\"",
    b"\"@row\"",
    b"\"@repeat\"",
    b"\"@deep\"",
    b"{}",
    b"[]",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"\0",
    b"\x1b[31m",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xff\xfe",
    b"\xf0\x9f",
    b"data:",
    b"id: 1\n",
    b"retry: 99999999999999999999\n",
];

/// An input. Its debug format is text with escapes, because inputs are mostly text.
#[derive(Clone)]
pub(crate) struct Input(pub(crate) Vec<u8>);

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// One change to an input.
#[derive(Clone, Debug)]
enum Damage {
    /// Replaces a byte by another byte.
    Byte(Index, u8),
    /// Copies a range of bytes to another place.
    Copied(Index, Index, Index),
    /// Removes a range of bytes.
    Removed(Index, u8),
    /// Removes all bytes from a place on.
    Cut(Index),
    /// Replaces a token by one of [`TOKENS`].
    Replaced(Index, Index),
    /// Inserts one of [`TOKENS`].
    Inserted(Index, Index),
    /// Replaces a token by a token of another input.
    Borrowed(Index, Index, Index),
    /// Swaps two tokens.
    Swapped(Index, Index),
    /// Wraps a token in this number of brackets.
    Deepened(Index, u16),
    /// Repeats a token this number of times.
    Repeated(Index, u16),
}

fn damage() -> impl Strategy<Value = Damage> {
    use Damage::{Borrowed, Byte, Copied, Cut, Deepened, Inserted, Removed, Repeated, Replaced, Swapped};
    let at = any::<Index>;
    prop_oneof![
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| Byte(at, byte)),
        1 => (at(), at(), at()).prop_map(|(from, to, at)| Copied(from, to, at)),
        2 => (at(), any::<u8>()).prop_map(|(at, length)| Removed(at, length)),
        1 => at().prop_map(Cut),
        4 => (at(), at()).prop_map(|(at, token)| Replaced(at, token)),
        2 => (at(), at()).prop_map(|(at, token)| Inserted(at, token)),
        4 => (at(), at(), at()).prop_map(|(at, seed, token)| Borrowed(at, seed, token)),
        2 => (at(), at()).prop_map(|(one, other)| Swapped(one, other)),
        1 => (at(), 0..2_000u16).prop_map(|(at, levels)| Deepened(at, levels)),
        1 => (at(), 0..300u16).prop_map(|(at, times)| Repeated(at, times)),
    ]
}

/// Returns the ranges of the tokens of a text: strings, words, and every other byte.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+.$@/".contains(byte);
        let length = match rest[0] {
            b'"' => {
                let mut escaped = false;
                let is_end = |byte: &u8| {
                    let end = *byte == b'"' && !escaped;
                    escaped = *byte == b'\\' && !escaped;
                    end
                };
                rest[1..].iter().position(is_end).map_or(rest.len(), |end| end + 2)
            }
            _ => rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len()).max(1),
        };
        if !rest[0].is_ascii_whitespace() {
            found.push((at, at + length));
        }
        at += length;
    }
    found
}

fn token(text: &[u8], which: Index) -> (usize, usize) {
    let tokens = tokens(text);
    if tokens.is_empty() { (0, text.len()) } else { *which.get(&tokens) }
}

impl Damage {
    fn done(&self, text: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let place = |index: &Index, text: &[u8]| index.index(text.len() + 1);
        let put = |text: &mut Vec<u8>, (from, to): (usize, usize), with: &[u8]| {
            if text.len() + with.len() <= LONGEST {
                text.splice(from..to, with.iter().copied());
            }
        };
        match self {
            Self::Byte(at, byte) if !text.is_empty() => *at.get_mut(text) = *byte,
            Self::Byte(_, byte) => text.push(*byte),
            Self::Copied(from, to, at) => {
                let (from, to, at) = (place(from, text), place(to, text), place(at, text));
                let copied = text[from.min(to)..from.max(to)].to_vec();
                put(text, (at, at), &copied);
            }
            Self::Removed(at, length) => {
                let from = place(at, text);
                text.drain(from..text.len().min(from + usize::from(*length)));
            }
            Self::Cut(at) => text.truncate(place(at, text)),
            Self::Replaced(at, with) => put(text, token(text, *at), TOKENS[with.index(TOKENS.len())]),
            Self::Inserted(at, with) => {
                let at = token(text, *at).0;
                put(text, (at, at), TOKENS[with.index(TOKENS.len())]);
            }
            Self::Borrowed(at, seed, which) => {
                let other = seed.get(seeds);
                let (from, to) = token(other, *which);
                put(text, token(text, *at), &other[from..to]);
            }
            Self::Swapped(one, other) => {
                let (one, other) = (token(text, *one), token(text, *other));
                let (first, second) = (one.min(other), one.max(other));
                if first.1 <= second.0 {
                    let (front, back) = (text[first.0..first.1].to_vec(), text[second.0..second.1].to_vec());
                    put(text, second, &front);
                    put(text, first, &back);
                }
            }
            Self::Deepened(at, levels) => {
                let (from, to) = token(text, *at);
                let levels = usize::from(*levels);
                let deep = ["[".repeat(levels).as_bytes(), &text[from..to], "]".repeat(levels).as_bytes()].concat();
                put(text, (from, to), &deep);
            }
            Self::Repeated(at, times) => {
                let (from, to) = token(text, *at);
                let said = text[from..to].repeat(usize::from(*times));
                put(text, (from, to), &said);
            }
        }
    }
}

/// Generates seeds with a few changes.
fn damaged(seeds: &[Vec<u8>]) -> impl Strategy<Value = Input> + '_ {
    (any::<Index>(), vec(damage(), 0..6)).prop_map(|(seed, damages)| {
        let mut text = seed.get(seeds).clone();
        for damage in &damages {
            damage.done(&mut text, seeds);
        }
        Input(text)
    })
}

/// Fuzzes a parser for some seconds. The current input is in a file, in case it ends the process.
pub(crate) fn fuzz<S: AsRef<[u8]>>(name: &str, seeds: impl IntoIterator<Item = S>, read: impl Fn(&[u8])) {
    // `.ci/run fuzz` selects the tests that fuzz by this word. With one thread of tests, the name is `main`.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    assert!(!test.contains("::") || test.contains("::fuzzed_"), "begin the name of {test} with `fuzzed_`");
    let seconds = std::env::var("CASEBOOK_FUZZ_SECONDS").map_or(USUAL, |text| text.parse().expect("seconds"));
    let seeds: Vec<Vec<u8>> = seeds.into_iter().map(|seed| seed.as_ref().to_vec()).collect();
    let trial = std::env::temp_dir().join(format!("casebook-fuzz-{name}-{}", std::process::id()));
    // Kept open, because truncating and closing a file writes it to the disk each time.
    let file = File::create(&trial).expect("a temporary file");
    let config = Config { cases: ROUND, failure_persistence: None, ..Config::default() };
    let first = std::env::var("CASEBOOK_FUZZ_SEED").map_or(0, |text| text.parse().expect("a whole number"));
    let (began, mut inputs) = (Instant::now(), 0);
    for round in first.. {
        if began.elapsed().as_secs_f64() >= seconds {
            break;
        }
        let done = runner(&config, round).run(&damaged(&seeds), |Input(bytes)| {
            save(&mut &file, &bytes).expect("written");
            let began = Instant::now();
            read(&bytes);
            prop_assert!(began.elapsed() < PATIENCE, "read in {:?}", began.elapsed());
            Ok(())
        });
        if let Err(TestError::Fail(why, input)) = &done {
            panic!("{name}: {why}: {input:?}; this input is in {}", trial.display());
        }
        done.expect("no input is rejected");
        inputs += ROUND;
    }
    // If the parser ends the process, the file remains.
    std::fs::remove_file(&trial).expect("written above");
    _ = writeln!(io::stderr(), "fuzz: {name}: {inputs} inputs");
}

/// Returns the generator of a round. It is deterministic, so that a new failure comes from a change of the code.
fn runner(config: &Config, round: u64) -> TestRunner {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&round.to_le_bytes());
    TestRunner::new_with_rng(config.clone(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

fn save(file: &mut &File, bytes: &[u8]) -> io::Result<()> {
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Real inputs: from a run of the reference and some mutants, and from adapters and event streams.
pub(crate) mod samples {
    use crate::model::transcript::Transcript;

    /// A run log.
    const RECORD: &str = include_str!("../tests/seeds/run.jsonl");
    /// The transcripts of the same run.
    const WIRE: &str = include_str!("../tests/seeds/run.wire.jsonl");
    /// Case files.
    pub(crate) fn cases() -> [&'static str; 2] {
        [include_str!("../cases/sep-1034/asked.json"), include_str!("../cases/sep-1034/client-defaults.json")]
    }

    /// Lines of adapters.
    pub(crate) const ADAPTER: &str = include_str!("../tests/seeds/adapter.jsonl");

    /// Splits the run log into small ones, each with the header and the footer, because small inputs are faster.
    pub(crate) fn records() -> Vec<String> {
        let lines: Vec<&str> = RECORD.lines().collect();
        let [header, records @ .., footer] = &lines[..] else { unreachable!("a record has both") };
        let part = |records: &[&str]| [&[*header], records, &[*footer]].concat().join("\n") + "\n";
        records.chunks(3).map(part).collect()
    }

    /// The transcripts.
    pub(crate) fn transcripts() -> impl Iterator<Item = Transcript> {
        WIRE.lines().map(|line| serde_json::from_str(line).expect("a transcript"))
    }

    /// The lines of the transcripts, in pairs.
    pub(crate) fn wire() -> Vec<String> {
        WIRE.lines().collect::<Vec<_>>().chunks(2).map(|lines| lines.join("\n") + "\n").collect()
    }

    /// The messages, of both sides.
    pub(crate) fn texts() -> Vec<String> {
        let messages = transcripts().flat_map(|one| one.steps.into_iter().flat_map(|step| step.messages));
        messages.map(|message| message.text).filter(|text| !text.is_empty()).collect()
    }

    /// The messages as a server sends them in an event stream.
    pub(crate) fn streams() -> Vec<String> {
        let fields = |text: &String| format!("event: message\nid: 7\ndata: {text}\n\n");
        let mut streams: Vec<_> = texts().chunks(3).map(|some| some.iter().map(fields).collect::<String>()).collect();
        streams.push(
            "\u{feff}: hello\nid: 7\r\nretry: 5\rdata\n\ndata: a\ndata:b\r\n\r\n:\rdata: {\"é\":\rdata:  1}\r\r".into(),
        );
        streams
    }
}
