//! `smoke`: the mistakes that an author of an adapter makes, and the answers to them.

use crate::sandbox::{PROGRAM, Sandbox};

/// An adapter in Python, to which each test adds one mistake.
const ADAPTER: &str = r#"
import http.server, json, sys, threading

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tool = self.server.tool
        result = {"tools": [listed(tool)], "ttlMs": 0, "cacheScope": "private"}
        if asked["method"] == "tools/call": result = call(tool["does"], asked["params"])
        result = {"resultType": "complete", **result}
        text = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        on_call(asked)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

def listed(tool): return {key: value for key, value in tool.items() if key != "does"}

def call(does, params):
    text = [{"type": "text", "text": "smoke"}]
    if "echo" in does: return {"structuredContent": params["arguments"], "content": text}
    if "raise" in does: return {"isError": True, "content": text}
    if "return" in does: return does["return"]
    if "inputResponses" in params: return {"structuredContent": params["inputResponses"]["it"], "content": text}
    question = {"method": "elicitation/create", "params": does["elicit"]}
    return {"resultType": "input_required", "inputRequests": {"it": question}}

def on_call(asked): pass
def on_serve(request): pass
def serving(port): return {"url": url(port)}
def url(port): return "http://127.0.0.1:%d/mcp" % port
def identify(request): return request["id"]
hello = {"sdk": "x", "version": "1", "language": "python", "api": "none", "roles": ["server"], "transports": ["http"],
         "revisions": ["2026-07-28"]}
MISTAKE

for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request: answer = {"hello": hello}
    elif "serve" in request:
        on_serve(request)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.tool = request["serve"]["fixture"]["tools"][0]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        answer = {"serving": serving(server.server_port)}
    elif "stop" in request: answer = {"stopped": True}
    else: answer = {"unsupported": "unknown request"}
    id = identify(request)
    print(json.dumps({"id": id, **answer} if id is not None else answer), flush=True)
"#;

fn with_mistake(mistake: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("mine/adapter.py", &ADAPTER.replace("MISTAKE", mistake));
    sandbox.target("mine", &["python3", "adapter.py"], "");
    sandbox
}

#[test]
fn adapter_without_mistake_is_right() {
    let finished = with_mistake("").run("smoke mine");
    finished.exits(0).stdout_has(&["right   serve: elicit over http", "11 right. Next: casebook run mine\n"]);
}

#[test]
fn result_that_differs_from_the_fixture_is_odd() {
    let sandbox = with_mistake(
        "original = call\n\
         def call(does, params):\n    \
             result = original(does, params)\n    \
             if not 'elicit' in does: result.pop('structuredContent', None)\n    \
             return result",
    );
    let finished = sandbox.run("smoke mine");
    finished.exits(0).stdout_has(&[
        "odd     serve: echo over http on 2026-07-28\n          got: {\"jsonrpc\"",
        r#"expected: a result with the arguments: "structuredContent":{"name":"Ada"}"#,
        "odd     serve: return over http",
        "odd     serve: echo of unusual values over http",
        "right   serve: elicit over http",
        "Either the adapter or the SDK changes it.",
        "8 right, 3 odd. Next: casebook run mine\n",
    ]);
}

#[test]
fn changed_arguments_and_schemas_are_named() {
    let sandbox = with_mistake(
        "original = call\n\
         def call(does, params):\n    \
             arguments = {key: value for key, value in params['arguments'].items() if value is not None}\n    \
             return original(does, {**params, 'arguments': arguments})\n\
         def listed(tool): return {'name': tool['name'], 'inputSchema': {'type': 'object'}}",
    );
    sandbox.run("smoke mine").exits(0).stdout_has(&[
        "right   serve: echo over http",
        "odd     serve: echo of unusual values over http",
        "got: lacks /null; lacks /structuredContent\n",
        "odd     serve: a schema with unusual values over http",
        "got: lacks /title; lacks /properties; lacks /required; lacks /x-casebook\n",
        "odd     serve: a schema that is a string over http",
        "expected: `refused`, an error, no tool, or the tool with \"inputSchema\":\"no schema\"",
    ]);
}

#[test]
fn exception_that_becomes_a_success_is_wrong() {
    let sandbox = with_mistake(
        "original = call\n\
         def call(does, params): return {'content': []} if 'raise' in does else original(does, params)",
    );
    sandbox.run("smoke mine").exits(4).stdout_has(&[
        "WRONG   serve: raise over http on 2026-07-28",
        "expected: a result with \"isError\":true, or a JSON-RPC error",
        "1 WRONG: correct the adapter",
    ]);
}

#[test]
fn server_that_ends_after_an_exception_is_odd() {
    let sandbox = with_mistake(
        "original, failed = call, []\n\
         def call(does, params):\n    \
             if 'raise' in does: failed.append(True)\n    \
             return original(does, params)\n\
         def on_call(asked):\n    \
             if asked['method'] == 'tools/list' and failed:\n        \
                 failed.clear()\n        \
                 raise OSError('broken')",
    );
    sandbox.run("smoke mine").exits(0).stdout_has(&[
        "odd     serve: raise over http on 2026-07-28",
        "to `tools/list` after the error",
        "expected: a server that goes on after a tool has failed",
    ]);
}

#[test]
fn server_that_is_announced_too_early_is_wrong() {
    let sandbox = with_mistake(
        "class Late(http.server.ThreadingHTTPServer):\n    \
             def server_activate(self):\n        \
                 threading.Timer(0.2, super().server_activate).start()\n\
         http.server.ThreadingHTTPServer = Late",
    );
    sandbox.run("smoke mine").exits(4).stdout_has(&[
        "WRONG   serve: ",
        "; the same request succeeded 300 ms later",
        "expected: `serving` only when the server can be reached",
    ]);
}

#[test]
fn adapter_that_dies_of_a_wrong_schema_is_wrong() {
    let sandbox = with_mistake("def on_serve(request): request['serve']['fixture']['tools'][0]['inputSchema']['type']");
    sandbox.run("smoke mine").exits(4).stdout_has(&[
        "WRONG   serve: a schema that is a string over http",
        "got: it ended with exit status 1",
        "1 WRONG: correct the adapter",
    ]);
}

/// A filter between casebook and the reference's client, to which each test adds one mistake.
const CLIENT: &str = r#"
import json, subprocess, sys

def on_order(order): pass
def on_drove(drove): pass
MISTAKE

client = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    request = json.loads(line)
    if "drive" in request: on_order(request["drive"])
    print(json.dumps(request), file=client.stdin, flush=True)
    answer = json.loads(client.stdout.readline())
    if "drove" in answer: on_drove(answer["drove"])
    print(json.dumps(answer), flush=True)
client.stdin.close()
client.wait()
"#;

fn client_with_mistake(mistake: &str) -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("mine/adapter.py", &CLIENT.replace("MISTAKE", mistake));
    let command = format!("[\"python3\", \"adapter.py\", {PROGRAM:?}, \"__adapter\"]");
    let claims = "roles = [\"client\"]\ntransports = [\"http\"]\nrevisions = [\"2025-11-25\", \"2026-07-28\"]";
    sandbox.write("mine/target.toml", &format!("title = \"A client\"\ncommand = {command}\n\n[claims]\n{claims}\n"));
    sandbox
}

#[test]
fn client_without_mistake_is_right() {
    let finished = client_with_mistake("").run("smoke mine");
    finished.exits(0).stdout_has(&["18 right. Next: casebook run mine\n"]);
}

#[test]
fn results_that_a_client_changes_are_named() {
    let sandbox = client_with_mistake(
        "def on_drove(drove):\n    \
             for step in drove['steps']:\n        \
                 if 'result' in step: step['result'].pop('_meta', None)\n        \
                 for tool in step.get('tools', []): tool.pop('annotations', None)",
    );
    sandbox.run("smoke mine").exits(0).stdout_has(&[
        "odd     drive: a list and a call with unusual values over http on 2025-11-25",
        "got: the tool: lacks /annotations; the result: lacks /_meta\n",
        "and 1 more of the same",
        "16 right, 2 odd",
    ]);
}

#[test]
fn arguments_that_a_client_changes_are_named() {
    let sandbox = client_with_mistake(
        "def on_order(order):\n    \
             for step in order['script']:\n        \
                 if step.get('callTool', {}).get('arguments'): step['callTool']['arguments']['null'] = ''",
    );
    sandbox
        .run("smoke mine")
        .exits(0)
        .stdout_has(&["got: the arguments: /null is \"\", not null\n", "16 right, 2 odd"]);
}

#[test]
fn request_that_the_server_refuses_is_odd() {
    let sandbox = client_with_mistake(
        "def on_order(order):\n    \
             for step in order['script']:\n        \
                 if 'callTool' in step: step['callTool'].setdefault('arguments', [1])",
    );
    let refused = "the server refused the request: {\"jsonrpc\"";
    sandbox.run("smoke mine").exits(0).stdout_has(&["odd     drive: a call over http", refused]);
}

#[test]
fn answer_that_nobody_gave_is_wrong() {
    let more = |more: &str| format!("def on_order(order): 'answers' in order and order['answers'].append({more})");
    let sandbox = client_with_mistake(&more("order['answers'][0]"));
    sandbox.run("smoke mine").exits(4).stdout_has(&[
        "WRONG   drive: two elicitations and one answer over http on 2025-11-25",
        "got: a second \"accept\", which nobody gave",
        "2 WRONG: correct the adapter",
    ]);
    let sandbox = client_with_mistake(&more("'decline'"));
    sandbox.run("smoke mine").exits(0).stdout_has(&["got: the second answer \"decline\"", "16 right, 2 odd"]);
}

#[test]
fn serving_that_is_a_string_is_explained_once() {
    let sandbox = with_mistake("def serving(port): return url(port)");
    let finished = sandbox.run("smoke mine");
    finished.exits(4).stdout_has(&[
        "got: it sent an invalid answer: `serving` must be an object, as in {\"url\":\"http://…\"}\n",
        "and 3 more of the same",
        "4 WRONG: correct the adapter before its SDK is tested\n",
    ]);
    assert_eq!(finished.out.matches("must be an object").count(), 1, "{}", finished.out);
}

#[test]
fn hello_without_roles_is_explained() {
    let sandbox = with_mistake("hello['roles'] = []");
    sandbox
        .run("smoke mine")
        .exits(4)
        .stdout_has(&["target.toml claims the role `server`, but the adapter's hello names no roles (key `roles`)"]);
    let sandbox = with_mistake("hello['roles'] = 'server'");
    sandbox.run("smoke mine").exits(4).stdout_has(&["a member of `hello` has a wrong type; expected as in {\"sdk\""]);
}

#[test]
fn exception_is_shown_from_its_end() {
    let sandbox = with_mistake(
        "def on_serve(request, depth=30):\n    if depth: on_serve(request, depth - 1) or None\n    else: raise ValueError('no such schema')",
    );
    let finished = sandbox.run("smoke mine");
    finished.exits(4).stdout_has(&[
        "got: it ended with exit status 1",
        "lines before these are left out",
        "wrote: ValueError: no such schema",
    ]);
    assert!(!finished.out.contains("Traceback"), "{}", finished.out);
}

#[test]
fn id_that_is_a_number_or_missing_is_explained() {
    for (identify, mistake) in [
        ("int(request['id'])", r#"its answer has "id":1; an id is a string, and is repeated as it came: "id":"1""#),
        ("None", r#"its answer has no id; an id is a string, and is repeated as it came: "id":"1""#),
    ] {
        let sandbox = with_mistake(&format!("def identify(request): return {identify}"));
        sandbox.run("smoke mine").exits(4).stdout_has(&["WRONG   hello", mistake, r#"expected: {"id":"1","hello":"#]);
    }
}

#[test]
fn output_beside_answers_is_reported_over_http() {
    let sandbox = with_mistake("def on_call(asked): print('called', asked['method'], flush=True)");
    sandbox.run("smoke mine").exits(0).stdout_has(&[
        "noise   serve: echo over http on 2026-07-28",
        "wrote: called tools/list",
        "expected: nothing but answers on standard output",
    ]);
}

#[test]
fn url_without_scheme_is_shown() {
    let sandbox = with_mistake("def url(port): return 'localhost/mcp'");
    sandbox.run("smoke mine").exits(4).stdout_has(&[
        "got: the `url` localhost/mcp, which does not begin with http://",
        r#"expected: {"id":ID,"serving":{"url":"http://127.0.0.1:"#,
    ]);
}

#[test]
fn id_of_another_request_is_explained() {
    let sandbox = with_mistake("def identify(request): return '1'");
    sandbox.run("smoke mine").exits(4).stdout_has(&[
        "right   hello",
        "it wrote an object that is no answer to this request: repeat the `id` of the request",
    ]);
}
