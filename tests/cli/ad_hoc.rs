//! Servers that the command line names by their command or URL, and the `target.toml` that `casebook new target` prints for them.

use serde_json::{Value, json};

use crate::http::{Server, certificate, is_listening, mcp, silent};
use crate::sandbox::{Finished, PROGRAM, Sandbox};

/// A secret value, of which no part may be in any output.
const SECRET: &str = "kQ8vT2mZx7Lw4RbY";

/// Runs the program with words that may have blanks.
fn run(sandbox: &Sandbox, words: &[&str]) -> Finished {
    let mut command = sandbox.command("run --run-log run.jsonl");
    Finished::of(command.args(words))
}

/// The command of the reference, or of a mutant of it, as a server over stdio.
fn reference(sandbox: &Sandbox, mutant: Option<&str>, revision: &str, tools: &Value) -> Vec<String> {
    let fixture = json!({ "server": { "name": "fixed", "version": "1" }, "tools": tools });
    let order = json!({ "revision": revision, "transport": "stdio", "fixture": fixture });
    sandbox.write("serve.json", &order.to_string());
    let mutant = mutant.into_iter().flat_map(|mutant| ["--mutant", mutant]);
    let words = [PROGRAM, "__adapter"].into_iter().chain(mutant).chain(["--stdio-server", "serve.json"]);
    words.map(str::to_owned).collect()
}

fn tools() -> Value {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "does": { "echo": true } });
    json!([tool("one"), tool("two")])
}

fn run_command(sandbox: &Sandbox, options: &[&str], command: &[String]) -> Finished {
    let words: Vec<_> = options.iter().copied().chain(["--"]).chain(command.iter().map(String::as_str)).collect();
    run(sandbox, &words)
}

#[test]
fn server_over_stdio_is_tested_by_its_command() {
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let sandbox = Sandbox::empty();
        let command = reference(&sandbox, None, revision, &tools());
        let done = run_command(&sandbox, &[], &command);
        done.exits(0).stdout_has(&[
            &format!("revisions     {revision}\n"),
            "capabilities  tools",
            "2 tools       one, two",
            "will be sent",
            "no listed tool with valid arguments; --call TOOL allows that",
            " 0 MUSTs violated, 0 SHOULDs violated",
        ]);
        sandbox.run("replay run.jsonl").exits(0).stdout_has(&[" 0 MUSTs violated, 0 SHOULDs violated"]);
        for absent in ["as expected", "slow", "skipped", "snapshots", "tip:"] {
            assert!(!done.out.contains(absent) && !done.err.contains(absent), "{absent}: {}{}", done.out, done.err);
        }
        let may_be_long = |line: &str| line.starts_with("  command") || line.starts_with("casebook: ");
        assert!(done.out.lines().all(|line| may_be_long(line) || line.chars().count() <= 120), "{}", done.out);
    }
}

#[test]
fn server_with_a_defect_has_a_finding() {
    let sandbox = Sandbox::empty();
    let command = reference(&sandbox, Some("error-id-lost"), "2025-11-25", &tools());
    run_command(&sandbox, &[], &command).exits(1).stdout_has(&["messages/error-has-the-id", "MUST", " violated"]);
    let issue = Finished::of(sandbox.command("issue --run-log run.jsonl").args(["**", "casebook"]));
    issue.exits(0).stdout_has(&["casebook run --only ", " -- ", " --stdio-server serve.json\n"]);
}

/// The ways of a server over stdio that must not end with success, each with words of the output.
const WAYS: [(&str, &[&str]); 7] = [
    ("banner", &["stdio/nothing-but-messages", "`[INFO] the server is ready` is no message"]),
    ("line-after-a-list", &["stdio/nothing-but-messages", "`listed all tools` is no message"]),
    ("last-words", &["stdio/nothing-but-messages", "`good bye` is no message"]),
    ("list-fails", &["casebook cannot read the list", "because the control any-server/arguments/listed does not hold"]),
    ("list-is-null", &["casebook cannot read the list"]),
    ("names-are-numbers", &["casebook cannot read the list", "tools/named"]),
    ("names-lost", &["casebook cannot read the list", "tools/named"]),
];

#[test]
fn server_that_hides_its_tools_or_writes_other_lines_is_no_success() {
    let twist = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/twist.py");
    for (way, words) in WAYS {
        let sandbox = Sandbox::empty();
        let command = reference(&sandbox, None, "2025-11-25", &tools());
        let words_of_command: Vec<_> =
            ["python3", "-S", "-I", twist, way].map(str::to_owned).into_iter().chain(command).collect();
        let done = run_command(&sandbox, &[], &words_of_command);
        assert_eq!(done.status, Some(1), "{way}: {}{}", done.out, done.err);
        done.exits(1).stdout_has(words);
    }
}

#[test]
fn variables_of_env_are_set_and_hidden() {
    let sandbox = Sandbox::empty();
    let command = reference(&sandbox, None, "2025-11-25", &tools());
    let value = format!("MY_VALUE={SECRET}");
    let script = format!("test \"$MY_VALUE\" = {SECRET} || exit 9; exec \"$0\" \"$@\"");
    sandbox.write("my-server.sh", &script);
    let words = ["env".to_owned(), value, "sh".to_owned(), "./my-server.sh".to_owned()];
    // `sh FILE` sets `$0` to the file, so that the program is the first argument.
    sandbox.write("my-server.sh", &script.replace("exec \"$0\" \"$@\"", "exec \"$@\""));
    let words: Vec<_> = words.into_iter().chain(command).collect();
    let done = run_command(&sandbox, &[], &words);
    done.exits(0).stdout_has(&["my-server: "]);
    let log = sandbox.read("run.jsonl");
    assert!(![&done.out, &done.err, &log].iter().any(|text| text.contains(SECRET)), "{}{}{log}", done.out, done.err);
}

#[test]
fn secrets_of_a_command_are_in_no_output_and_no_file() {
    let sandbox = Sandbox::empty();
    let command = reference(&sandbox, None, "2025-11-25", &tools());
    let other = "Zw9-yH3uN6-pB1sD";
    let script = format!("test \"$2\" = {SECRET} || exit 9; echo \"got $2\" >&2; shift 3; exec \"$@\"");
    sandbox.write("my-server.sh", &script);
    let words = ["sh", "./my-server.sh", "--token", SECRET, &format!("--api-key={other}")].map(str::to_owned);
    let words: Vec<_> = words.into_iter().chain(command).collect();
    let done = run_command(&sandbox, &["--verbose"], &words);
    done.exits(0).stdout_has(&["--token", "[token]", "--api-key=[api-key]", "my-server: "]);
    let printed = Finished::of(sandbox.command("new target --").args(&words));
    printed.exits(0).stdout_has(&["\"--token\", \"[token]\", \"--api-key=[api-key]\""]);
    let written = ["run.jsonl", "run.wire.jsonl"].map(|name| sandbox.read(name));
    let shown = [&done, &printed].map(|done| format!("{}{}", done.out, done.err));
    for text in written.iter().chain(&shown) {
        assert!(!text.contains(SECRET) && !text.contains(other), "{text}");
    }
}

#[test]
fn secrets_of_a_url_are_in_no_output_and_no_file() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(mcp(Some(&["one"])));
    let other = "Zw9yH3uN6pB1sDqM";
    let url = format!("{}?api_key={SECRET}&token={other}", server.url());
    let done = run(&sandbox, &[&url, "--verbose"]);
    done.exits(0).stdout_has(&["/mcp?api_key=[api_key]&token=[token]"]);
    let printed = Finished::of(sandbox.command("new target").arg(&url));
    printed.exits(0).stdout_has(&["/mcp?api_key=[api_key]&token=[token]"]);
    let written = ["run.jsonl", "run.wire.jsonl"].map(|name| sandbox.read(name));
    let shown = [&done, &printed].map(|done| format!("{}{}", done.out, done.err));
    for text in written.iter().chain(&shown) {
        assert!(!text.contains(SECRET) && !text.contains(other), "{text}");
    }
}

#[test]
fn running_server_gets_the_headers_and_no_output_has_them() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(|request| {
        let token = request.header("authorization").unwrap_or_default().to_owned();
        let (status, headers, body) = mcp(Some(&["one"]))(request)?;
        // A server that repeats the credentials, in a header and in its name.
        let body = body.replace("recorder", &format!("recorder {token}"));
        Some((status, headers.into_iter().chain([("x-seen", token)]).collect(), body))
    });
    let url = server.url();
    let words = [&url, "--header-env", "Authorization=MY_VALUE", "--header-env", "X-Api-Key=MY_KEY"];
    let mut command = sandbox.command("run --run-log run.jsonl --verbose");
    let done = Finished::of(
        command.args(words).env("MY_VALUE", format!("Bearer {SECRET}")).env("MY_KEY", "k9-Zx72-Lw4R-bYq1"),
    );
    done.exits(0).stdout_has(&["recorder [MY_VALUE]", "revisions     2025-11-25", "127.0.0.1-"]);
    let requests = server.requests();
    let has = |name: &str, value: &str| requests.iter().all(|request| request.header(name) == Some(value));
    assert!(has("authorization", &format!("Bearer {SECRET}")) && has("x-api-key", "k9-Zx72-Lw4R-bYq1"));
    let texts = [done.out.clone(), done.err.clone(), sandbox.read("run.jsonl"), sandbox.read("run.wire.jsonl")];
    for text in texts {
        assert!(!text.contains(SECRET) && !text.contains("k9-Zx72"), "{text}");
    }
}

#[test]
fn private_authority_is_trusted_only_with_its_file() {
    let sandbox = Sandbox::empty();
    let (config, root) = certificate("127.0.0.1", |_| {});
    sandbox.write("root.pem", &root);
    let server = Server::tls(config, mcp(Some(&["one"])));
    let url = server.url();
    run(&sandbox, &[&url]).exits(4).stderr_has(&["signed by an unknown authority", "--cacert FILE"]);
    assert_eq!(server.requests().len(), 0);
    run(&sandbox, &[&url, "--cacert", "root.pem"]).exits(0).stdout_has(&["0 MUSTs violated"]);
    sandbox.write("none.pem", "nothing\n");
    run(&sandbox, &[&url, "--cacert", "none.pem"]).exits(4).stderr_has(&["has no certificate"]);
    run(&sandbox, &[&url, "--cacert", "missing.pem"]).exits(4).stderr_has(&["cannot read", "missing.pem"]);
}

#[test]
fn invalid_certificate_is_named_with_its_fault() {
    let sandbox = Sandbox::empty();
    let (config, root) = certificate("127.0.0.1", |one| {
        one.not_before = rcgen::date_time_ymd(2000, 1, 1);
        one.not_after = rcgen::date_time_ymd(2001, 1, 1);
    });
    sandbox.write("root.pem", &root);
    let expired = Server::tls(config, mcp(None));
    run(&sandbox, &[&expired.url(), "--cacert", "root.pem"]).exits(4).stderr_has(&["its certificate has expired"]);
    let (config, root) = certificate("other.invalid", |_| {});
    sandbox.write("root.pem", &root);
    let other = Server::tls(config, mcp(None));
    run(&sandbox, &[&other.url(), "--cacert", "root.pem"])
        .exits(4)
        .stderr_has(&["its certificate is for another host"]);
    assert_eq!(expired.requests().len() + other.requests().len(), 0);
    let plain = Server::plain(mcp(None));
    run(&sandbox, &[&plain.url().replace("http", "https")]).exits(4).stderr_has(&["does not speak TLS"]);
}

#[test]
fn refusal_is_told_in_words_before_any_test() {
    let sandbox = Sandbox::empty();
    let elsewhere = Server::plain(mcp(Some(&["one"])));
    let place = elsewhere.url();
    let location = place.clone();
    let redirects = Server::plain(move |_| Some((307, vec![("location", location.clone())], String::new())));
    run(&sandbox, &[&redirects.url()]).exits(4).stderr_has(&[&format!("it redirects to {place} (HTTP 307)")]);
    assert_eq!(elsewhere.connections(), 0, "a redirect is not followed");
    let page = || (200, vec![("content-type", "text/html".to_owned())], "<html></html>".to_owned());
    let refused = |status: u16| (status, Vec::new(), "{\"error\":\"no\"}".to_owned());
    for (reply, words) in [
        (refused(401), "it needs authorization (HTTP 401)"),
        (refused(403), "--header-env Authorization=VARIABLE"),
        (refused(404), "it has no MCP endpoint at this path (HTTP 404)"),
        (refused(405), "it accepts no POST request"),
        (refused(500), "it fails (HTTP 500)"),
        (page(), "it answers with a web page"),
    ] {
        let server = Server::plain(move |_| Some(reply.clone()));
        let done = run(&sandbox, &[&server.url()]);
        done.exits(4).stderr_has(&[words]);
        assert_eq!((done.out.as_str(), server.requests().len()), ("", 1), "one request for {words}");
    }
    let rejects = Server::plain(move |_| Some(refused(401)));
    let words = [rejects.url(), "--header-env".to_owned(), "Authorization=MY_VALUE".to_owned()];
    Finished::of(sandbox.command("run").args(words).env("MY_VALUE", "Bearer abc"))
        .exits(4)
        .stderr_has(&["it rejects the request with its headers (HTTP 401)"]);
    run(&sandbox, &["http://127.0.0.1:1/mcp"]).exits(4).stderr_has(&["connection refused"]);
    run(&sandbox, &["https://no-such-host.invalid/mcp"]).exits(4).stderr_has(&["the name of its host is unknown"]);
}

#[test]
fn rate_limit_is_respected_once_and_then_told() {
    let sandbox = Sandbox::empty();
    let limited = |after: &str| (429, vec![("retry-after", after.to_owned())], String::new());
    let once = std::sync::atomic::AtomicBool::new(true);
    let first = limited("1");
    let patient = Server::plain(move |request| {
        let is_first = once.swap(false, std::sync::atomic::Ordering::SeqCst);
        if is_first { Some(first.clone()) } else { mcp(Some(&["one"]))(request) }
    });
    run(&sandbox, &[&patient.url()]).exits(0);
    let [refused, again] = [&patient.requests()[0], &patient.requests()[1]].map(|request| request.body.clone());
    assert_eq!(refused, again);
    let always = limited("3600");
    let never = Server::plain(move |_| Some(always.clone()));
    run(&sandbox, &[&never.url()]).exits(4).stderr_has(&["it is rate-limited (HTTP 429, Retry-After: 3600)"]);
    assert_eq!(never.requests().len(), 1);
    // A limit in the middle of the run says nothing about the conformance of the server.
    let (count, always) = (std::sync::atomic::AtomicUsize::new(0), limited("3600"));
    let later = Server::plain(move |request| {
        let so_far = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if so_far > 12 { Some(always.clone()) } else { mcp(Some(&["one"]))(request) }
    });
    let done = run(&sandbox, &[&later.url(), "--jobs", "1"]);
    done.exits(1).stdout_has(&["given up", "it is rate-limited", "0 MUSTs violated"]);
}

#[test]
fn server_that_never_answers_is_started_only_once() {
    let sandbox = Sandbox::empty();
    let limit = ["--limit", "start=300ms", "--jobs", "1"];
    let server = silent();
    let words: Vec<_> = limit.iter().copied().chain([server.url().leak() as &str]).collect();
    run(&sandbox, &words)
        .exits(4)
        .stderr_has(&["did not answer `initialize` within the time limit", "--limit start=2m"]);
    assert_eq!(server.connections(), 1);
    assert!(is_listening(&server));
    let script = ["sh", "-c", "echo started >> starts; exec sleep 1000"].map(str::to_owned);
    run_command(&sandbox, &limit, &script).exits(4).stderr_has(&["did not answer `initialize`"]);
    assert_eq!(sandbox.read("starts").lines().count(), 1);
    // The same holds with a target.toml, for a server and for an adapter.
    let claims = "[claims]\nrevisions = [\"2025-11-25\"]\n";
    let command = serde_json::to_string(&["sh", "-c", "echo started >> starts; exec sleep 1000"]).expect("strings");
    sandbox.write("t/target.toml", &format!("title = \"T\"\nkind = \"fixed\"\ncommand = {command}\n{claims}"));
    run(&sandbox, &["t", "--limit", "start=300ms", "--jobs", "1"])
        .exits(4)
        .stdout_has(&["given up because it has never answered"]);
    assert_eq!(sandbox.read("t/starts").lines().count(), 1);
    sandbox.script("adapter", "echo started >> starts; exec sleep 1000", "");
    run(&sandbox, &["adapter", "--limit", "start=300ms", "--jobs", "1", "--only", "tools/arguments"]).exits(4);
    assert_eq!(sandbox.read("adapter/starts").lines().count(), 1);
}

#[test]
fn line_that_is_no_message_is_shown_if_no_answer_comes() {
    let sandbox = Sandbox::empty();
    let framed = ["sh", "-c", r"printf 'Content-Length: 2\r\n\r\n{}'; exec sleep 1000"].map(str::to_owned);
    run_command(&sandbox, &["--limit", "start=300ms"], &framed)
        .exits(4)
        .stderr_has(&["its standard output has the line `Content-Length: 2`", "without headers"]);
    let usage = ["sh", "-c", "echo 'usage: server FILE'; read -r line; exit 2"].map(str::to_owned);
    run_command(&sandbox, &[], &usage).exits(4).stderr_has(&["has the line `usage: server FILE`"]);
}

#[test]
fn server_that_never_lists_its_tools_is_reported_at_once() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(|request| mcp(Some(&["one"]))(request).filter(|_| request.method() != "tools/list"));
    run(&sandbox, &[&server.url(), "--limit", "start=1s"])
        .exits(4)
        .stderr_has(&["it did not answer `tools/list` within the time limit", "--limit start=2m"]);
    let asked = server.requests().iter().filter(|request| request.method() == "tools/list").count();
    assert_eq!(asked, 1);
}

#[test]
fn revision_without_an_answer_is_shown() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(|request| {
        let is_other = request.method() == "server/discover";
        mcp(Some(&["one"]))(request).filter(|_| !is_other)
    });
    run(&sandbox, &[&server.url(), "--limit", "start=1s"])
        .exits(0)
        .stdout_has(&["revisions     2025-11-25, 2026-07-28 (no answer)\n"]);
}

#[test]
fn listed_tool_is_called_only_if_the_user_allows_it() {
    let sandbox = Sandbox::empty();
    let names = ["test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"];
    for (options, expected) in
        [(&[] as &[&str], [false, false]), (&["--call", names[0]], [true, false]), (&["--call", "*"], [true, true])]
    {
        let server = Server::plain(mcp(Some(&names)));
        let words: Vec<_> = [server.url().leak() as &str].into_iter().chain(options.iter().copied()).collect();
        run(&sandbox, &words);
        let called = server.called();
        assert_eq!(names.map(|name| called.iter().any(|call| call == name)), expected, "{options:?}: {called:?}");
        assert!(called.iter().any(|call| call.contains("no-such-tool")), "unknown tools are asked for: {called:?}");
    }
    let server = Server::plain(mcp(Some(&names)));
    run(&sandbox, &[&server.url(), "--call", "test_elicitation_sep1034_default"])
        .exits(2)
        .stderr_has(&["the server lists no such tool", "did you mean"]);
}

#[test]
fn permitted_call_has_the_arguments_of_the_file() {
    let sandbox = Sandbox::empty();
    sandbox.write("query.json", r#"{"query": "from the file"}"#);
    let server = Server::plain(mcp(Some(&["search", "other"])));
    run(&sandbox, &[&server.url(), "--call", "search=@query.json"]);
    let requests = server.requests();
    let given = |tool: &str| {
        let is_it = |request: &&crate::http::Request| request.body["params"]["name"] == *tool;
        requests.iter().filter(is_it).any(|request| request.body["params"]["arguments"]["query"] == "from the file")
    };
    assert!(given("search") && !given("other"));
    sandbox.write("list.json", "[1]");
    sandbox.write("deep.json", &"[".repeat(200));
    for (file, reason) in [
        ("missing.json", "cannot read missing.json"),
        ("list.json", "is not a JSON object"),
        ("deep.json", "has more than 100 levels"),
        ("sandbox", "cannot read sandbox"),
    ] {
        let call = format!("search=@{file}");
        run(&sandbox, &[&server.url(), "--call", &call]).exits(2).stderr_has(&[reason]);
    }
    for call in ["*=@list.json", "search=@"] {
        run(&sandbox, &[&server.url(), "--call", call]).exits(2).stderr_has(&["the name of one tool"]);
    }
    run(&sandbox, &[&server.url(), "--call", "zip"]).exits(2).stderr_has(&["no such tool; it lists search, other"]);
}

#[test]
fn tool_is_not_called_if_the_list_cannot_be_read() {
    let sandbox = Sandbox::empty();
    let name = "test_elicitation_sep1034_defaults";
    let unnamed = json!({ "name": 7, "inputSchema": { "type": "object" } });
    for tools in [json!([unnamed, { "name": name, "inputSchema": { "type": "object" } }]), json!({ "0": unnamed })] {
        let server = Server::plain(move |request| {
            let (status, headers, body) = mcp(Some(&[name]))(request)?;
            let mut body: Value = serde_json::from_str(&body).unwrap_or_default();
            if body["result"]["tools"].is_array() {
                body["result"]["tools"] = tools.clone();
            }
            Some((status, headers, if body.is_null() { String::new() } else { body.to_string() }))
        });
        run(&sandbox, &[&server.url()]);
        let called = server.called();
        assert!(!called.iter().any(|call| call == name), "{called:?}");
        assert!(server.requests().iter().any(|request| request.method() == "tools/list"));
    }
}

#[test]
fn server_without_tools_is_asked_for_them_once() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(mcp(None));
    run(&sandbox, &[&server.url()]).exits(0).stdout_has(&["capabilities  none", "0 tools       none"]);
    let requests = server.requests();
    let asked: Vec<_> = requests.iter().map(crate::http::Request::method).collect();
    let lists = asked.iter().filter(|method| **method == "tools/list").count();
    assert!(lists == 1 && !asked.contains(&"tools/call"), "{asked:?}");
    assert!(asked.contains(&"tools/casebook-nothing"), "{asked:?}");
    // The same holds for the target.toml of the server.
    let printed = Finished::of(sandbox.command("new target").arg(server.url())).out;
    let printed = printed
        .replace("# lacks", "lacks")
        .replace("[\"2025-06-18\", \"2025-11-25\", \"2026-07-28\"]", "[\"2025-11-25\"]");
    sandbox.write("t/target.toml", &printed);
    let before = server.requests().len();
    sandbox.run("run t").exits(0).stdout_has(&["as expected"]);
    let requests = server.requests().split_off(before);
    let asked: Vec<_> = requests.iter().map(crate::http::Request::method).collect();
    assert!(!asked.iter().any(|method| ["tools/list", "tools/call"].contains(method)), "{asked:?}");
    assert!(asked.contains(&"tools/casebook-nothing"), "{asked:?}");
}

#[test]
fn server_of_another_revision_has_no_tests() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(|request| {
        let (status, headers, body) = mcp(Some(&["one"]))(request)?;
        Some((status, headers, body.replace("2025-11-25", "2024-11-05")))
    });
    run(&sandbox, &[&server.url()])
        .exits(3)
        .stderr_has(&["it declares only 2024-11-05, and casebook tests 2025-06-18"]);
    let command = ["sh", "-c", "echo bye >&2; exit 7"].map(str::to_owned);
    run_command(&sandbox, &[], &command).exits(4).stderr_has(&["ended before it answered", "bye"]);
    run_command(&sandbox, &[], &["./no-such-program".to_owned()]).exits(4).stderr_has(&["cannot start"]);
}

#[test]
fn wrong_use_is_refused_before_anything_is_sent() {
    let sandbox = Sandbox::empty();
    let server = Server::plain(mcp(None));
    let url = server.url();
    for (words, reason) in [
        (vec![&url, "--header-env", "Host=A"], "casebook sets the header `Host` itself"),
        (vec![&url, "--header", SECRET], "'--header-env'"),
        (vec![&url, "--header-env", "Authorization=NO_SUCH_VARIABLE_HERE"], "the variable is not set"),
        (vec![&url, "--cacert", "root.pem"], "--cacert is for an https:// URL"),
        (vec![&url, "reference"], "a URL is tested alone"),
        (vec!["http://me:kQ8vT2mZx7Lw4RbY@127.0.0.1/"], "has a user or a password"),
        (vec!["reference", "--header-env", "A=B"], "are for a URL"),
        (vec!["reference", "--call", "one"], "for a server without a target.toml"),
        (vec![&url, "--accept"], "needs a target.toml"),
    ] {
        let words: Vec<&str> = words.into_iter().map(|word| word as &str).collect();
        let done = run(&sandbox, &words);
        done.exits(2).stderr_has(&[reason]);
        assert!(!done.err.contains(SECRET), "{}", done.err);
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn new_target_prints_a_target_that_runs() {
    let sandbox = Sandbox::empty();
    sandbox.run("new target").exits(2).stderr_has(&["<URL>"]);
    let mut command = reference(&sandbox, None, "2026-07-28", &tools());
    if let Some(file) = command.last_mut() {
        *file = format!("../{file}");
    }
    let printed = Finished::of(sandbox.command("new target --").args(&command));
    printed.exits(0).stdout_has(&["kind = \"fixed\"\n", "\"../serve.json\"]\n", "revisions = [\"2025-06-18\", "]);
    sandbox.write("my-server/target.toml", &printed.out.replace("\"2025-06-18\", \"2025-11-25\", ", ""));
    sandbox.run("run ./my-server").exits(0);
    sandbox.run("new workflow").exits(0).stdout_has(&["name: casebook\n", "target: conformance "]);
    sandbox.run("new target https://me:secret@example.com").exits(2).stderr_has(&["has a user or a password"]);
}

#[test]
fn target_toml_has_roots_and_headers_of_the_environment() {
    let sandbox = Sandbox::empty();
    let (config, root) = certificate("127.0.0.1", |_| {});
    sandbox.write("root.pem", &root);
    let server = Server::tls(config, |request| {
        let has = request.header("authorization").is_some();
        if has { mcp(Some(&["one"]))(request) } else { Some((401, Vec::new(), String::new())) }
    });
    let printed = Finished::of(sandbox.command("new target").arg(server.url())).out;
    let with_root = printed.replace("# header-env", "cacert = \"../root.pem\"\nheader-env");
    sandbox
        .write("t/target.toml", &with_root.replace("\"2025-06-18\", \"2025-11-25\", \"2026-07-28\"", "\"2025-11-25\""));
    Finished::of(sandbox.command("run ./t").env("MCP_TOKEN", format!("Bearer {SECRET}"))).exits(0);
    sandbox.run("run ./t").exits(4).stdout_has(&["the environment variable MCP_TOKEN for `Authorization` is not set"]);
}
