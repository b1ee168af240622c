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
        result = {"tools": [tool], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        text = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        on_call(asked)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

def on_call(asked): pass
def on_serve(request): pass
def url(port): return "http://127.0.0.1:%d/mcp" % port
def identify(request): return request["id"]
MISTAKE

hello = {"sdk": "x", "version": "1", "language": "python", "api": "none", "roles": ["server"], "transports": ["http"],
         "revisions": ["2026-07-28"]}
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request: answer = {"hello": hello}
    elif "serve" in request:
        on_serve(request)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        answer = {"serving": {"url": url(server.server_port)}}
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
    with_mistake("").run("smoke mine").exits(0);
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
