//! What a target was given in its environment, taken out of all that is kept or shown of it.
//!
//! Takes texts, transcripts and records, gives them with `[NAME]` where the value of a variable was. Must not know who
//! reads them. Whatever is judged is judged before: a name in place of a number is no JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::observation::{AdvertisedTool, Observation, Observed, StepObservation};
use crate::model::record::Record;
use crate::model::target::Target;
use crate::model::transcript::{End, Message, Served, StepTranscript, Transcript};

/// Shorter values, in bytes, are words like `error` and `true`, which mean something wherever they stand.
const SHORTEST: usize = 8;
/// A name with such a part is a secret's, whoever set it.
const NAMES: [&str; 13] = [
    "AUTH",
    "COOKIE",
    "CREDENTIAL",
    "CREDENTIALS",
    "JWT",
    "KEY",
    "PASS",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "PAT",
    "SECRET",
    "TOKEN",
];

/// What is not to be told of one target.
#[derive(Debug, Default)]
pub struct Secrets(Vec<Hidden>);

/// One way in which a value may be written, and what stands there instead.
#[derive(Debug, PartialEq, Eq)]
struct Hidden {
    form: String,
    name: String,
}

impl Secrets {
    /// Those of a target: all that its file sets, and of our own environment, which it inherits, what looks like one.
    pub fn of(target: &Target) -> Self {
        Self::among(&target.env, inherited())
    }

    /// Those of whatever is started with no more than our own environment.
    pub fn inherited() -> Self {
        Self::among(&BTreeMap::new(), inherited())
    }

    fn among(set: &BTreeMap<String, String>, inherited: impl IntoIterator<Item = (String, String)>) -> Self {
        let set = set.iter().map(|(name, value)| (name.clone(), value.clone()));
        let inherited = inherited.into_iter().filter(|(name, value)| is_secret(name) || password(value).is_some());
        let mut all: Vec<Hidden> = Vec::new();
        for (name, value) in set.chain(inherited) {
            let name = format!("[{name}]");
            let parts = values(&value).into_iter().filter(|part| part.len() >= SHORTEST);
            for form in parts.flat_map(written) {
                if !all.iter().any(|known| known.form == form) {
                    all.push(Hidden { form, name: name.clone() });
                }
            }
        }
        // What has another one inside goes first, and whole.
        all.sort_by_key(|one| std::cmp::Reverse(one.form.len()));
        Self(all)
    }

    /// A text without them.
    pub fn out_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.0.iter().fold(Cow::Borrowed(text), |text, Hidden { form, name }| {
            if text.contains(form) { text.replace(form, name).into() } else { text }
        })
    }

    /// Takes them out of what was seen, and out of what was made of it.
    pub fn hide(&self, record: &mut Record, transcript: &mut Transcript) {
        if self.0.is_empty() {
            return;
        }
        self.observation(&mut record.observation);
        self.texts(record.verdicts.iter_mut().flat_map(|verdict| &mut verdict.detail));
        self.transcript(transcript);
    }

    fn transcript(&self, transcript: &mut Transcript) {
        let Transcript { served, opening, steps, canary, stderr, .. } = transcript;
        self.served(served);
        self.messages(opening);
        for StepTranscript { messages, end, canary, handed, .. } in steps {
            self.messages(messages);
            self.end(end);
            self.texts(canary.iter_mut().map(|hit| &mut hit.url).chain(handed));
        }
        self.texts(canary.iter_mut().map(|hit| &mut hit.url).chain([stderr]));
    }

    fn messages(&self, messages: &mut [Message]) {
        for Message { text, headers, .. } in messages {
            self.texts(headers.iter_mut().flat_map(|(name, value)| [name, value]).chain([text]));
        }
    }

    fn served(&self, served: &mut Served) {
        match served {
            Served::Serving => {}
            Served::Refused { r#type, message } => self.texts([r#type, message]),
            Served::Failed { end, detail } => {
                self.end(end);
                self.text(detail);
            }
            Served::Cannot { reason } | Served::Broken { reason } | Served::Unavailable { reason } => self.text(reason),
        }
    }

    fn end(&self, end: &mut End) {
        match end {
            End::Invalid { reason: text } | End::Crash { how: text } => self.text(text),
            End::Replied { .. }
            | End::Http { .. }
            | End::Accepted
            | End::Handed
            | End::Unanswered
            | End::Empty
            | End::Oversized
            | End::Timeout => {}
        }
    }

    fn observation(&self, observation: &mut Observation) {
        let Observation { steps, cannot, unavailable, leaky: _ } = observation;
        self.texts(cannot.iter_mut().chain(unavailable));
        for step in steps {
            self.step(step);
        }
    }

    fn step(&self, step: &mut StepObservation) {
        let StepObservation { advertised, tools, saw, structured, asked, answered, replies, sent, said, .. } = step;
        self.keys(advertised);
        self.keys(tools);
        for AdvertisedTool { removed, added, changed, unreadable: _ } in advertised.values_mut() {
            self.texts([removed, added, changed].into_iter().flatten());
        }
        let answers = answered.iter_mut().filter_map(|answer| answer.content.as_mut());
        let parts = replies.iter_mut().chain(sent).flat_map(|parts| parts.values_mut());
        let values = saw.iter_mut().chain(structured).chain(asked).chain(answers).chain(parts);
        values.filter_map(Observed::value_mut).for_each(|value| self.value(value));
        self.texts(said);
    }

    fn texts<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            self.text(text);
        }
    }

    fn text(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.out_of(text) {
            *text = hidden;
        }
    }

    fn keys<T>(&self, named: &mut BTreeMap<String, T>) {
        let all = std::mem::take(named);
        named.extend(all.into_iter().map(|(name, one)| (self.out_of(&name).into_owned(), one)));
    }

    /// JSON has a tree of its own depth only as far as it was read within our bound.
    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                let all = std::mem::take(members);
                members.extend(all.into_iter().map(|(name, mut value)| {
                    self.value(&mut value);
                    (self.out_of(&name).into_owned(), value)
                }));
            }
            Value::Number(number) => {
                let text = number.to_string();
                if let Some(hidden) = self.0.iter().find(|hidden| hidden.form == text) {
                    *value = Value::String(hidden.name.clone());
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// Our own environment, as far as it is text.
fn inherited() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let joined = |part: &str| ["TOKEN", "SECRET", "PASSWORD", "APIKEY"].iter().any(|word| part.ends_with(word));
    name.split(['_', '-', '.']).any(|part| NAMES.contains(&part) || joined(part))
}

/// The password of an address that has one: `scheme://user:password@host`.
fn password(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let (user, _) = rest.split('/').next()?.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password).filter(|password| !password.is_empty())
}

/// What of a value must not be told: itself, its lines, and the password inside an address.
fn values(value: &str) -> Vec<&str> {
    let mut values = vec![value, value.trim()];
    values.extend(value.lines().map(str::trim));
    values.extend(password(value));
    values
}

/// A value as it is, and as it stands in JSON, and in JSON that stands in JSON.
fn written(value: &str) -> Vec<String> {
    const TWICE: usize = 2;
    let mut forms = vec![value.to_owned()];
    let mut last = forms.clone();
    for _ in 0..TWICE {
        last = last.iter().flat_map(|form| escaped(form)).filter(|form| !forms.contains(form)).collect();
        forms.extend(last.iter().cloned());
    }
    forms
}

/// The ways in which writers of JSON put a text into quotes.
fn escaped(text: &str) -> [String; 4] {
    let plain = Value::from(text).to_string();
    let plain = &plain[1..plain.len() - 1];
    let ascii = |upper: bool| -> String {
        let unit = |unit: u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
        let mut units = [0; 2];
        let mut one = |one: char| match one {
            ' '..='~' => one.to_string(),
            _ => one.encode_utf16(&mut units).iter().map(|code| unit(*code)).collect(),
        };
        plain.chars().map(&mut one).collect()
    };
    [plain.to_owned(), plain.replace('/', "\\/"), ascii(false), ascii(true)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::case::{Outcome, TimeClass};
    use crate::model::observation::{AnswerObservation, SizeClass};
    use crate::model::record::{Verdict, VerdictKind};
    use crate::model::spec::Level;
    use crate::model::transcript::{Hit, Party, Phase};
    use proptest::prelude::*;
    use serde_json::json;

    const VALUE: &str = "s3cr\"t/ßé\u{1f511}";

    fn secrets(set: &[(&str, &str)], inherited: &[(&str, &str)]) -> Secrets {
        let own = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Secrets::among(&own(set).into_iter().collect(), own(inherited))
    }

    #[test]
    fn what_the_file_sets_is_hidden_and_of_the_rest_what_looks_like_a_secret() {
        let secrets = secrets(
            &[("MODE", "a-mode-of-its-own"), ("LEVEL", "error")],
            &[
                ("GITHUB_TOKEN", "ghp_0123456789"),
                ("HOME", "/home/somebody"),
                ("KEYBOARD", "us-international"),
                ("DATABASE_URL", "postgres://me:hunter2hunter2@host/db"),
                ("PIN_TOKEN", "1234567"),
            ],
        );
        for (text, hidden) in [
            ("in a-mode-of-its-own!", "in [MODE]!"),
            ("error ghp_0123456789", "error [GITHUB_TOKEN]"),
            ("/home/somebody us-international 1234567", "/home/somebody us-international 1234567"),
            ("to postgres://me:hunter2hunter2@host/db", "to [DATABASE_URL]"),
            ("password hunter2hunter2", "password [DATABASE_URL]"),
        ] {
            assert_eq!(secrets.out_of(text), hidden);
        }
    }

    #[test]
    fn one_value_inside_another_and_a_value_of_many_lines_are_hidden() {
        let secrets = secrets(&[("A", "abcdefgh"), ("B", "abcdefgh-ijkl"), ("PEM", "first line\nsecond line\n")], &[]);
        assert_eq!(secrets.out_of("abcdefgh-ijkl abcdefgh"), "[B] [A]");
        assert_eq!(secrets.out_of(r#"{"a":"first line\nsecond line\n"}"#), r#"{"a":"[PEM]"}"#);
        assert_eq!(secrets.out_of("it wrote: second line"), "it wrote: [PEM]");
    }

    #[test]
    fn nothing_of_what_is_kept_has_a_value_in_it() {
        let (text, name) = (|| format!("<{VALUE}>"), || VALUE.to_owned());
        let wire = || json!({ "a": { "text": json!({ "b": VALUE }).to_string() } }).to_string();
        let value = || Observed::Value(json!({ VALUE: [VALUE, 1_234_567_890] }));
        let hit = || Hit { url: text(), phase: Phase::Step };
        let message = || Message {
            from: Party::Target,
            text: wire(),
            cut_from: None,
            lossy: false,
            status: None,
            headers: vec![(text(), text())],
            at: 0,
        };
        let ends = [End::Invalid { reason: text() }, End::Crash { how: text() }];
        let step = |end| StepTranscript {
            messages: vec![message()],
            end,
            micros: 0,
            canary: vec![hit()],
            handed: Some(wire()),
        };
        let tool =
            AdvertisedTool { removed: vec![text()], added: vec![text()], changed: vec![text()], unreadable: None };
        let seen = StepObservation {
            outcome: Outcome::Success,
            code: None,
            status: None,
            advertised: [(name(), tool)].into(),
            tools: [(name(), [].into())].into(),
            saw: Some(value()),
            structured: Some(value()),
            text: None,
            asked: vec![value()],
            answered: vec![AnswerObservation { action: None, content: Some(value()), code: None }],
            rounds: Vec::new(),
            canary: None,
            varies: false,
            replies: vec![[("message".to_owned(), value())].into()],
            sent: vec![[("message".to_owned(), value())].into()],
            unread: None,
            took: TimeClass::Instant,
            size: SizeClass::Small,
            said: Some(text()),
        };
        let observation =
            Observation { steps: vec![seen], cannot: Some(text()), unavailable: Some(text()), leaky: false };
        let verdict = Verdict {
            step: 0,
            requirement: samples::requirement("r", Level::Must).id,
            level: Level::Must,
            kind: VerdictKind::Fail,
            excuses: None,
            detail: vec![text()],
            line: 1,
            known: None,
        };
        let mut record = Record {
            observation,
            verdicts: vec![verdict],
            ..samples::record(0, "f/c/t@2026-07-28+http", Outcome::Success)
        };
        let served = [
            Served::Refused { r#type: text(), message: text() },
            Served::Cannot { reason: text() },
            Served::Failed { end: End::Crash { how: text() }, detail: text() },
            Served::Broken { reason: text() },
            Served::Unavailable { reason: text() },
        ];
        for served in served {
            let mut transcript = Transcript {
                served,
                opening: vec![message()],
                canary: vec![hit()],
                stderr: text(),
                ..samples::transcript(ends.clone().map(step).into())
            };
            secrets(&[("TOKEN", VALUE), ("PIN", "1234567890")], &[]).hide(&mut record, &mut transcript);
            for line in [serde_json::to_string(&record), serde_json::to_string(&transcript)].map(Result::unwrap) {
                assert!(line.contains("[TOKEN]"), "{line}");
                for left in ["s3cr", "1234567890"] {
                    assert!(!line.contains(left), "{line}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_value_is_found_however_json_has_it(value in "[ -~]{0,9}\\PC{8,12}[\\\\/\"\n\u{7f}é🔑]{0,3}", more in "[a-z ]{0,5}") {
            let secrets = secrets(&[("TOKEN", &value)], &[]);
            let text = format!("{more}{value}{more}");
            let once = json!({ "text": text });
            let twice = json!({ "text": once.to_string() });
            for written in [text.clone(), once.to_string(), twice.to_string(), twice.to_string().replace('/', "\\/")] {
                let hidden = secrets.out_of(&written);
                prop_assert!(hidden.contains("[TOKEN]"), "{} in {}", value, hidden);
                prop_assert!(!hidden.contains(&value), "{} in {}", value, hidden);
            }
        }

        #[test]
        fn a_text_without_a_value_stays_as_it_is(text in "[a-y ]{0,40}", value in "z[a-z]{7,20}") {
            prop_assert_eq!(secrets(&[("TOKEN", &value)], &[]).out_of(&text), text.as_str());
        }
    }
}
