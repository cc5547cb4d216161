"""MCP: what is written is what its SDK takes, and a client and a server of the SDK speak through it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import turns
from loopback import get_weather, responses, unknown, written
from payloads import Payload
from toolglot import Provider, Tool, ToolCall, ToolResult, detect_provider, get_provider, parse_response

types = pytest.importorskip("mcp_types")
mcp = pytest.importorskip("mcp")
pytestmark = pytest.mark.sdk

MCP = get_provider("mcp")


@pytest.mark.parametrize(("case", "section", "value"), written("mcp"))
def test_shapes(case: str, section: str, value: Any) -> None:
    read: list[Any] = []
    if section == "request":
        read.append(types.ListToolsResult.model_validate({"tools": value["tools"]}))
        read.append(types.CreateMessageRequestParams.model_validate({"messages": [], "maxTokens": 1, **value}))
    elif section == "assistant" or isinstance(value, dict):
        read.append(types.SamplingMessage.model_validate(value))
    else:
        for one in value:
            if "jsonrpc" in one:
                assert types.JSONRPCResponse.model_validate(one).id == one["id"]
            read.append(types.CallToolResult.model_validate(one.get("result", one)))
    assert unknown(read) == []


@pytest.mark.parametrize("case", turns.cases(), ids=str)
def test_histories(case: turns.Case) -> None:
    """The conversation, and everyone's own history, in the SDK's types, and as its server checks them."""
    from mcp.server.validation import validate_tool_use_result_messages as validate

    for read in (turns.CONVERSATION, case.parser.history(case.data["history"])):
        members = MCP.messages(read)
        params = types.CreateMessageRequestParams.model_validate({"maxTokens": 1, **members})
        assert unknown(params) == []
        for end in range(1, len(params.messages) + 1):
            validate(params.messages[:end])


@pytest.mark.parametrize(
    "fault", [fault for case in turns.cases() if case.wire == "mcp" for fault in case.data["faults"]]
)
def test_faults(fault: dict[str, Any]) -> None:
    """What is found wrong, other than in the SDK's own types, its server refuses; what was repaired it takes."""
    from mcp.server.validation import validate_tool_use_result_messages as validate

    def check(messages: list[Any]) -> None:
        read = [types.SamplingMessage.model_validate(message) for message in messages]
        for end in range(1, len(read) + 1):
            validate(read[:end])

    messages = fault["messages"]
    messages = messages["params"]["messages"] if isinstance(messages, dict) else messages
    with pytest.raises(ValueError):  # noqa: PT011
        check(messages)
    if "repaired" in fault:
        check(fault["repaired"]["messages"])


def test_requests_for_calls() -> None:
    calls = [ToolCall("get_weather", {"city": "Oslo"}, "call_1"), ToolCall("ping", id="7", extra={"mcp": {"id": 7}})]
    for request, call in zip(MCP.call_requests(calls), calls, strict=True):  # type: ignore[attr-defined]
        assert types.JSONRPCRequest.model_validate(request).id in (call.id, 7)
        read = types.CallToolRequest.model_validate({key: request[key] for key in ("method", "params")})
        assert (read.params.name, read.params.arguments) == (call.name, call.arguments)


@pytest.mark.parametrize("case", responses("mcp", lambda case: "role" in case.data["payload"]), ids=lambda c: c.name)
def test_sampled_messages(case: Payload) -> None:
    """The SDK's object is read as its JSON is."""
    read = types.CreateMessageResultWithTools.model_validate(case.data["payload"])
    assert detect_provider(read) is Provider.MCP
    message, plain = parse_response(read), parse_response(case.data["payload"])
    assert (message.tool_calls, message.content, message.stop_reason) == (
        plain.tool_calls,
        plain.content,
        plain.stop_reason,
    )


def test_a_client_and_a_server() -> None:
    """Tools listed, called and answered: by a server that is written with ours, read by a client as well."""
    from mcp.client.client import Client
    from mcp.server.lowlevel.server import Server

    tool = Tool.from_any(get_weather)
    tool.extra = {"mcp": {"title": "Weather", "annotations": {"readOnlyHint": True}}}
    answers = {
        "get_weather": ToolResult.success(None, {"temp_c": 4}),
        "get_time": ToolResult.failure(None, "clock offline"),
        "get_text": ToolResult.success(None, "4 C"),
    }

    async def list_tools(context: Any, params: Any) -> Any:
        return types.ListToolsResult.model_validate(MCP.tools([tool]))

    async def call_tool(context: Any, params: Any) -> Any:
        assert detect_provider(params) is Provider.MCP
        call = MCP.parse(params).tool_calls[0]
        assert call.arguments == {"city": "Oslo"}
        return types.CallToolResult.model_validate(MCP.results(answers[call.name])[0])

    async def talk() -> None:
        async with Client(Server("s", on_list_tools=list_tools, on_call_tool=call_tool)) as client:
            listed = await client.list_tools()
            assert Tool.from_any(listed.tools[0]) == tool
            for name, answer in answers.items():
                call = ToolCall(name, {"city": "Oslo"}, f"call_{name}")
                params = MCP.call_requests([call])[0]["params"]  # type: ignore[attr-defined]
                result = MCP.read_result(await client.call_tool(**params), call)  # type: ignore[attr-defined]
                assert (result.tool_call_id, result.tool_name) == (call.id, name)
                assert (result.content, result.is_error) == (answer.content, answer.is_error)

    asyncio.run(talk())
