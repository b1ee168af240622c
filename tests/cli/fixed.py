"""A client as the official conformance suite starts it: it runs the scenario of the environment variable
MCP_CONFORMANCE_SCENARIO, and misbehaves as its first argument selects."""

import json
import os
import sys
import urllib.error
import urllib.request

MODE, URL = sys.argv[1], sys.argv[-1]
SCENARIO = os.environ["MCP_CONFORMANCE_SCENARIO"]
REVISION = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientInfo": {"name": "visitor", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
ids = iter(range(1, 100))


def ask(method, **params):
    message = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": {**params, "_meta": META}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": method,
    }
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    request = urllib.request.Request(URL, json.dumps(message).encode(), headers)
    body = urllib.request.urlopen(request).read().decode()
    lines = [line[5:] for line in body.splitlines() if line.startswith("data:")]
    return json.loads(lines[-1] if lines else body)["result"]


if MODE == "idle":
    sys.exit(0)
tools = {tool["name"]: tool for tool in ask("tools/list")["tools"]}
if MODE == "fails":
    sys.exit("the last words")
if MODE == "hangs":
    sys.stdin.read()
    import time

    time.sleep(1000)
if SCENARIO == "json-schema-ref-no-deref" and MODE == "fetches":
    address = tools["lookup_user"]["inputSchema"]["properties"]["profile"]["$ref"]
    urllib.request.urlopen(address).read()
elif SCENARIO == "json-schema-2020-12-preservation":
    schema = tools["json_schema_2020_12_tool"]["inputSchema"]
    if MODE == "strips":
        schema = {"type": "object", "properties": schema["properties"]}
    ask("tools/call", name="json_schema_echo", arguments={"schema": schema})
elif SCENARIO == "elicitation-sep1034-client-defaults":
    call = {"name": "test_client_elicitation_defaults", "arguments": {}}
    result = ask("tools/call", **call)
    answers = {}
    for key, request in result["inputRequests"].items():
        fields = request["params"]["requestedSchema"]["properties"].items()
        content = {name: None if MODE == "forgets" else field["default"] for name, field in fields}
        answers[key] = {"action": "accept", "content": content}
    state = {"requestState": result["requestState"]} if "requestState" in result else {}
    ask("tools/call", **call, inputResponses=answers, **state)
