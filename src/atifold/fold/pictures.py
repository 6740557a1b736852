"""Keep the images that a trace holds as data, for files beside the document: ATIF holds no data itself."""

from __future__ import annotations

import base64
import binascii
from hashlib import sha256
from typing import Final

from atifold.calls import Media

TYPES: Final = {
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/png": "image/png",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
"""ATIF's media type of an image, by what traces call it."""

_SUFFIXES: Final = {"image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
_NAME: Final = 16
"""Characters of the digest that name a file: the same image is one file however often it was sent."""


class Pictures:
    """Take the images of one document; `files` has their bytes by path, seen from the document's folder."""

    def __init__(self) -> None:
        """Start without a folder: the document's name, which is known later, is that of the folder."""
        self.folder = ""
        self.files: dict[str, bytes] = {}

    def source(self, media: Media) -> dict[str, str] | None:
        """Return ATIF's source of an image whose data is kept here; None for what is no image or no base64."""
        kind = TYPES.get((media.mime_type or "").lower())
        if kind is None and media.mime_type is None and media.modality == "image":
            kind = "image/png"
        data = _decoded(media.data) if kind and media.data else b""
        if kind is None or not data:
            return None
        path = f"{self.folder}/{sha256(data).hexdigest()[:_NAME]}.{_SUFFIXES[kind]}"
        self.files[path] = data
        return {"media_type": kind, "path": path}


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""
