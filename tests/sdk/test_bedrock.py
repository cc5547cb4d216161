"""Bedrock: what is written is what botocore takes, what boto3 returns is read."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from loopback import get_weather, loopback, responses, written
from payloads import Payload
from toolglot import FilePart, ImagePart, ToolResult, detect_provider, get_provider, parse_response

boto3 = pytest.importorskip("boto3")
pytestmark = pytest.mark.sdk


def client(url: str = "http://127.0.0.1:1") -> Any:
    return boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="a",
        aws_secret_access_key="b",
    )


@pytest.fixture(scope="module")
def converse() -> Any:
    """The shape of a request; botocore's validator checks against it before it sends one."""
    return client().meta.service_model.operation_model("Converse").input_shape


@pytest.mark.parametrize(("case", "section", "value"), written("bedrock"))
def test_shapes(converse: Any, case: str, section: str, value: Any) -> None:
    from botocore.validate import ParamValidator

    request = value if section == "request" else {"messages": [value]}
    report = ParamValidator().validate({"modelId": "m", **request}, converse)
    assert not report.has_errors(), report.generate_report()


def test_names_and_ids_are_those_of_the_service_model(converse: Any) -> None:
    """The validator does not look at patterns; the service does."""
    shapes = converse.members["toolConfig"].members["tools"].member.members["toolSpec"].members
    name = shapes["name"].metadata
    assert (name["max"], name["pattern"]) == (64, "[a-zA-Z0-9_-]+")
    use = converse.members["messages"].member.members["content"].member.members["toolUse"].members["toolUseId"].metadata
    assert (use["max"], use["pattern"]) == (64, "[a-zA-Z0-9_.:-]+")


@pytest.mark.parametrize(
    "case", responses("bedrock", lambda case: "metrics" in case.data["payload"]), ids=lambda case: case.name
)
def test_round(case: Payload) -> None:
    """Definition, call, result: through boto3 to a server and back."""
    provider = get_provider("bedrock").for_boto3()  # type: ignore[attr-defined]
    with loopback() as server:
        server.answer = case.data["payload"]
        request = provider.request(get_weather, "required")
        messages: list[Any] = [{"role": "user", "content": [{"text": "Weather?"}]}]
        runtime = client(server.url)
        response = runtime.converse(modelId="m", messages=messages, **request)
        assert server.seen.pop()["toolConfig"] == request["toolConfig"]
        assert detect_provider(response).value == "bedrock"
        message = parse_response(response)
        plain = parse_response(server.answer)
        assert (message.tool_calls, message.server_calls) == (plain.tool_calls, plain.server_calls)
        assert (message.content, message.reasoning) == (plain.content, plain.reasoning)
        if message.tool_calls:
            png = ImagePart(b"\x89PNG")
            results = provider.results([ToolResult(call.id, [png]) for call in message.tool_calls], message)
            messages += [provider.assistant(message), results]
            runtime.converse(modelId="m", messages=messages, **request)
            sent = server.seen.pop()["messages"]
            # What boto3 makes of it is what is written as JSON, bytes included, whoever read them.
            assert sent[1] == get_provider("bedrock").assistant(plain)
            assert sent[1] == get_provider("bedrock").assistant(message)
            assert provider.assistant(plain) == provider.assistant(message)
            source = sent[2]["content"][0]["toolResult"]["content"][0]["image"]["source"]
            assert source == {"bytes": base64.b64encode(b"\x89PNG").decode()}


def test_files_for_boto3() -> None:
    part = FilePart(b"%PDF", "application/pdf", url=None)
    written = get_provider("bedrock").for_boto3().results(ToolResult("a", [part]))  # type: ignore[attr-defined]
    assert written["content"][0]["toolResult"]["content"][0]["document"]["source"] == {"bytes": b"%PDF"}


def test_invoke_model() -> None:
    """A body of Anthropic's, with boto3."""
    provider = get_provider("bedrock").for_invoke_model("anthropic.claude-v1")  # type: ignore[attr-defined]
    with loopback() as server:
        server.answer = {"type": "message", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}
        body = {"anthropic_version": "bedrock-2023-05-31", **provider.request({"name": "f"}, "required")}
        response = client(server.url).invoke_model(modelId="anthropic.claude-v1", body=json.dumps(body))
        assert server.seen.pop() == body
        assert [call.id for call in provider.parse(response["body"].read()).tool_calls] == ["t"]
