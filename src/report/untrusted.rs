//! Text from outside, made harmless for terminals and files: nothing in it moves a cursor or turns a line around.

/// Text that a target wrote. It has no `Display`: whoever shows it says how.
#[derive(Clone, Copy)]
pub struct Untrusted<'a>(pub &'a str);

impl Untrusted<'_> {
    /// On one line, cut after so many characters.
    pub fn line(self, limit: usize) -> String {
        self.visible(limit, false)
    }

    /// With its line breaks, cut after so many characters.
    pub fn block(self, limit: usize) -> String {
        self.visible(limit, true)
    }

    fn visible(self, limit: usize, breaks: bool) -> String {
        let mut out = String::new();
        for (count, one) in self.0.chars().enumerate() {
            if count == limit {
                out.extend(["… (", &self.0.len().to_string(), " bytes)"]);
                break;
            }
            match one {
                '\n' if breaks => out.push('\n'),
                one if is_hidden(one) => out.extend(one.escape_unicode()),
                one => out.push(one),
            }
        }
        out
    }
}

/// Controls, and the marks that are invisible or change the direction of what follows.
fn is_hidden(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(one, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_escapes_and_bidi_marks_become_visible() {
        let hostile = "a\x1b[31m\r\u{202e}b\u{9b}\u{7f}\tc\n";
        assert_eq!(Untrusted(hostile).line(99), r"a\u{1b}[31m\u{d}\u{202e}b\u{9b}\u{7f}\u{9}c\u{a}");
        assert!(Untrusted(hostile).block(99).ends_with("c\n"));
        assert_eq!(Untrusted("é ü 漢").line(99), "é ü 漢");
    }

    #[test]
    fn a_long_text_is_cut_and_says_how_long_it_was() {
        assert_eq!(Untrusted(&"é".repeat(1000)).line(3), "ééé… (2000 bytes)");
        assert_eq!(Untrusted("abc").line(3), "abc");
    }
}
