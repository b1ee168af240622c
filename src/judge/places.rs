//! Fixed names for the values of placeholders: the addresses and tokens that differ from run to run.
//!
//! `observe` replaces the values in an observation by these names, and `judge` fills the expectations of a case with the
//! same names, so that neither judging nor a snapshot depends on a port or a token. Must not know values beyond the
//! bindings.

use std::cell::OnceCell;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::Value;

use crate::model::case::{Test, When};
use crate::model::hash;
use crate::model::template::{Bindings, Canary, Template};

/// The name of the token of `@unique`.
const UNIQUE: &str = "<unique>";

/// The fixed names for the addresses and tokens of one transcript.
pub(crate) struct Names {
    addresses: Vec<String>,
    stand_ins: Vec<String>,
    /// The search for all addresses at once, built for the first text.
    search: OnceCell<AhoCorasick>,
}

impl Names {
    /// Collects the values of a test's placeholders.
    pub(crate) fn new(test: &Test, bindings: &Bindings) -> Self {
        let mut names: Vec<(String, String)> =
            bindings.canaries.iter().map(|(canary, address)| (address.clone(), name(canary))).collect();
        let mut unique = |template: &Template| {
            template.visit(&mut |one| {
                if let Template::Unique(prefix) = one
                    && !bindings.unique.is_empty()
                {
                    names.push((format!("{prefix}{}", bindings.unique), format!("{prefix}{UNIQUE}")));
                }
            });
        };
        test.given.tools.iter().for_each(|tool| unique(&tool.definition));
        for step in &test.steps {
            match &step.when {
                When::Call { arguments: Some(template), .. } | When::Send { message: template, .. } => unique(template),
                _ => {}
            }
        }
        names.retain(|(address, _)| !address.is_empty());
        names.sort_unstable();
        names.dedup_by(|(a, _), (b, _)| a == b);
        let (addresses, stand_ins) = names.into_iter().unzip();
        Self { addresses, stand_ins, search: OnceCell::new() }
    }

    /// Replaces each address in a text by its name.
    pub(crate) fn text(&self, text: &str) -> String {
        if self.stand_ins.is_empty() {
            return text.to_owned();
        }
        let search = self.search.get_or_init(|| {
            // A faster automaton takes longer to build, which does not pay for few and short texts.
            let kind = Some(AhoCorasickKind::NoncontiguousNFA);
            let search =
                AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).kind(kind).build(&self.addresses);
            search.expect("the places of a case file of bounded size")
        });
        search.replace_all(text, &self.stand_ins)
    }

    /// Replaces each address in the strings and the members' names of a value.
    pub(crate) fn value(&self, value: Value) -> Value {
        if self.stand_ins.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(key, value)| (self.text(&key), self.value(value))).collect()
            }
            other => other,
        }
    }
}

/// An expected value with the fixed names in place of its placeholders; `None` if it is nested too deep for a tree.
pub(crate) fn fill(template: &Template, revision: &str) -> Option<Value> {
    let bindings = Bindings {
        canaries: template.canaries().into_iter().map(|canary| (canary.clone(), name(canary))).collect(),
        unique: UNIQUE.to_owned(),
        revision: revision.to_owned(),
    };
    template.value(&bindings)
}

/// The name of a canary: `<canary:http>`, with its path and its other properties.
fn name(canary: &Canary) -> String {
    let path = canary.path.iter().map(|path| format!("/{path}"));
    let redirects = canary.redirects.then(|| " redirects".to_owned());
    let delay = (canary.delay_ms > 0).then(|| format!(" after {} ms", canary.delay_ms));
    let serves = canary.serves.iter().map(|document| format!(" {:.8}", hash(document)));
    let extra: String = path.chain(redirects).chain(delay).chain(serves).collect();
    format!("<canary:{}{extra}>", canary.kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::samples;
    use crate::model::template::CanaryKind;
    use serde_json::json;

    #[test]
    fn observed_and_expected_values_get_the_same_names() {
        let http = Canary { fragment: Some("/$defs/a".into()), ..Canary::new(CanaryKind::Http) };
        let longer = Canary { path: Some("root.json".into()), ..Canary::new(CanaryKind::Http) };
        let expected = Template::Array(vec![
            Template::Canary(http.clone()),
            Template::Canary(longer.clone()),
            Template::Unique("https://u/".into()),
        ]);
        let test = samples::test(&[("t", expected.clone())], vec![]);
        let bindings = Bindings {
            canaries: vec![(http, "http://127.0.0.1:9/c".into()), (longer, "http://127.0.0.1:9/c/root.json".into())],
            unique: "77".into(),
            revision: "2026-07-28".into(),
        };
        let seen = json!(["http://127.0.0.1:9/c#/$defs/a", "http://127.0.0.1:9/c/root.json", "https://u/77"]);
        let named = Names::new(&test, &bindings).value(seen);
        assert_eq!(named, json!(["<canary:http>#/$defs/a", "<canary:http/root.json>", "https://u/<unique>"]));
        assert_eq!(fill(&expected, "2026-07-28"), Some(named));
    }
}
