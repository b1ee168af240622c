//! The texts of the generators, written level by level, without ever building a tree.

use super::template::{Generator, HostilePattern, put};
use crate::jsonrpc::text::quote;

impl HostilePattern {
    /// Returns the regular expression.
    pub fn pattern(self) -> &'static str {
        match self {
            Self::NestedQuantifier => "^(a+)+$",
            Self::OverlappingAlternatives => "^(a|a)*$",
        }
    }
}

impl Generator {
    /// Appends the JSON text to `out`.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Self::Nested { depth } => {
                out.push_str(&r#"{"type":"object","properties":{"p":"#.repeat(*depth));
                out.push_str(r#"{"type":"string"}"#);
                out.push_str(&"}}".repeat(*depth));
            }
            Self::NestedValue { depth } => {
                out.push_str(&r#"{"p":"#.repeat(*depth));
                out.push_str(r#""x""#);
                out.push_str(&"}".repeat(*depth));
            }
            Self::Wide { keyword, count } => {
                let branches =
                    list(*count, |index| format!(r#"{{"properties":{{"n":{{"const":{index}}}}},"required":["n"]}}"#));
                put(out, format_args!(r#"{{"type":"object","{keyword}":[{branches}]}}"#));
            }
            Self::RefChain { length } => {
                let links = list(*length, |index| format!(r##""d{index}":{{"$ref":"#/$defs/d{}"}}"##, index + 1));
                definitions(out, &links, &format!(r#""d{length}":{{"type":"string"}}"#));
            }
            Self::RefDoubling { levels } => {
                let links = list(*levels, |index| {
                    let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, index + 1);
                    format!(r#""d{index}":{{"allOf":[{next},{next}]}}"#)
                });
                definitions(out, &links, &format!(r#""d{levels}":{{"type":"string"}}"#));
            }
            Self::RefCycle { length } => {
                let links =
                    list(*length, |index| format!(r##""d{index}":{{"$ref":"#/$defs/d{}"}}"##, (index + 1) % length));
                definitions(out, &links, "");
            }
            Self::Pattern { kind } => {
                out.push_str(r#"{"type":"object","properties":{"v":{"type":"string","pattern":"#);
                quote(kind.pattern(), out);
                out.push_str("}}}");
            }
            Self::PatternValue { length, .. } => {
                let run = "a".repeat(length.saturating_sub(1));
                put(out, format_args!(r#""{run}!""#));
            }
            Self::Text { of, length } => {
                let characters = of.chars().count().max(1);
                let rest: String = of.chars().take(length % characters).collect();
                quote(&(of.repeat(length / characters) + &rest), out);
            }
        }
    }
}

/// Writes the schema of an object whose property `v` refers to the first of these definitions.
fn definitions(out: &mut String, links: &str, leaf: &str) {
    let comma = if links.is_empty() || leaf.is_empty() { "" } else { "," };
    put(
        out,
        format_args!(
            r##"{{"type":"object","properties":{{"v":{{"$ref":"#/$defs/d0"}}}},"$defs":{{{links}{comma}{leaf}}}}}"##
        ),
    );
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::super::template::WideKeyword;
    use super::*;
    use crate::jsonrpc::nesting;

    fn text(generator: &Generator) -> String {
        let mut out = String::new();
        generator.write(&mut out);
        out
    }

    #[test]
    fn generators_yield_documented_sizes() {
        let nested = text(&Generator::Nested { depth: 61 });
        assert_eq!((nested.len(), nesting::depth(nested.as_bytes())), (2274, 123));
        assert_eq!(text(&Generator::Wide { keyword: WideKeyword::AnyOf, count: 10_001 }).len(), 528_971);
        assert_eq!(text(&Generator::RefDoubling { levels: 2 }).matches("allOf").count(), 2);
        assert_eq!(text(&Generator::PatternValue { kind: HostilePattern::NestedQuantifier, length: 4 }), r#""aaa!""#);
        assert_eq!(text(&Generator::Text { of: "ab".into(), length: 5 }), r#""ababa""#);
    }

    #[test]
    fn generators_yield_json() {
        for generator in [
            Generator::Nested { depth: 3 },
            Generator::NestedValue { depth: 3 },
            Generator::Wide { keyword: WideKeyword::OneOf, count: 3 },
            Generator::RefChain { length: 0 },
            Generator::RefChain { length: 3 },
            Generator::RefDoubling { levels: 3 },
            Generator::RefCycle { length: 2 },
            Generator::Pattern { kind: HostilePattern::OverlappingAlternatives },
            Generator::Text { of: "\"".into(), length: 3 },
        ] {
            let text = text(&generator);
            assert!(nesting::read::<serde_json::Value>(text.as_bytes()).is_ok(), "{generator}: {text}");
        }
    }
}
