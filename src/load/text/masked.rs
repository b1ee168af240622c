//! The text of a `target.toml` without the values of `env`, which may be secrets, for errors.
//!
//! Takes any text, as a file with an error may not be TOML; gives a text of the same length, with the rest in its place.
//! Must not know the other keys of the file.

/// Replaces each byte of the values of `env` by `*`.
pub(in crate::load) fn without_values(text: &str) -> String {
    let (mut out, mut in_table, mut rest) = (String::with_capacity(text.len()), false, text);
    while !rest.is_empty() {
        let line = rest.split_inclusive('\n').next().unwrap_or(rest);
        let start = line.trim_start();
        if start.starts_with('[') {
            in_table = is_env(start.trim_start_matches('['));
        }
        let value = line.find('=').filter(|_| in_table && !start.starts_with('[') || is_env(start));
        match value {
            None => {
                out.push_str(line);
                rest = &rest[line.len()..];
            }
            Some(equals) => {
                out.push_str(&line[..=equals]);
                rest = mask(&rest[equals + 1..], &mut out);
            }
        }
    }
    out
}

/// Returns whether a line, or a table's name, begins with the key `env`.
fn is_env(text: &str) -> bool {
    let text = text.trim_start();
    let rest = ["env", "\"env\"", "'env'"].iter().find_map(|key| text.strip_prefix(key));
    rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.', ']']))
}

/// Writes the text behind a `=` up to the end of its last line, with its values masked; gives the rest of the text.
fn mask<'t>(text: &'t str, out: &mut String) -> &'t str {
    let (mut rest, mut is_key) = (text, false);
    // A table in braces begins with a name.
    while let Some(one) = rest.chars().next() {
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| rest.starts_with(quote));
        let length = match (quote, one) {
            (_, '\n') => {
                out.push('\n');
                return &rest[1..];
            }
            (Some(quote), _) => {
                let end = quoted(&rest[quote.len()..], quote);
                let (inside, behind) = rest[quote.len()..].split_at(end);
                let closing = if behind.starts_with(quote) { quote } else { "" };
                out.push_str(quote);
                out.extend(inside.chars().flat_map(hidden));
                out.push_str(closing);
                quote.len() + end + closing.len()
            }
            (None, '{' | ',') => {
                is_key = is_pair(&rest[1..]);
                out.push(one);
                1
            }
            (None, '=') => {
                is_key = false;
                out.push(one);
                1
            }
            (None, '}' | ' ' | '\t' | '\r') => {
                out.push(one);
                1
            }
            (None, _) if is_key => {
                out.push(one);
                one.len_utf8()
            }
            (None, _) => {
                out.extend(hidden(one));
                one.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    rest
}

/// Returns whether a text begins with a bare name and a `=`.
fn is_pair(text: &str) -> bool {
    let is_bare = |one: char| one.is_ascii_alphanumeric() || "_-. ".contains(one);
    text.trim_start_matches(is_bare).starts_with('=')
}

/// The length of a string without its quotes. A string that is not closed ends with its line or with the text.
fn quoted(text: &str, quote: &str) -> usize {
    let mut escaped = false;
    for (at, one) in text.char_indices() {
        if !escaped && text[at..].starts_with(quote) || quote.len() == 1 && one == '\n' {
            return at;
        }
        escaped = one == '\\' && !escaped && quote.starts_with('"');
    }
    text.len()
}

/// One asterisk for each byte of a character; the end of a line is kept.
fn hidden(one: char) -> impl Iterator<Item = char> {
    std::iter::repeat_n(if one == '\n' { one } else { '*' }, one.len_utf8())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_of_env_are_masked_in_any_notation() {
        for (text, shown) in [
            (
                "env = { A = \"hush\", B='é' } # c\ntitle = \"x\"\n",
                "env = { A = \"****\", B='**' } * *\ntitle = \"x\"\n",
            ),
            ("[env]\nA = \"hush\"\nB = hush\n[claims]\nc = 1\n", "[env]\nA = \"****\"\nB = ****\n[claims]\nc = 1\n"),
            ("env.A = \"hu\\\"sh\n\"env\" = hush", "env.A = \"******\n\"env\" = ****"),
            ("env = { A = \"\"\"hu\nsh\"\"\" }\nb = 1", "env = { A = \"\"\"**\n**\"\"\" }\nb = 1"),
            (
                "environment = \"shown\"\ncommand = [\"env\", \"A=b\"]\n",
                "environment = \"shown\"\ncommand = [\"env\", \"A=b\"]\n",
            ),
            ("env = [hush", "env = *****"),
        ] {
            assert_eq!(without_values(text), shown);
        }
    }

    proptest! {
        #[test]
        fn masked_text_keeps_its_length_and_lines(text in "(env|\\[env\\]|[a-z]{1,3}|[={}\"'#,.\n é\\\\]){0,40}") {
            let shown = without_values(&text);
            prop_assert_eq!(shown.len(), text.len());
            prop_assert_eq!(shown.matches('\n').count(), text.matches('\n').count());
        }
    }
}
