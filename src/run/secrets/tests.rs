//! Tests of [`Secrets`].

use super::*;

pub(in crate::run) fn secrets(set: &[(&str, &str)], inherited: &[(&str, &str)]) -> Secrets {
    named(set, inherited, &[])
}

fn named(set: &[(&str, &str)], inherited: &[(&str, &str)], names: &[&str]) -> Secrets {
    let own = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let names = Named::among(names.iter().map(|name| (*name).to_owned()));
    Secrets::among(own(set), own(inherited), &names)
}

#[test]
fn values_of_env_and_inherited_secrets_are_hidden() {
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
fn names_of_secrets_are_recognized_and_others_are_not() {
    let secret = "MYSQL_PWD SSHPASS DB_PW LDAP_BINDPW SIGNING_PRIVATEKEY BEARER SESSION_ID SLACK_WEBHOOK_URL SENTRY_DSN \
                  PGPASSWORD AWS_SECRET_ACCESS_KEY NPM_TOKEN my.api-key MyServiceToken VAULT_CREDS azure_client_secret";
    for name in secret.split_whitespace() {
        assert!(is_secret(name), "{name}");
    }
    let others = "PWD OLDPWD INIT_CWD HOME PATH KEYBOARD AUTHOR GIT_AUTHOR_NAME DESKTOP_SESSION XDG_SESSION_TYPE MONKEY \
                  COMPASS PATIENCE TERM_PROGRAM RUSTFLAGS";
    for name in others.split_whitespace() {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn secrets_inside_values_and_tokens_under_any_name_are_hidden() {
    let secrets = secrets(
        &[],
        &[
            ("ERRORS_TO", "https://0123456789abcdef0123456789abcdef@o1.example.org/2"),
            ("DB", "Server=db;User Id=me;Password=hunter2hunter2;Encrypt=yes"),
            ("STORE", "https://store.example.org/a?sig=k3yk3yk3yk3y&x=1"),
            ("MY_THING", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
            ("HOOK_WEBHOOK_URL", "https://hooks.example.org/services/T0001/B0002/a1b2c3d4e5f6g7h8i9j0"),
            ("REMOTE", "ssh://git@example.org/repository"),
        ],
    );
    for (text, hidden) in [
        ("key 0123456789abcdef0123456789abcdef", "key [ERRORS_TO]"),
        ("login failed for hunter2hunter2", "login failed for [DB]"),
        ("k3yk3yk3yk3y", "[STORE]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789.", "[MY_THING]."),
        ("a1b2c3d4e5f6g7h8i9j0", "[HOOK_WEBHOOK_URL]"),
        ("https://hooks.example.org/services", "https://hooks.example.org/services"),
        ("ssh://git@example.org/repository", "ssh://git@example.org/repository"),
    ] {
        assert_eq!(secrets.out_of(text), hidden);
    }
}

#[test]
fn named_variables_are_hidden_and_excluded_ones_are_not() {
    let set = [("MODE", "a-mode-of-its-own")];
    let inherited = [("ACCOUNT", "somebody-else"), ("SORT_KEY", "created-at-last")];
    let secrets = named(&set, &inherited, &["ACCOUNT", "-SORT_KEY", "-MODE"]);
    assert_eq!(
        secrets.out_of("somebody-else a-mode-of-its-own created-at-last"),
        "[ACCOUNT] a-mode-of-its-own created-at-last"
    );
}

#[test]
fn nested_values_and_values_of_many_lines_are_hidden() {
    let secrets = secrets(&[("A", "abcdefgh"), ("B", "abcdefgh-ijkl"), ("PEM", "first line\nsecond line\n")], &[]);
    assert_eq!(secrets.out_of("abcdefgh-ijkl abcdefgh"), "[B] [A]");
    assert_eq!(secrets.out_of(r#"{"a":"first line\nsecond line\n"}"#), r#"{"a":"[PEM]"}"#);
    assert_eq!(secrets.out_of("it wrote: second line"), "it wrote: [PEM]");
}
