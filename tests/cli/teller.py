"""A server over stdio that leaks secrets of its environment in results, in errors and on standard error.

    teller.py [dies] [--stdio-server FILE]
"""

import json
import os
import sys

TOKEN, KEY = os.environ["TOKEN"], os.environ["POST_API_KEY"]


def result(request):
    method, params = request["method"], request.get("params", {})
    if method == "tools/list":
        schema = {"type": "object", "properties": {TOKEN: {"const": KEY}}}
        return {"result": {"resultType": "complete", "tools": [{"name": "send", "description": TOKEN, "inputSchema": schema}]}}
    if params.get("arguments", {}).get("weight") == 2:
        structured = {"token": TOKEN, KEY: [TOKEN]}
        content = [{"type": "text", "text": json.dumps(structured)}]
        return {"result": {"resultType": "complete", "content": content, "structuredContent": structured}}
    return {"error": {"code": -32000, "message": f"no such letter for {TOKEN}", "data": {KEY: TOKEN}}}


print("given:", TOKEN, KEY, file=sys.stderr, flush=True)
if "dies" in sys.argv:
    sys.exit(f"the last words: {TOKEN}")
claims = {"roles": ["server"], "transports": ["stdio"], "revisions": ["2026-07-28"]}
hello = {"sdk": "x", "version": "1", "language": "py", "api": "none", **claims}
for line in sys.stdin:
    request = json.loads(line)
    if "--stdio-server" in sys.argv:
        print(json.dumps({"jsonrpc": "2.0", "id": request.get("id"), **result(request)}), flush=True)
    else:
        print(json.dumps({"id": request["id"], "hello": hello}), flush=True)
