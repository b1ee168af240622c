"""The mcp-casebook adapter for fast-agent. The parts that do not depend on the SDK are in `casebook_adapter`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fast_agent import (
    Core,
    LoggerSettings,
    McpAgent,
    MCPElicitationSettings,
    MCPServerSettings,
    MCPSettings,
    Settings,
)
from fast_agent.agents.agent_types import AgentConfig
from fast_agent.mcp.elicitation_handlers import forms_elicitation_handler
from mcp import MCPError
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.types import ElicitRequestParams, ElicitResult, ErrorData
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from casebook_adapter import Cannot, Sdk, main
from casebook_client import Answers, run_script, wire_form

SERVER = "casebook"
"""The name of the server in the configuration."""

ACCEPT_AND_CLOSE = "\x1b[Z" * 4 + "\r" + "\x1b"
"""The keys of a user who accepts a form: Shift-Tab from the first field to the button `Accept`, and Enter.

If the form is not accepted, it stays open, and Escape cancels it.
"""


async def drive(request: dict[str, Any]) -> dict[str, Any]:
    return await run_script(
        connect(request), request["script"], list_tools=list_tools, call_tool=call_tool, error_code=error_code
    )


@asynccontextmanager
async def connect(request: dict[str, Any]) -> AsyncIterator[McpAgent]:
    """Runs an agent with one server and without a model.

    https://github.com/evalstate/fast-agent/blob/main/examples/fastapi/fastapi-advanced.py
    """
    settings = Settings(
        mcp=MCPSettings(servers={SERVER: server_settings(request)}),
        logger=LoggerSettings(type="console", progress_display=False),
        session_history=False,
    )
    config = AgentConfig(SERVER, servers=[SERVER], elicitation_handler=elicitation_handler(request))
    async with Core(settings=settings).run() as core, McpAgent(config, context=core.context) as agent:
        yield agent


def server_settings(request: dict[str, Any]) -> MCPServerSettings:
    """https://fast-agent.ai/mcp/client-servers/"""
    if "declares" in request:
        raise Cannot("MCPServerSettings has no member for capabilities: they follow from its other members")
    settings: dict[str, Any] = {}
    if "url" in request:
        settings |= {"transport": "http", "url": request["url"]}
    else:
        command, *args = request["command"]
        settings |= {"transport": "stdio", "command": command, "args": args}
    # https://fast-agent.ai/mcp/client-servers/#protocol-selection
    if not request.get("negotiate"):
        settings["protocol_mode"] = "modern" if request["revision"] in MODERN_PROTOCOL_VERSIONS else "legacy"
    if "answers" not in request:
        # By default the client declares that its user can be asked.
        settings["elicitation"] = MCPElicitationSettings(mode="none")
    if "requestTimeout" in request:
        seconds, rest = divmod(request["requestTimeout"], 1000)
        if rest:
            raise Cannot("MCPServerSettings.read_timeout_seconds is a whole number of seconds")
        settings["read_timeout_seconds"] = seconds
    return MCPServerSettings(**settings)


def elicitation_handler(request: dict[str, Any]) -> ElicitationFnT | None:
    """https://fast-agent.ai/mcp/elicitations/#custom-handler"""
    if "answers" not in request:
        return None
    answers = Answers(request["answers"])

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        match answers.take():
            case {"accept": "as presented"}:
                return await accept_form(context, params)
            case {"accept": content}:
                return ElicitResult(action="accept", content=content)
            case action:
                return ElicitResult(action=action)

    return answer


async def accept_form(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult | ErrorData:
    """Shows the form that users get by default, on a terminal that nobody sees, and accepts it."""
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text(ACCEPT_AND_CLOSE)
        return await forms_elicitation_handler(context, params)


async def list_tools(agent: McpAgent) -> list[dict[str, Any]]:
    """Lists the tools by the server's names for them, to which `McpAgent.list_tools` adds the name of the server."""
    tools = await agent.list_mcp_tools(SERVER)
    return [wire_form(tool) for tool in tools[SERVER]]


async def call_tool(agent: McpAgent, name: str, arguments: Any) -> dict[str, Any]:
    """https://fast-agent.ai/mcp/elicitations/#client"""
    return wire_form(await agent.call_tool(name, arguments))


def error_code(error: BaseException) -> int | None:
    return error.code if isinstance(error, MCPError) else None


if __name__ == "__main__":
    main(
        Sdk(
            package="fast-agent-mcp",
            api="McpAgent.list_mcp_tools, McpAgent.call_tool",
            roles=["client"],
            revisions=["2025-06-18", "2025-11-25", "2026-07-28"],
            variants=[],
            drive=drive,
        )
    )
