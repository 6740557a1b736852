"""Read messages of the shapes that traces hold: the conventions' parts, and the providers' own blocks.

A message is an object with a role and `parts` (the conventions) or `content` (OpenAI, Anthropic:
text or a list of blocks). Parts and blocks of all of them differ only in their `type` and in what
their keys are called, so one table of readers serves all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from atifold.calls import MISSING, Media, Message, OtherPart, Part, Reasoning, Text, ToolRequest, ToolResponse
from atifold.dialects.failure import tells_failure
from atifold.dialects.media import read_image, read_media, read_url
from atifold.dialects.reprs import from_repr
from atifold.dialects.shown import image_blocks
from atifold.dialects.values import Note, arguments, is_placeholder, parsed, plain, uncoated, word
from atifold.dialects.vendor_parts import BY_TYPE, bedrock_reasoning, joined_texts, sdk_value, typeless_part
from atifold.jsontext import scrub, text_of, to_json_text
from atifold.kinds import is_list, is_object

ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "tool-call": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "tool-response": "tool",
}
"""Words for the four roles; a word that is not here is kept."""

_ERROR_WORDS: Final = frozenset({"error", "failed"})


def role_of(word: Any, speaker: str = "user") -> str:
    """Return the role behind a dialect's word for it; where there is no word, `speaker` has it."""
    lowered = (text_of(word) or speaker).lower()
    return ROLES.get(lowered, lowered)


def id_of(value: Any) -> str | None:
    """Return a call's id, None where it is absent, empty or a placeholder."""
    return None if is_placeholder(value) else text_of(value)


def read_messages(value: Any, note: Note, speaker: str = "user") -> tuple[Message, ...]:
    """Read a structured list of messages; an entry may be JSON text of one.

    A bare text, and a message without a role, are `speaker`'s.
    """
    entries = value if is_list(value) else [value]
    read = partial(_read_entry, speaker=speaker)
    return tuple(message for entry in entries for message in note.once(read, entry, speaker.encode()))


def _read_entry(entry: Any, note: Note, *, speaker: str) -> tuple[Message, ...]:
    item = parsed(entry) if isinstance(entry, str) and entry.lstrip().startswith("{") else entry
    if is_object(item):
        return read_message(item, note, speaker)
    if isinstance(entry, str):
        return (Message(speaker, (Text(scrub(entry)),)),)
    if entry is None:
        return ()
    note("a message that is no object, kept as it is")
    return (Message(speaker, (OtherPart(plain(entry)),)),)


def read_message(item: Mapping[str, Any], note: Note, speaker: str = "user") -> tuple[Message, ...]:
    """Read one message object; a user message that also carries tool results becomes two."""
    item = opened(item)
    role = role_of(item.get("role"), speaker)
    content = _written_parts(item["parts"]) if item.get("parts") is not None else item.get("content")
    parts = [*_message_reasoning(item), *read_parts(content, note)]
    parts += _tool_calls(item.get("tool_calls") or _beside(item).get("tool_calls"), parts, note)
    if role == "assistant":
        parts = [part for written in parts for part in _behind_repr(written, note)]
    call_id = id_of(item.get("tool_call_id"))
    if role == "tool" and not any(isinstance(part, ToolResponse) for part in parts):
        parts = _as_response(parts, call_id, item)
    return by_role(role, parts, word(item.get("name")), word(item.get("atifold.origin")))


def _written_parts(held: Any) -> Any:
    """Return parts that are JSON text, all of them or each one, as what the text holds; any others as they are."""
    if isinstance(held, str):
        found = parsed(uncoated(held)) if held.lstrip()[:1] in ("[", "{", '"') else MISSING
        return _written_parts(found) if is_list(found) or is_object(found) else held
    return [_written_part(part) for part in held] if is_list(held) else held


def _written_part(part: Any) -> Any:
    """Return the part of a known type behind JSON text, anything else as it is."""
    found = parsed(part) if isinstance(part, str) and part.lstrip().startswith("{") else MISSING
    return found if is_object(found) and has_known_type(found) else part


def _behind_repr(part: Part, note: Note) -> list[Part]:
    """Return what a text stands for that is the Python repr of a message or of one of its items."""
    found = from_repr(part.text) if isinstance(part, Text) else MISSING
    found = MISSING if found is MISSING else plain(found)
    items: Sequence[Any] = found if is_list(found) else [found]
    if items and all(is_object(each) and (has_known_type(each) or _is_openai_call(each)) for each in items):
        return [inner for each in items for inner in _item(each, note)]
    if is_object(found) and found.get("role") == "assistant":
        return [inner for message in read_message(found, note, "assistant") for inner in message.parts]
    return [part]


def _item(found: Mapping[str, Any], note: Note) -> list[Part]:
    return [_openai_call(found, note)] if _is_openai_call(found) else read_parts(found, note)


def _is_openai_call(found: Mapping[str, Any]) -> bool:
    """Tell whether an object is an entry of OpenAI's `tool_calls`, and not the definition of a tool."""
    function = found.get("function")
    return is_object(function) and "arguments" in function and "name" in function


def opened(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what LangChain's serialised form of a message holds, anything else as it is."""
    if "role" in item:
        return item
    inner = next((item[key] for key in ("data", "kwargs") if is_object(item.get(key))), item)
    kind = inner.get("type", item.get("type"))
    return {**inner, "role": kind} if isinstance(kind, str) and kind.lower() in ROLES else item


def by_role(role: str, parts: Iterable[Part], name: str | None, origin: str | None = None) -> tuple[Message, ...]:
    """Return the message that the parts make, tool results of a user message as a tool message before it."""
    kept = tuple(parts)
    if role == "user" and any(isinstance(part, ToolResponse) for part in kept):
        results = Message("tool", tuple(part for part in kept if isinstance(part, ToolResponse)), name)
        rest = tuple(part for part in kept if not isinstance(part, ToolResponse))
        return (results, Message("user", rest, name, origin)) if rest else (results,)
    if role == "tool":
        kept = _once(kept)
    return (Message(role, kept, name, origin),)


def _once(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Drop texts of a tool message that only repeat a result beside them."""
    results = [part.result for part in parts if isinstance(part, ToolResponse)]
    return tuple(part for part in parts if not (isinstance(part, Text) and part.text in results))


def _message_reasoning(item: Mapping[str, Any]) -> list[Part]:
    """Return what OpenAI-like servers put beside the content: `reasoning_content` or `reasoning`."""
    for holder in (item, _beside(item)):
        for key in ("reasoning_content", "reasoning"):
            if isinstance(holder.get(key), str) and holder[key]:
                return [Reasoning(scrub(holder[key]))]
    return []


def _beside(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what LangChain keeps of a provider's message beside its own fields."""
    found = item.get("additional_kwargs")
    return found if is_object(found) else {}


def _as_response(parts: list[Part], call_id: str | None, item: Mapping[str, Any]) -> list[Part]:
    """Return a tool message's content as the result of the call that it names."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if call_id is None and word(item.get("name")) is None:
        return parts
    media = [part for part in parts if isinstance(part, Media)]
    result = "\n".join(texts) if texts or media else MISSING
    others: list[Part] = [part for part in parts if not isinstance(part, (Text, Media))]
    seen = tuple(part for part in parts if isinstance(part, (Text, Media))) if media else ()
    failed = _failed(item) or tells_failure(result)
    return [ToolResponse(call_id, result, word(item.get("name")), failed, seen), *others]


def _failed(item: Mapping[str, Any]) -> bool:
    if item.get("is_error") is True or item.get("isError") is True:
        return True
    status = item.get("status")
    return isinstance(status, str) and status.lower() in _ERROR_WORDS


def _tool_calls(calls: Any, present: list[Part], note: Note) -> list[Part]:
    """Read OpenAI's `tool_calls` beside the content, without those that the content has already."""
    if not is_list(calls):
        return []
    ids = {part.id for part in present if isinstance(part, ToolRequest) and part.id is not None}
    requests = [_openai_call(call, note) for call in calls if is_object(call)]
    return [request for request in requests if request.id is None or request.id not in ids]


def _openai_call(call: Mapping[str, Any], note: Note) -> ToolRequest:
    function = call.get("function")
    source = function if is_object(function) else call
    given = source.get("arguments", source.get("args", source.get("input")))
    return ToolRequest(id_of(call.get("id")), text_of(source.get("name")) or "", arguments(given, note))


# ---- parts ---------------------------------------------------------------------------------------


def read_parts(content: Any, note: Note) -> list[Part]:
    """Read the content of one message: text, one block, or a list of blocks."""
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(scrub(content))]
    blocks = content if is_list(content) else [content]
    found: list[Part] = []
    for block in blocks:
        if isinstance(block, str):
            found.append(Text(scrub(block)))
        elif is_object(block):
            part = read_part(block, note)
            if part is not None:
                found.append(part)
        elif block is not None:
            found.append(OtherPart(plain(block)))
    return found


def read_part(block: Mapping[str, Any], note: Note) -> Part | None:
    """Read one part or block; None when it is empty, `OtherPart` when nobody knows its kind."""
    kind = block.get("type") or block.get("kind")
    reader = _PARTS.get(str(kind)) if kind else typeless_part
    part = reader(block, note) if reader is not None else OtherPart(plain(block))
    return _whole(part, note) if isinstance(part, ToolResponse) else part


def _whole(response: ToolResponse, note: Note) -> ToolResponse:
    """Return a result with what it says of itself: that the tool failed, and the images that it holds."""
    failed, seen = response.failed or tells_failure(response.result), shown(response.result, note)
    value = sdk_value(response.result)
    if value is not response.result:
        return replace(response, result=joined_texts(value), failed=failed, shown=seen)
    return replace(response, failed=failed, shown=seen) if seen or failed is not response.failed else response


def shown(result: Any, note: Note) -> tuple[Text | Media, ...]:
    """Return the texts and media of a tool's result that holds an image, nothing for any other."""
    parts = read_parts(image_blocks(result), note)
    if not any(isinstance(part, Media) for part in parts):
        return ()
    return tuple(part if isinstance(part, (Text, Media)) else Text(to_json_text(plain(part))) for part in parts)


def has_known_type(block: Mapping[str, Any]) -> bool:
    """Tell whether an object is a part or block of a type that is known."""
    return str(block.get("type") or "") in _PARTS


def _first_text(block: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        if isinstance(block.get(key), str):
            return scrub(block[key])
    return None


def _text(block: Mapping[str, Any], _note: Note) -> Part | None:
    found = _first_text(block, "content", "text")
    return Text(found) if found else None


def _reasoning(block: Mapping[str, Any], _note: Note) -> Part | None:
    """Read thoughts; what belongs to them (a signature, an id) stays beside them."""
    found = _first_text(block, "content", "thinking", "text", "reasoning")
    listed = block.get("summary") or block.get("content")
    if not found and is_list(listed):
        texts = [_first_text(entry, "text", "content") for entry in listed if is_object(entry)]
        found = "\n".join(entry for entry in texts if entry)
    extra = {key: plain(item) for key, item in block.items() if key in _REASONING_EXTRA and not is_placeholder(item)}
    return Reasoning(found or "", extra) if found or extra else None


_REASONING_EXTRA: Final = frozenset({"signature", "encrypted_content", "data"})


def _request(block: Mapping[str, Any], note: Note) -> Part | None:
    given = next((block[key] for key in ("arguments", "input", "args") if key in block), MISSING)
    read = MISSING if given is MISSING else arguments(given, note)
    call_id = id_of(block.get("call_id")) or id_of(block.get("id"))
    return ToolRequest(call_id, text_of(block.get("name")) or "", read)


_RESULT_KEYS: Final = ("response", "result", "output", "content")


def _response(block: Mapping[str, Any], _note: Note) -> Part | None:
    result = next((block[key] for key in _RESULT_KEYS if key in block), MISSING)
    call_id = next((found for key in _RESPONSE_IDS if (found := id_of(block.get(key)))), None)
    result = MISSING if result is MISSING or (is_placeholder(result) and result not in ("", None)) else plain(result)
    return ToolResponse(call_id, joined_texts(result), word(block.get("name")), _failed(block))


_RESPONSE_IDS: Final = ("id", "tool_use_id", "call_id", "tool_call_id")


def _wrapped_reasoning(block: Mapping[str, Any], note: Note) -> Part | None:
    """Read Strands' part for thoughts, Bedrock's block with a type of its own."""
    inner = block.get("content")
    return bedrock_reasoning(inner if is_object(inner) else block, note)


_PARTS: Final[dict[str, Callable[[Mapping[str, Any], Note], Part | None]]] = {
    # the conventions
    "text": _text,
    "reasoning": _reasoning,
    "tool_call": _request,
    "tool_call_response": _response,
    "blob": read_media,
    "uri": read_media,
    "file": read_media,
    # Anthropic
    "thinking": _reasoning,
    "redacted_thinking": _reasoning,
    "tool_use": _request,
    "tool_result": _response,
    "image": read_image,
    # OpenAI
    "input_text": _text,
    "output_text": _text,
    "refusal": lambda block, _note: Text(text_of(block.get("refusal")) or ""),
    "image_url": read_url,
    "input_image": read_url,
    "function_call": _request,
    "function_call_output": _response,
    # single vendors
    "reasoningContent": _wrapped_reasoning,
    **BY_TYPE,
}
