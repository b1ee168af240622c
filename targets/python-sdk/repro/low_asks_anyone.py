"""The low-level server answers with a question to a client that did not declare elicitation.

The answer of 2026-07-28 is the error -32021 with the status 400.
"""

import sys
from typing import Any

import anyio
from mcp.server import Server
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

from casebook_mock import META_WITHOUT_CAPABILITIES, post

FORM = {"type": "object", "properties": {"nick": {"type": "string"}}}


async def call_tool(_ctx: Any, _params: Any) -> InputRequiredResult:
    question = ElicitRequest(params=ElicitRequestFormParams(message="Who?", requested_schema=FORM))
    return InputRequiredResult(input_requests={"who": question})


async def main() -> int:
    params = {"name": "t", "arguments": {}, "_meta": META_WITHOUT_CAPABILITIES}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "t"}
    server = Server("repro", on_call_tool=call_tool)
    app = server.streamable_http_app()
    async with server.session_manager.run():
        status, answer = await post(app, "tools/call", params, headers)
    asked = "elicitation/create" in answer
    print(f"a client without the capability gets the status {status}, and {'a question' if asked else answer}")
    return 0 if asked and status == 200 else 1


sys.exit(anyio.run(main))
