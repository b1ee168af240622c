"""The parts of driving an SDK's client that do not depend on the SDK under test."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import anyio
from pydantic import BaseModel

from casebook_adapter import Cannot, Message

Client = TypeVar("Client")


async def run_script(
    session: AbstractAsyncContextManager[Client],
    script: list[Message],
    *,
    list_tools: Callable[[Client], Awaitable[list[Message]]],
    call_tool: Callable[[Client, str, Any], Awaitable[Message]],
    error_code: Callable[[BaseException], int | None],
    send_request: Callable[[Client, str, Any], Awaitable[Message]] | None = None,
) -> Message:
    """Runs a script and returns the results that the SDK's user gets.

    A failure to connect or to disconnect is reported beside the steps.
    """
    steps: list[Message] = []
    connected = False

    async def run_step(client: Client, step: Message) -> Message:
        try:
            match step:
                case {"listTools": _}:
                    return {"tools": await list_tools(client)}
                case {"callTool": {"name": name, **rest}}:
                    return {"result": await call_tool(client, name, rest.get("arguments"))}
                case {"request": {"method": method, **rest}} if send_request is not None:
                    return {"result": await send_request(client, method, rest.get("params"))}
                case {"callTools": calls}:
                    return {"results": await run_at_once(client, [{"callTool": call} for call in calls])}
        except Exception as error:
            return {"error": describe_error(error)}
        raise Cannot(f"there is no step {list(step)}")

    async def run_at_once(client: Client, steps: list[Message]) -> list[Message]:
        answers: list[Message] = [{} for _ in steps]

        async def run(index: int) -> None:
            answers[index] = await run_step(client, steps[index])

        async with anyio.create_task_group() as tasks:
            for index in range(len(steps)):
                tasks.start_soon(run, index)
        return answers

    def describe_error(error: BaseException) -> Message:
        # Task groups wrap the errors of a failed connection.
        while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        code = error_code(error)
        return {"type": type(error).__name__, **({} if code is None else {"code": code}), "message": str(error)}

    try:
        async with session as client:
            connected = True
            for step in script:
                steps.append(await run_step(client, step))
    except Cannot:
        raise
    except Exception as error:
        return {"steps": steps, "connected": connected, "error": describe_error(error)}
    return {"steps": steps, "connected": connected}


class Answers:
    """The user's answers to elicitations: the next one of a list, or always the same single answer."""

    def __init__(self, answers: Any) -> None:
        self.answers = answers

    def __contains__(self, answer: Any) -> bool:
        return answer in (self.answers if isinstance(self.answers, list) else [self.answers])

    def take(self) -> Any:
        if not isinstance(self.answers, list):
            return self.answers
        if not self.answers:
            raise LookupError("the script has no answer left")
        return self.answers.pop(0)


def wire_form(model: BaseModel) -> Message:
    """Returns the received members under their wire names. It keeps a received `null` and omits unset defaults."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)
