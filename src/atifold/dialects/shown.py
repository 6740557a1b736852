"""Find the blocks of a tool's result that holds images, whatever framework wrapped them.

A result with an image is a list of blocks, as a message's content is: of MCP, of a provider, of the AI SDK. It may
stand in an object (`{"content": [...]}`) or be JSON text.
"""

from __future__ import annotations

from typing import Any, Final

from atifold.dialects.values import parsed, word
from atifold.kinds import is_list, is_object

_HOLDERS: Final = ("content", "value", "result", "output")
"""Keys under which an object holds the blocks: MCP's result, the AI SDK's, ADK's wrapper."""

_TYPES: Final = frozenset({"image", "image_url", "input_image", "image-url", "image-data", "media", "blob", "binary"})
_KEYS: Final = ("image", "inline_data", "inlineData")
_SIGNS: Final = ('"image', '"media"', '"blob"', '"binary"', '"inline_data"', '"inlineData"')
"""What a JSON text holds somewhere that is worth parsing."""

_DEEPEST: Final = 3


def image_blocks(result: Any, depth: int = 0) -> list[Any]:
    """Return the blocks of a result of which some are images, nothing for any other result."""
    if isinstance(result, str):
        is_json = result.lstrip()[:1] in ("[", "{") and any(sign in result for sign in _SIGNS)
        return image_blocks(parsed(result), depth + 1) if is_json and depth < _DEEPEST else []
    if is_list(result):
        return list(result) if any(_is_image(block) for block in result) else []
    if not is_object(result):
        return []
    if _is_image(result):
        return [result]
    held = (result[key] for key in _HOLDERS if key in result)
    inner = (image_blocks(value, depth + 1) for value in held) if depth < _DEEPEST else ()
    return next((blocks for blocks in inner if blocks), [])


def _is_image(block: Any) -> bool:
    if not is_object(block):
        return False
    return word(block.get("type", block.get("kind"))) in _TYPES or any(is_object(block.get(key)) for key in _KEYS)
