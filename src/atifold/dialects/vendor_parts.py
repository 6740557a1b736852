"""Read the parts of messages that single vendors write their own way: Gemini, Bedrock, the AI SDK.

A block of Gemini or Bedrock names its kind by its only telling key, a part of the AI SDK by a `type`
of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from atifold.calls import MISSING, OtherPart, Part, Reasoning, Text, ToolRequest, ToolResponse
from atifold.dialects.media import read_image, read_media
from atifold.dialects.values import Note, arguments, is_placeholder, plain, word
from atifold.jsontext import scrub, text_of
from atifold.kinds import is_list, is_object

PartReader = Callable[[Mapping[str, Any], Note], "Part | None"]


def joined_texts(result: Any) -> Any:
    """Return a list of text blocks as their text, anything else as it is."""
    if not is_list(result) or not result:
        return result
    texts = [_text_of_block(block) for block in result]
    return "\n".join(text for text in texts if text is not None) if None not in texts else result


def _text_of_block(block: Any) -> str | None:
    """Return the text of a text block, with or without a type; None for any other."""
    if is_object(block) and isinstance(block.get("text"), str) and (block.get("type") == "text" or len(block) == 1):
        return str(block["text"])
    return None


def _id(value: Any) -> str | None:
    return None if is_placeholder(value) else text_of(value)


# ---- Gemini (google-genai, ADK): `function_call`, or `functionCall` in JavaScript ------------------


def _gemini_text(block: Mapping[str, Any], _note: Note) -> Part | None:
    text = block.get("text")
    if not isinstance(text, str) or not text:
        return None
    return Reasoning(scrub(text)) if block.get("thought") is True else Text(scrub(text))


def _gemini_call(call: Mapping[str, Any], note: Note) -> Part | None:
    given = arguments({} if call.get("args") is None else call["args"], note)
    return ToolRequest(_id(call.get("id")), text_of(call.get("name")) or "", given)


def _gemini_response(response: Mapping[str, Any], _note: Note) -> Part | None:
    result = plain(response.get("response"))
    failed = is_object(result) and "error" in result
    return ToolResponse(_id(response.get("id")), result, word(response.get("name")), failed)


def _gemini_code(code: Mapping[str, Any], _note: Note) -> Part | None:
    return OtherPart(plain(code))


# ---- Bedrock's converse API (Strands, AgentCore) ---------------------------------------------------


def _bedrock_use(use: Mapping[str, Any], note: Note) -> Part | None:
    return ToolRequest(_id(use.get("toolUseId")), text_of(use.get("name")) or "", arguments(use.get("input", {}), note))


def _bedrock_result(result: Mapping[str, Any], _note: Note) -> Part | None:
    content = result.get("content")
    if is_list(content):
        found = [_bedrock_value(block) for block in content]
        only = len(found) == 1 and found[0] is not content[0]
        content = found[0] if only else joined_texts(found)
    return ToolResponse(_id(result.get("toolUseId")), plain(content), None, result.get("status") == "error")


def _bedrock_value(block: Any) -> Any:
    """Return what one block of a tool's result holds: `{"json": …}` is the value, a text block stays one."""
    return block["json"] if is_object(block) and list(block) == ["json"] else block


def bedrock_reasoning(content: Mapping[str, Any], _note: Note) -> Part | None:
    """Read `reasoningContent`: its text, and the signature that belongs to it."""
    inner = content.get("reasoningText")
    if not is_object(inner):
        return None
    signature = word(inner.get("signature"))
    text = text_of(inner.get("text")) or ""
    extra = {"signature": signature} if signature else {}
    return Reasoning(text, extra) if text or extra else None


_BY_KEY: Final[tuple[tuple[str, PartReader], ...]] = (
    ("function_call", _gemini_call),
    ("functionCall", _gemini_call),
    ("function_response", _gemini_response),
    ("functionResponse", _gemini_response),
    ("inline_data", read_media),
    ("inlineData", read_media),
    ("file_data", read_media),
    ("fileData", read_media),
    ("executable_code", _gemini_code),
    ("code_execution_result", _gemini_code),
    ("toolUse", _bedrock_use),
    ("toolResult", _bedrock_result),
    ("reasoningContent", bedrock_reasoning),
    ("image", read_image),
)
"""What a block without a type is, by the key whose object says it."""


def typeless_part(block: Mapping[str, Any], note: Note) -> Part | None:
    """Read a block that names its kind by a key; `OtherPart` for one that nobody knows."""
    for key, reader in _BY_KEY:
        if is_object(block.get(key)):
            return reader(block[key], note)
    if isinstance(block.get("text"), str):
        return _gemini_text(block, note)
    return OtherPart(plain(block))


# ---- the AI SDK ------------------------------------------------------------------------------------


def _sdk_call(block: Mapping[str, Any], note: Note) -> Part | None:
    given = next((block[key] for key in ("input", "args") if key in block), MISSING)
    read = MISSING if given is MISSING else arguments(given, note)
    return ToolRequest(_id(block.get("toolCallId")), text_of(block.get("toolName")) or "", read)


def _sdk_result(block: Mapping[str, Any], _note: Note) -> Part | None:
    """Read a result: as such up to version 4, later `{type, value}`, whose type may say that it is an error."""
    output = block.get("output")
    failed = block.get("isError") is True or block.get("type") == "tool-error"
    result: Any = next((block[key] for key in ("result", "error") if key in block), MISSING)
    if is_object(output) and "type" in output:
        failed = failed or str(output["type"]).startswith(("error", "execution-denied"))
        result = output.get("value", output.get("reason", MISSING))
    elif "output" in block:
        result = output
    result = result if result is MISSING else joined_texts(plain(result))
    return ToolResponse(_id(block.get("toolCallId")), result, word(block.get("toolName")), failed)


_SDK_KEYS: Final = frozenset({"type", "value", "providerOptions"})
_SDK_TYPES: Final = frozenset({"text", "json", "error-text", "error-json", "content"})


def sdk_value(output: Any) -> Any:
    """Return what a result `{type, value}` holds, which version 7 writes into the conventions' part; else it as is."""
    if (
        is_object(output)
        and "value" in output
        and output.keys() <= _SDK_KEYS
        and word(output.get("type")) in _SDK_TYPES
    ):
        return output["value"]
    return output


def _sdk_redacted(block: Mapping[str, Any], _note: Note) -> Part | None:
    data = word(block.get("data"))
    return Reasoning("", {"data": data}) if data else None


BY_TYPE: Final[dict[str, PartReader]] = {
    "tool-call": _sdk_call,
    "tool-result": _sdk_result,
    "tool-error": _sdk_result,
    "redacted-reasoning": _sdk_redacted,
    # pydantic-ai
    "binary": read_media,
    "media": read_media,
    "image-data": read_media,
    "file-data": read_media,
    "image-url": read_media,
    "audio-url": read_media,
    "video-url": read_media,
    "document-url": read_media,
}
