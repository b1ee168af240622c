"""The parts of a fixture's tools that do not depend on the SDK under test."""

import uuid
from collections.abc import Collection
from typing import Any
from urllib.request import ProxyHandler, build_opener

import anyio
import anyio.to_thread

from casebook_adapter import Cannot, Message

VERBS = {"echo", "return", "elicit", "wait", "log", "progress", "raise"}


def check_verbs(does: Message) -> None:
    """Raises `Cannot` if a tool does something that the adapters have no code for."""
    if not does.keys() <= VERBS:
        raise Cannot(f"the adapter has no code for a tool that does {list(does)}")


def renamed_members(tool: Message, names: dict[str, str], api: str, *, derived: Collection[str] = ()) -> Message:
    """Returns the members of a tool under the names that the API has for them.

    Members that the fixture omits are not passed, so that the SDK handles their absence. Those in `derived` are not
    passed either, because the SDK derives them from the tool's function.
    """
    for member in tool:
        if member not in names and member not in ("does", *derived):
            raise Cannot(f"{api} has no parameter for the member {member} of a tool")
    return {name: tool[member] for member, name in names.items() if member in tool}


def elicitation_id(elicit: Message) -> str:
    """Returns the id of a question in URL mode, which its author chooses."""
    return elicit.get("elicitationId", str(uuid.uuid4()))


def has_state(tools: list[Message]) -> bool:
    """Returns whether a tool gives a state with its question."""
    return any("state" in tool["does"].get("elicit", {}) for tool in tools)


def state_seconds(tools: list[Message]) -> float | None:
    """Returns how long the states of questions are valid, if the fixture says so."""
    states = [tool["does"]["elicit"].get("state", {}) for tool in tools if "elicit" in tool["does"]]
    lifetimes = {state["seconds"] for state in states if "seconds" in state}
    if len(lifetimes) > 1:
        raise Cannot("RequestStateSecurity has one ttl for all states of a server")
    return lifetimes.pop() if lifetimes else None


async def wait_for_cancellation(started: str, stopped: str) -> None:
    """Waits until the SDK cancels the handler, and tells casebook when it started and when it stopped."""
    await get(started)
    try:
        await anyio.sleep(30)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await get(stopped)
        raise
    raise TimeoutError("the SDK did not cancel the handler within 30 seconds")


async def get(url: str) -> None:
    open_directly: Any = build_opener(ProxyHandler({})).open
    await anyio.to_thread.run_sync(lambda: open_directly(url, timeout=5).close())
