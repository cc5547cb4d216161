"""What a tool gave, as an API takes it: parts that it has no place for are noted, and nothing else is claimed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolglot import ConversionError, FilePart, ImagePart, TextPart, ToolCall, ToolResult, get_provider, providers

CALL = ToolCall("f", {"a": 1}, "call_1")
PNG = b"\x89PNG"


def write(provider: str, content: Any, is_error: bool = False) -> Any:
    return get_provider(provider).results([ToolResult("call_1", content, "f", is_error)], [CALL])


@pytest.mark.parametrize("provider", ["openai", "groq"])
@pytest.mark.parametrize("part", [ImagePart(), FilePart(), FilePart(url="https://x/a.pdf")])
def test_a_part_with_nothing_that_can_be_sent(provider: str, part: Any) -> None:
    """No image without an address, and no promise of a message that does not follow."""
    written = write(provider, [part])
    assert written == [{"role": "tool", "tool_call_id": "call_1", "content": ""}]
    assert [(loss.code, loss.path) for loss in written.losses] == [("loss.part", "$[0].content[0]")]


def test_groq_takes_no_files() -> None:
    """Its parts of a message are text, images, and documents of JSON (groq 1.7.0)."""
    written = write("groq", [TextPart("a"), ImagePart(PNG), FilePart(b"%PDF", "application/pdf")])
    assert [message["role"] for message in written] == ["tool", "user"]
    assert [part["type"] for part in written[1]["content"]] == ["text", "image_url"]
    assert [loss.code for loss in written.losses] == ["loss.moved", "loss.part"]


@pytest.mark.parametrize("name", ["image/jpg", "IMAGE/JPEG", "image/jpeg; q=1"])
def test_a_media_type_by_another_name(name: str) -> None:
    block = write("anthropic", [ImagePart(PNG, name)])["content"][0]["content"][0]
    assert block["source"]["media_type"] == "image/jpeg"
    block = write("bedrock", [ImagePart(PNG, name)])["content"][0]["toolResult"]["content"][0]
    assert block["image"]["format"] == "jpeg"


def test_images_that_anthropic_does_not_take() -> None:
    """Base64ImageSource of anthropic 2.14.0 has four types."""
    written = write("anthropic", [ImagePart(PNG, "image/bmp"), ImagePart(PNG, "text/plain")])
    assert written["content"][0]["content"] == []
    assert [loss.code for loss in written.losses] == ["loss.part", "loss.part"]


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("content", [float("nan"), [float("inf")], {"a": float("nan")}, {"a": object()}])
@pytest.mark.parametrize("is_error", [False, True])
def test_what_is_no_json_is_refused(provider: str, content: Any, is_error: bool) -> None:
    with pytest.raises(ConversionError, match="cannot be written as JSON"):
        write(provider, content, is_error)


@pytest.mark.parametrize("provider", providers())
@pytest.mark.parametrize("content", ["", "x", None, {}, {"a": 1}, [], [1, {"b": 2}], 4, True, 1.5, (1, 2)])
@pytest.mark.parametrize("is_error", [False, True])
def test_every_value_is_written_whole(provider: str, content: Any, is_error: bool) -> None:
    written = write(provider, content, is_error)
    text = json.dumps(written).replace("\\", "")
    said = content if isinstance(content, str) else json.dumps(content)
    assert content in ("", None, [], {}) or said.strip("{}[]") in text
    assert written.losses == ()
