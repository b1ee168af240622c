//! `smoke`: the mistakes that an author of an adapter makes, and the answers to them.

use crate::sandbox::Sandbox;

/// An adapter in Python, to which each test adds one mistake.
const ADAPTER: &str = r#"
import http.server, json, sys, threading

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        tool = {"name": "smoke", "description": "A tool.", "inputSchema": {"type": "object"}}
        result = {"tools": [tool], "ttlMs": 0, "cacheScope": "private"}
        if asked["method"] == "tools/call": result = call(self.server.does, asked["params"])
        result = {"resultType": "complete", **result}
        text = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        on_call(asked)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

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
        server.does = request["serve"]["fixture"]["tools"][0]["does"]
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
    finished.exits(0).stdout_has(&["right   serve: elicit over http", "8 right. Next: casebook run mine\n"]);
}

#[test]
fn result_that_differs_from_the_fixture_is_odd() {
    let sandbox = with_mistake(
        "original = call\n\
         def call(does, params):\n    \
             result = original(does, params)\n    \
             if not 'elicit' in does: result.pop('structuredContent', None)\n    \
             return {'content': []} if 'raise' in does else result",
    );
    let finished = sandbox.run("smoke mine");
    finished.exits(0).stdout_has(&[
        "odd     serve: echo over http on 2026-07-28\n          got: {\"jsonrpc\"",
        r#"expected: a result with the arguments: "structuredContent":{"name":"Ada"}"#,
        "odd     serve: return over http",
        "odd     serve: raise over http",
        "right   serve: elicit over http",
        "Either the adapter or the SDK changes it.",
        "5 right, 3 odd. Next: casebook run mine\n",
    ]);
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
