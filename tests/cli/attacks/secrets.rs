//! Targets that leak a secret of their environment in every place and encoding, also where casebook cuts long texts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::has_two_users;
use crate::process::succeeds;
use crate::sandbox::{Finished, Sandbox};

/// A token with all characters that JSON writers escape differently.
const TOKEN: &str = "ghp_aB3+cD4/eF5=gH6&iJ7<kL8>mN9'oP0qR1sT2uV3w";

/// Leaking targets: name, place, and Python code for `rogue.py`, in which `T` is the token.
const LEAKS: [(&str, &str, &str); 16] = [
    ("plain", "call", "say(answer(a=T, content=[{'type': 'text', 'text': T}]))"),
    ("nested", "call", "say(answer(content=[{'type': 'text', 'text': json.dumps({'a': json.dumps(T)})}]))"),
    ("go", "call", r"say(answer(a=T).replace('&', '\\u0026').replace('<', '\\u003c').replace('>', '\\u003e'))"),
    (
        "dotnet",
        "call",
        r#"say(answer(a='%').replace('%', ''.join(f'\\u{ord(c):04X}' if c in "+'&<>" else c for c in T)))"#,
    ),
    (
        "gson",
        "call",
        r#"say(answer(a='%').replace('%', ''.join(f'\\u{ord(c):04x}' if c in "='&<>" else c for c in T)))"#,
    ),
    ("php", "call", r"say(answer(a=T).replace('/', '\\/'))"),
    ("units", "call", r"say(answer(a='%').replace('%', ''.join(f'\\u{ord(c):04x}' for c in T)))"),
    (
        "encoded",
        "call",
        "import base64
           say(answer(a=[base64.b64encode(b'x' * i + T.encode()).decode() for i in range(3)],
                      b=base64.urlsafe_b64encode(T.encode()).decode()))",
    ),
    ("error", "call", "say(json.dumps({'jsonrpc': '2.0', 'id': id, 'error': {'code': 1, 'message': '.' * 261 + T}}))"),
    ("header", "call", "put(head('x-more: ' + '.' * 985 + T, 'x-other: 1'), answer())"),
    ("no-json", "call", "say('.' * 261 + T)"),
    ("stderr", "call", "sys.stderr.write(T + '.' * 99000 + T); say(answer())"),
    ("long", "call", "say(answer(a='.' * 32630 + T + T))"),
    ("noise", "serve", r"put('.' * 970 + T + '\n'); say(good())"),
    ("cannot", "serve", "say(json.dumps({'id': asked['id'], 'cannot': '.' * 261 + T}))"),
    ("refusal", "serve", "say(json.dumps({'id': asked['id'], 'refused': {'type': T, 'message': '.' * 221 + T}}))"),
];

fn lay_out(sandbox: &Sandbox) -> String {
    for name in ["rogue.py", "shelf/post/shelf.json", "shelf/post/requirements.json"] {
        sandbox.lay_out(name);
    }
    for (name, at, does) in LEAKS {
        let does = format!("T = os.environ['MY_TOKEN']\n{}", does.replace("\n           say", "\nsay"));
        sandbox.target(name, &["python3", "-S", "-I", "../rogue.py", at, &does], "");
    }
    LEAKS.map(|(name, ..)| name).join(" ")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it can be listed").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Pieces of the token and of its common encodings.
fn pieces() -> Vec<String> {
    // At any alignment, twelve consecutive characters of base64 encode eight bytes of the token.
    let base64 = [
        "Z2hwX2FCMytjRDQvZUY1PWdINiZpSjc8a0w4Pm1OOSdvUDBxUjFzVDJ1VjN3",
        "doX2FCMytjRDQvZUY1PWdINiZpSjc8a0w4Pm1OOSdvUDBxUjFzVDJ1Vj",
    ];
    let windows = |text: &str, size| -> Vec<String> {
        text.as_bytes().windows(size).map(|piece| String::from_utf8_lossy(piece).into_owned()).collect()
    };
    let base64 = base64.into_iter().flat_map(|text| windows(text, 12));
    windows(TOKEN, 8).into_iter().chain(base64).collect()
}

fn assert_hidden(name: &str, text: &str) {
    // Undo the escapes of JSON and HTML.
    let read = text.replace(r"\/", "/").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    let units = ["26&", "3c<", "3e>", "2b+", "27'", "3d=", "2f/"].into_iter().fold(read, |text, unit| {
        let (digits, one) = unit.split_at(2);
        text.replace(&format!("\\u00{digits}"), one).replace(&format!("\\u00{}", digits.to_uppercase()), one)
    });
    for piece in pieces() {
        assert!(!units.contains(&piece), "{name} has `{piece}`");
    }
}

#[test]
fn secret_is_hidden_also_in_escapes_and_base64() {
    let sandbox = Sandbox::empty();
    let names = lay_out(&sandbox);
    let run = |arguments: &str| {
        let finished = Finished::of(sandbox.command(arguments).env("MY_TOKEN", TOKEN));
        assert_hidden(arguments, &finished.out);
        assert_hidden(arguments, &finished.err);
        finished
    };
    let reports = "--report html=r.html --report junit=r.xml --report md=r.md --report json=r.json";
    run(&format!("run {names} --cases shelf --jobs 2 --run-log run.jsonl --accept {reports}"));
    run("replay run.jsonl --cases shelf");
    run("report run.jsonl --cases shelf --report html=again.html");
    run("smoke noise");
    assert!(sandbox.read("run.jsonl").contains("[MY_TOKEN]"));
    let wire = sandbox.read("run.wire.jsonl");
    for (name, ..) in LEAKS {
        let mut own = wire.lines().filter(|line| line.contains(&format!("\"target\":\"{name}\"")));
        assert!(own.any(|line| line.contains("[MY_TOKEN]")), "{name} wrote nothing");
    }
    let left = files(sandbox.path());
    assert!(left.len() > LEAKS.len() + 8, "{left:?}");
    for path in left {
        assert_hidden(&path.display().to_string(), &sandbox.read_unpacked(&path));
    }
}

#[test]
fn lists_of_secrets_choose_the_hidden_variables() {
    let sandbox = Sandbox::empty();
    lay_out(&sandbox);
    let does = "say(answer(a=[os.environ[name] for name in ('ACCOUNT', 'PLACE', 'SORT_KEY')]))";
    sandbox.target("teller", &["python3", "-S", "-I", "../rogue.py", "call", does], "");
    let file = sandbox.read("teller/target.toml");
    sandbox.write("teller/target.toml", &format!("secrets = [\"ACCOUNT\"]\n{file}"));
    let mut run = sandbox.command("run teller --cases shelf --run-log run.jsonl");
    run.env("ACCOUNT", "of-somebody").env("PLACE", "where-it-is").env("SORT_KEY", "created-at");
    Finished::of(run.env("CASEBOOK_SECRETS", "PLACE,-SORT_KEY")).exits(0);
    let wire = sandbox.read("run.wire.jsonl");
    assert!(wire.contains(r#"[\"[ACCOUNT]\", \"[PLACE]\", \"created-at\"]"#), "{wire}");
}

#[test]
fn mistake_in_target_toml_shows_no_value_of_env() {
    let sandbox = Sandbox::empty();
    for (name, text) in [
        ("key", "env = { TOKEN = \"hush\", OTHER = 7 }\n"),
        ("syntax", "env = { TOKEN = hush }\n"),
        ("open", "[env]\nTOKEN = \"hush\nOTHER = \"x\"\n"),
        ("table", "[env]\nTOKEN = [\"hush\"]\n"),
    ] {
        sandbox.write(&format!("{name}/target.toml"), &format!("title = \"x\"\n{text}"));
        let finished = sandbox.run(&format!("run ./{name}"));
        finished.exits(2).stderr_has(&["target.toml", "TOKEN"]);
        assert!(!finished.err.contains("hush"), "{}", finished.err);
    }
}

#[test]
fn run_logs_are_readable_by_their_owner_only() {
    let sandbox = Sandbox::new();
    sandbox.run("run reference --cases cases");
    sandbox.run("run reference --cases cases --run-log new/folder/run.jsonl");
    let mode = |name: &str| {
        let mode = fs::metadata(sandbox.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
            .permissions()
            .mode();
        (name.to_owned(), mode & 0o777)
    };
    for folder in ["cache/casebook/last", "new/folder"] {
        assert_eq!(mode(folder), (folder.to_owned(), 0o700));
        for file in ["run.jsonl", "run.wire.jsonl"] {
            let name = format!("{folder}/{file}");
            assert_eq!(mode(&name), (name, 0o600));
        }
    }
}

#[test]
fn run_log_file_of_another_user_is_not_written() {
    if !has_two_users() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("private", "mine");
    for (name, script) in [
        ("file", "umask 0; : > shared/file.jsonl; : > shared/file.wire.jsonl"),
        ("wire", "umask 0; : > shared/wire.wire.jsonl"),
        ("link", "ln -s ../private shared/link.jsonl"),
    ] {
        fs::create_dir_all(sandbox.path().join("shared")).expect("a folder");
        fs::set_permissions(sandbox.path().join("shared"), fs::Permissions::from_mode(0o777)).expect("own file");
        fs::set_permissions(sandbox.path(), fs::Permissions::from_mode(0o711)).expect("own file");
        let mut stranger = std::process::Command::new("sh");
        std::os::unix::process::CommandExt::uid(&mut stranger, 65534);
        assert!(succeeds(stranger.args(["-c", script]).current_dir(sandbox.path())));
        let finished =
            sandbox.run(&format!("run reference --cases cases --only post/letter --run-log shared/{name}.jsonl"));
        finished.exits(6).stderr_has(&["cannot write shared/", "another user (uid 65534"]);
    }
    assert_eq!(sandbox.read("private"), "mine");
    for name in ["file.jsonl", "file.wire.jsonl", "wire.wire.jsonl"] {
        assert_eq!(sandbox.read(&format!("shared/{name}")), "", "{name}");
    }
}
