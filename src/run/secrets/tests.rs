//! Tests of [`Secrets`].

use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

pub(in crate::run) fn secrets(set: &[(&str, &str)], inherited: &[(&str, &str)]) -> Secrets {
    named(set, inherited, &[])
}

fn named(set: &[(&str, &str)], inherited: &[(&str, &str)], names: &[&str]) -> Secrets {
    let own = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    Secrets::among(own(set), own(inherited), &names)
}

#[test]
fn values_of_env_and_inherited_secrets_are_masked() {
    let secrets = secrets(
        &[("MODE", "a-mode-of-1"), ("LEVEL", "error"), ("FAULT", "dangling"), ("PASSWORD", "swordfish")],
        &[
            ("GITHUB_TOKEN", "ghp_0123456789"),
            ("HOME", "/home/somebody"),
            ("KEYBOARD", "us-international"),
            ("PIN_TOKEN", "1234567"),
            ("MY_AUTH", " Basic c3dvcmRmaXNo\n"),
        ],
    );
    for (text, masked) in [
        ("in a-mode-of-1!", "in [MODE]!"),
        ("error ghp_0123456789 swordfish", "error [GITHUB_TOKEN] [PASSWORD]"),
        ("error dangling-reference us-international 1234567", "error dangling-reference us-international 1234567"),
        ("/home/somebody c3dvcmRmaXNo, Basic c3dvcmRmaXNo", "/home/somebody [MY_AUTH], [MY_AUTH]"),
    ] {
        assert_eq!(secrets.out_of(text), masked);
    }
}

#[test]
fn names_of_secrets_are_recognized_and_others_are_not() {
    let secret = "MYSQL_PWD SSHPASS DB_PW LDAP_BINDPW SIGNING_PRIVATEKEY BEARER SESSION_ID SLACK_WEBHOOK_URL SENTRY_DSN \
                  PGPASSWORD AWS_SECRET_ACCESS_KEY NPM_TOKEN my.api-key MyServiceToken VAULT_CREDS azure_client_secret \
                  X-Amz-Signature sig code";
    for name in secret.split_whitespace() {
        assert!(is_secret(name), "{name}");
    }
    let others = "PWD OLDPWD INIT_CWD HOME PATH KEYBOARD AUTHOR GIT_AUTHOR_NAME DESKTOP_SESSION XDG_SESSION_TYPE MONKEY \
                  COMPASS PATIENCE TERM_PROGRAM RUSTFLAGS no-auth key-file SSH_AUTH_SOCK COUNTRY_CODE";
    for name in others.split_whitespace() {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn named_variables_are_masked_and_excluded_ones_are_not() {
    let set = [("MODE", "mode-of-its-own-1")];
    let inherited = [("ACCOUNT", "somebody-else"), ("SORT_KEY", "created-at-last")];
    let secrets = named(&set, &inherited, &["ACCOUNT", "-SORT_KEY", "-MODE"]);
    assert_eq!(
        secrets.out_of("somebody-else mode-of-its-own-1 created-at-last"),
        "[ACCOUNT] mode-of-its-own-1 created-at-last"
    );
}

#[test]
fn nested_and_cut_values_are_masked() {
    let secrets = secrets(&[("A", "abcdefg1"), ("B", "abcdefg1-ijkl"), ("PEM", "first line\nsecond line\n")], &[]);
    assert_eq!(secrets.out_of("abcdefg1-ijkl abcdefg1"), "[B] [A]");
    assert_eq!(secrets.out_of(r#"{"a":"first line\nsecond line\n"}"#), r#"{"a":"[PEM]\n"}"#);
    assert_eq!(secrets.out_of("first line\nsec… (90 bytes)"), "[PEM]… (90 bytes)");
    assert_eq!(secrets.out_of_first("in first line\nsecond line", 5), "in [PEM]");
    assert_eq!(secrets.out_of_first("in a few words", 4), "in a");
    assert_eq!(secrets.out_of("first li"), "[PEM]");
    let deep = "a\\\\\\\\\\bcdefgh1";
    for text in by_writers(deep).iter().flat_map(|once| by_writers(once)) {
        assert_eq!(self::secrets(&[("DEEP", deep)], &[]).out_of(&text), "[DEEP]");
    }
}

#[test]
fn secrets_in_the_words_of_a_command_are_found() {
    let values = |line: &str| -> Vec<String> {
        let words: Vec<_> = line.split(' ').map(|word| word.replace('~', " ")).collect();
        in_words(&words.iter().map(String::as_str).collect::<Vec<_>>()).into_iter().map(|(_, value)| value).collect()
    };
    for (line, expected) in [
        ("npx pkg --api-key=abcd1234efgh", "abcd1234efgh"),
        ("npx --token abcd1234efgh pkg", "abcd1234efgh"),
        ("env -u X MY_TOKEN=abcd1234,efgh cmd", "abcd1234,efgh"),
        ("docker run -e MY_TOKEN=abcd1234efgh image", "abcd1234efgh"),
        ("docker run --env=MY_TOKEN=abcd1234efgh image", "abcd1234efgh"),
        ("docker run -eMY_TOKEN=abcd1234efgh image", "abcd1234efgh"),
        ("pkg postgres://me:abcd1234efgh@host/db", "abcd1234efgh"),
        ("pkg --url=https://host/?apikey=abcd1234efgh", "abcd1234efgh"),
        ("pkg https://host/?X-Amz-Signature=abcd1234efgh&a=b", "abcd1234efgh"),
        ("pkg --header Authorization:~Basic~abcd1234efgh", "Basic abcd1234efgh"),
        ("pkg --header X-Api-Key:abcd1234efgh", "abcd1234efgh"),
        ("sh -c MY_TOKEN='abcd1234efgh'~./server", "abcd1234efgh"),
        ("sh -c ./server~--password~abcd1234efgh", "abcd1234efgh"),
    ] {
        assert!(values(line).iter().any(|value| value.trim_matches('\'') == expected), "{line}: {:?}", values(line));
    }
    for line in [
        "node server.js --port 8080 --name something",
        "npx -y @scope/server@2026.8.31 stdio",
        "pkg --key-file certificate.pem --key ./server.key --no-auth server.js",
        "pkg --token --verbose-output",
        "docker run -v /home/me:/data mcp/server:latest-version",
        "env -u X PWD=/home/somebody cmd",
        "pkg https://example.com/mcp?version=20261124",
    ] {
        assert_eq!(values(line), Vec::<String>::new(), "{line}");
    }
}

/// The text as common writers of JSON put it into quotes.
fn by_writers(text: &str) -> Vec<String> {
    let written = |is_escaped: fn(char) -> bool, upper: bool| -> String {
        let one = |one: char| match one {
            '"' | '\\' => format!("\\{one}"),
            one if !is_escaped(one) => one.to_string(),
            one => {
                let units = one.encode_utf16(&mut [0; 2]).to_vec().into_iter();
                units.map(|unit| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }).collect()
            }
        };
        text.chars().map(one).collect()
    };
    let plain = Value::from(text).to_string();
    vec![
        plain[1..plain.len() - 1].to_owned(),
        written(|one| "&<>\u{2028}\u{2029}".contains(one), false),
        written(|one| !one.is_ascii() || "&<>+'`".contains(one), true),
        written(|one| !one.is_ascii(), false).replace('/', "\\/"),
    ]
}

const VALUES: &str = "[A-Za-z0-9+/=&<>%;#'\"\\\\`é🔑][A-Za-z0-9+/=&<>%;#'\"\\\\`é🔑\u{2028}]{7,23}1";

proptest! {
    #[test]
    fn values_are_found_in_the_json_of_all_writers(value in VALUES, more in "[a-z ]{0,5}") {
        let secrets = secrets(&[("A", &value)], &[]);
        for once in by_writers(&value) {
            for text in by_writers(&once).into_iter().chain([once]) {
                let text = format!("{more}{text}{more}");
                prop_assert_eq!(secrets.out_of(&text), format!("{more}[A]{more}"), "{}", text);
            }
        }
    }

    #[test]
    fn values_are_found_in_base64(value in VALUES) {
        let secrets = secrets(&[("A", &value)], &[]);
        for lead in ["", "x", "xy"] {
            let text = format!("{lead}{value}zz");
            for text in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text), json!(STANDARD.encode(&text)).to_string()] {
                let masked = secrets.out_of(&text);
                prop_assert!(masked.contains("[A]") && masked.len() <= 16, "{} of {}", masked, text);
            }
        }
    }

    #[test]
    fn any_other_text_is_kept(text in "\\PC{0,60}[\\\\u0-9a-f%&;#{}]{0,30}\\PC{0,9}") {
        prop_assert_eq!(secrets(&[("A", "\u{1}no such value")], &[]).out_of(&text), text.as_str());
    }
}
