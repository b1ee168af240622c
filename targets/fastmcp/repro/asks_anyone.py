"""FastMCP answers with a question to a client that did not declare elicitation.

The answer of 2026-07-28 is the error -32021 with the status 400.
"""

import sys

import anyio
from fastmcp import FastMCP
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

from casebook_mock import META_WITHOUT_CAPABILITIES, post

FORM = {"type": "object", "properties": {"nick": {"type": "string"}}}
server = FastMCP("repro")


@server.tool
async def t() -> InputRequiredResult:
    question = ElicitRequest(params=ElicitRequestFormParams(message="Who?", requested_schema=FORM))
    return InputRequiredResult(input_requests={"who": question})


async def main() -> int:
    params = {"name": "t", "arguments": {}, "_meta": META_WITHOUT_CAPABILITIES}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "t"}
    app = server.http_app(path="/mcp")
    async with app.lifespan(app):
        status, answer = await post(app, "tools/call", params, headers)
    asked = "elicitation/create" in answer
    print(f"a client without the capability gets the status {status}, and {'a question' if asked else answer}")
    return 0 if asked and status == 200 else 1


sys.exit(anyio.run(main))
