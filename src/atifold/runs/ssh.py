"""Write and read Ed25519 public keys as ssh does; a key is known by its fingerprint."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from typing import Final

TYPE: Final = b"ssh-ed25519"
_HEAD: Final = struct.pack(">I", len(TYPE)) + TYPE + struct.pack(">I", 32)
_FOREIGN: Final = re.compile("[^A-Za-z0-9+/]")


def public_line(raw: bytes) -> str:
    """Return `ssh-ed25519 <base64>` of a public key's 32 bytes."""
    return f"{TYPE.decode()} {base64.b64encode(_HEAD + raw).decode()}"


def raw_of(line: str) -> bytes | None:
    """Return the 32 bytes of a public key's line, None where it holds no such key."""
    blob = blob_of(line)
    return blob[len(_HEAD) :] if blob.startswith(_HEAD) and len(blob) == len(_HEAD) + 32 else None


def blob_of(line: str) -> bytes:
    """Return the bytes behind the base64 of a line."""
    return lenient_base64(line.split()[1])


def fingerprint(line: str) -> str:
    """Return `SHA256:` and the unpadded base64 of the hash of a public key."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob_of(line)).digest()).decode().rstrip("=")


def lenient_base64(text: str) -> bytes:
    """Return the bytes of base64 of either alphabet up to its first `=`, whatever stands between its signs.

    What is cut off is dropped.
    """
    plain = _FOREIGN.sub("", text.partition("=")[0].replace("-", "+").replace("_", "/"))
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return base64.b64decode(plain + "=" * (-len(plain) % 4))
