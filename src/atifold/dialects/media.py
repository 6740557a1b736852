"""Read images, sounds and files: by URL, by data URL, or as base64 text beside their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from atifold.calls import Media, Part
from atifold.dialects.values import Note, is_placeholder, word
from atifold.jsontext import scrub
from atifold.kinds import is_object

_MIME_KEYS: Final = ("mime_type", "media_type", "mediaType", "mimeType")
_DATA_KEYS: Final = ("content", "data", "image", "binary_content", "base64", "file_data")
_URI_KEYS: Final = ("uri", "file_id", "url", "file_uri", "fileUri")
_ADDRESSES: Final = ("data:", "http://", "https://")
_REPLACED: Final = "<replaced>"
"""What Strands writes in place of an image's bytes."""


def media(modality: str, mime: str | None, uri: str | None, data: str | None) -> Media:
    """Return a medium, a data URL taken apart into its type and its base64 text."""
    if uri is not None and uri.startswith("data:") and ";base64," in uri:
        head, _, data = uri.partition(";base64,")
        return Media(modality, head.removeprefix("data:") or mime, None, data)
    return Media(modality, mime, uri, data)


def read_media(block: Mapping[str, Any], _note: Note) -> Part | None:
    """Read a part of the conventions (`blob`, `uri`, `file`), of pydantic-ai, OpenAI, Gemini or the AI SDK."""
    if is_object(block.get("file")):
        block = {**block["file"], "type": block.get("type")}
    mime = next((found for key in _MIME_KEYS if (found := word(block.get(key)))), None)
    modality = word(block.get("modality")) or _modality(mime, str(block.get("type") or block.get("kind") or ""))
    data, uri = _first_text(block, _DATA_KEYS), _first_text(block, _URI_KEYS)
    if data is not None and data.startswith(_ADDRESSES):
        uri, data = data, None
    return media(modality, mime, uri, data)


def _modality(mime: str | None, kind: str) -> str:
    """Return what sort of medium a type or a kind of part (`image-url`) means."""
    return (mime or kind.split("-", 1)[0].split("_", 1)[0] or "file").split("/", 1)[0]


def read_url(block: Mapping[str, Any], _note: Note) -> Part | None:
    """Read OpenAI's `image_url`: the URL as such, or in an object."""
    image = block.get("image_url")
    url = image.get("url") if is_object(image) else image
    return media("image", None, url if isinstance(url, str) else None, None)


def read_image(block: Mapping[str, Any], note: Note) -> Part | None:
    """Read an image block: Anthropic's and Bedrock's bytes or URL are in `source`, the AI SDK's in `image`."""
    inner = block.get("content")
    if is_object(inner):
        block = inner
    source = block.get("source")
    if not is_object(source):
        return read_media({"modality": "image", **block}, note)
    mime = word(source.get("media_type")) or (f"image/{block['format']}" if word(block.get("format")) else None)
    data = word(source.get("data")) or word(source.get("bytes"))
    return media("image", mime, word(source.get("url")), None if data == _REPLACED else data)


def _first_text(block: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    found = (block[key] for key in keys if isinstance(block.get(key), str) and not is_placeholder(block[key]))
    return next((scrub(text) for text in found), None)
