"""A server over stdio in which every URL that the protocol permits points to $PLACE."""

import json
import os
import sys

PLACE = os.environ["PLACE"]
icon = {"src": f"{PLACE}/icon.png", "mimeType": "image/png"}
schema = {
    "$schema": f"{PLACE}/dialect",
    "$id": f"{PLACE}/id",
    "type": "object",
    "properties": {"a": {"$ref": f"{PLACE}/ref"}, "b": {"$dynamicRef": f"{PLACE}/dynamic#x"}, "c": {"$ref": "c.json"}},
}
tool = {"name": "one", "icons": [icon], "inputSchema": schema, "outputSchema": schema, "_meta": {"link": PLACE}}
info = {"name": "unfetched", "version": "1", "websiteUrl": PLACE, "icons": [icon]}
link = {"type": "resource_link", "uri": f"{PLACE}/resource", "name": "r", "icons": [icon]}
embedded = {"type": "resource", "resource": {"uri": f"{PLACE}/embedded", "text": PLACE}}
common = {"resultType": "complete", "serverInfo": info, "capabilities": {"tools": {}}, "instructions": PLACE}
results = {
    "initialize": {**common, "protocolVersion": "2025-11-25"},
    "tools/list": {"resultType": "complete", "tools": [tool]},
    "tools/call": {"resultType": "complete", "content": [link, embedded], "structuredContent": {"$ref": PLACE}},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    if request.get("method") in results:
        answer["result"] = results[request["method"]]
    else:
        answer["error"] = {"code": -32601, "message": PLACE, "data": {"$ref": PLACE}}
    print(json.dumps(answer), flush=True)
