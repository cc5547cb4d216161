"""MCP: what is written is what its SDK takes, and a client and a server of the SDK speak through it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

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
