//! Misbehaving clients: each affects only its own test, is reported with a reason, and leaves no process behind.

use serde_json::{Value, json};

use super::{LONG, MARGIN, SHORT, lines, outcomes, run_in_bounded_memory};
use crate::sandbox::{PROGRAM, Sandbox};

/// Clients: name, shell code for `visitor.sh`, and the expected outcome of each of the two steps.
const ROGUES: [(&str, &str, [&str; 2]); 24] = [
    (
        "never-connects",
        r#"echo "{\"id\":\"$id\",\"drove\":{\"connected\":false,\"error\":{\"type\":\"E\",\"message\":\"no\"}}}""#,
        ["refused"; 2],
    ),
    ("never-answers", "sleep 1000", ["timeout"; 2]),
    ("says-nothing", "sleep 1000 | server", ["timeout"; 2]),
    ("says-half", r#"{ message "$list" | head -c 20; sleep 1000; } | server"#, ["timeout"; 2]),
    ("floods", "flood | server; sleep 1000", ["timeout"; 2]),
    ("floods-in-one-line", "yes | tr -d '\\n' | server; sleep 1000", ["timeout"; 2]),
    ("sends-a-header-without-end", "web && { head_of 'x: '; endless; } | server; good", ["success"; 2]),
    (
        "sends-a-body-without-end",
        r"web && { head_of 'transfer-encoding: chunked\r\n\r\nffffffff\r\n'; endless; } | server; good",
        ["success"; 2],
    ),
    (
        "sends-many-bodies-at-once",
        r"many_bodies() { head_of 'content-length: 16000000\r\n\r\n'; many 15000000 a; sleep 1000; }
          web && { for _ in {1..24}; do many_bodies | server & done; sleep 1; }; good",
        ["success"; 2],
    ),
    ("floods-stdout", "yes", ["invalid-message"; 2]),
    ("floods-stdout-in-one-line", "cat /dev/zero", ["oversized"; 2]),
    ("floods-stderr", "yes >&2", ["timeout"; 2]),
    ("mumbles-to-the-server", r#"message "no JSON" 'connection: close\r\n' | server; good"#, ["success"; 2]),
    ("mumbles", "echo no JSON; sleep 1000", ["timeout"; 2]),
    ("mumbles-in-json", r#"echo "{\"id\":\"$id\",\"drove\":7}""#, ["invalid-message"; 2]),
    ("outlives-its-script", "ask; { flood | server; sleep 1000; } & thanks", ["success"; 2]),
    ("leaves-its-group", "setsid sleep 1000 & good", ["success"; 2]),
    ("leaves-early", "exit 7", ["crash"; 2]),
    ("dies-in-the-middle", r#"message "$list" | server & kill -9 $$"#, ["crash"; 2]),
    ("answers-too-little", r#"hand_over '{"tools":[]}'"#, ["invalid-message"; 2]),
    ("answers-too-much", r#"hand_over '{"tools":[]},{"result":{}},{"result":{}}'"#, ["invalid-message"; 2]),
    ("answers-other-things", r#"hand_over '{"result":{}},7'"#, ["invalid-message"; 2]),
    ("hands-over-too-much", r#"printf '{"id":"%s","drove":"' "$id"; many 104857600 a; echo '"}'"#, ["oversized"; 2]),
    (
        "hands-over-too-deep",
        r#"ask; hand_over '{"tools":[]},{"result":{"content":[],"structuredContent":'"$(many 10000 '[')$(many 10000 ']')"'}}'"#,
        ["success"; 2],
    ),
];

/// Creates a client, over both transports on the newest revision, that runs the script when it should call `lose`.
fn visitor(sandbox: &Sandbox, name: &str, script: &str) {
    sandbox.lay_out("visitor.sh");
    let command = json!(["bash", "../visitor.sh", script]);
    let claims = "roles = [\"client\"]\ntransports = [\"stdio\", \"http\"]\nrevisions = [\"2026-07-28\"]";
    let env = format!("env = {{ CASEBOOK = {PROGRAM:?} }}");
    let text = format!("title = \"A client\"\ncommand = {command}\n{env}\n\n[claims]\n{claims}\n");
    sandbox.write(&format!("{name}/target.toml"), &text);
}

fn is_lost(visit: &Value) -> bool {
    visit["test"].as_str().is_some_and(|test| test.starts_with("post/visit/lost@"))
}

/// The messages of a test.
fn messages(visit: &Value) -> Vec<&str> {
    let steps = visit["steps"].as_array().expect("steps").iter();
    let messages = steps.flat_map(|step| step["messages"].as_array().expect("messages"));
    messages.map(|message| message["text"].as_str().expect("a text")).collect()
}

/// Runs clients, compares their records with the table, and returns the lines of the wire file.
fn run_all(rogues: &[&(&str, &str, [&str; 2])], limit: u64) -> Vec<Value> {
    let sandbox = Sandbox::visited();
    for (name, script, _) in rogues {
        visitor(&sandbox, name, script);
    }
    let names: Vec<_> = rogues.iter().map(|(name, ..)| *name).collect();
    let limits = format!("--limit step={limit}s --limit test={}s --jobs 8", 2 * limit + MARGIN);
    run_in_bounded_memory(&sandbox, &format!("run {} --cases visits --run-log run.jsonl {limits}", names.join(" ")));
    assert_eq!(sandbox.survivors(), 0);
    let records = lines(&sandbox, "run.jsonl");
    for (name, _, lost) in rogues {
        let own = records.iter().map(|line| &line["record"]).filter(|record| record["target"] == *name);
        let mut visits = 0;
        for record in own {
            let expected = if is_lost(record) { *lost } else { ["success"; 2] };
            assert_eq!(outcomes(record), expected, "{name}: {record}");
            let seconds = 2 * limit + MARGIN;
            assert!(record["micros"].as_u64().is_some_and(|micros| micros <= seconds * 1_000_000), "{name}: {record}");
            visits += 1;
        }
        assert_eq!(visits, 4, "{name}");
    }
    lines(&sandbox, "run.wire.jsonl")
}

#[test]
fn misbehaving_client_affects_only_its_own_test() {
    let (waiting, others): (Vec<_>, Vec<_>) = ROGUES.iter().partition(|(_, _, lost)| lost[0] == "timeout");
    let mut wire = run_all(&waiting, SHORT);
    wire.extend(run_all(&others, LONG));
    let said = |name: &str| -> Vec<Vec<&str>> {
        let own = wire.iter().filter(|visit| visit["target"] == name && is_lost(visit));
        own.map(messages).collect()
    };
    for (name, least, most) in [("never-connects", 0, 0), ("says-nothing", 0, 0), ("floods", 500, 1000)] {
        let counts: Vec<_> = said(name).iter().map(Vec::len).collect();
        assert!(counts.len() == 2 && counts.iter().all(|count| (least..=most).contains(count)), "{name}: {counts:?}");
    }
    let mumbled = said("mumbles-to-the-server");
    assert!(mumbled.iter().all(|said| said[0] == "no JSON" && said[1].contains("-32700")), "{mumbled:?}");
}

#[test]
fn smoke_of_a_miscounting_client_shows_the_right_answer() {
    let sandbox = Sandbox::visited();
    visitor(&sandbox, "miscounts", "");
    let finished = sandbox.run("smoke miscounts");
    let wrong =
        "WRONG   drive: an elicitation over stdio on 2026-07-28\n          got: it answered 2 steps of a script of 1";
    finished.exits(4).stdout_has(&[
        "right   hello: claims of target.toml",
        wrong,
        r#"expected: {"id":ID,"drove":"#,
        "and 1 more of the same",
    ]);
    assert!(!finished.out.contains("serve"), "it claims no server side");
}

#[test]
fn late_messages_of_a_client_reach_no_other_test() {
    let sandbox = Sandbox::visited();
    visitor(&sandbox, "late", "ask; { flood | server; sleep 1000; } & thanks");
    sandbox.run("run late --cases visits --run-log run.jsonl --jobs 1").exits(0);
    let visits = lines(&sandbox, "run.wire.jsonl");
    assert_eq!(visits.len(), 4);
    for visit in visits.iter().filter(|visit| !is_lost(visit)) {
        let late = messages(visit).into_iter().find(|message| message.contains("tools/list"));
        assert_eq!(late, None, "{visit}");
    }
    assert_eq!(sandbox.survivors(), 0);
}
