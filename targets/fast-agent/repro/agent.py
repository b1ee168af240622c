"""An agent with one server and without a model, for the programs beside this file."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fast_agent import Core, LoggerSettings, McpAgent, MCPServerSettings, MCPSettings, Settings
from fast_agent.agents.agent_types import AgentConfig


@asynccontextmanager
async def agent_of(server: MCPServerSettings) -> AsyncIterator[McpAgent]:
    """Runs the agent; its server has the name "raw"."""
    mcp = MCPSettings(servers={"raw": server})
    settings = Settings(mcp=mcp, logger=LoggerSettings(type="none", progress_display=False), session_history=False)
    config = AgentConfig("repro", servers=["raw"])
    async with Core(settings=settings).run() as core, McpAgent(config, context=core.context) as agent:
        yield agent
