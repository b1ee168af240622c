"""Context.log, and a message that cannot be read, send log messages, and no capability is declared for them.

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#capabilities
"""

import json
import subprocess
import sys

from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("repro")


@server.tool()
async def work(ctx: Context) -> str:
    await ctx.info("working")
    return "done"


if "serve" in sys.argv:
    server.run()
    sys.exit()

process = subprocess.Popen(
    [sys.executable, __file__, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "repro", "version": "1"}}


def send(text: str) -> None:
    print(text, file=process.stdin, flush=True)


def message(method: str, params: dict, **members: int) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **members})


send(message("initialize", CLIENT, id=1))
declared = json.loads(process.stdout.readline())["result"]["capabilities"].get("logging")
send(message("notifications/initialized", {}))
send("not json")
unread = json.loads(process.stdout.readline())
send(message("tools/call", {"name": "work", "arguments": {}}, id=2))
logged = json.loads(process.stdout.readline())
process.terminate()
methods = [unread.get("method"), logged.get("method")]
print(f"the server sent {methods} and declared logging: {declared}")
sys.exit(0 if methods == ["notifications/message"] * 2 and declared is None else 1)
