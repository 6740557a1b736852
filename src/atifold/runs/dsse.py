"""Sign payloads with Ed25519 in DSSE envelopes (version 1), and judge envelopes.

The signature covers type and payload with their lengths, so that neither can be moved to another
envelope. https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from atifold.jsontext import scrub
from atifold.kinds import is_list, is_object
from atifold.runs import ssh
from atifold.runs.ecmascript import WHITE
from atifold.runs.refusal import RefusedError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
_WHITE: Final = re.compile(f"[{WHITE}]")


class Key(NamedTuple):
    """A private key that signs, and the line of its public half."""

    private: Ed25519PrivateKey
    public: str


class RunnerKey(NamedTuple):
    """A key that the trust policy lists: whose it is, of which class, and its line."""

    principal: str
    class_: str
    key: str


class Signed(NamedTuple):
    """An envelope that a listed key signed: the key, its id, and what was signed."""

    runner: RunnerKey
    keyid: str
    payload_type: str
    payload: bytes


def load_key(pem: bytes) -> Key:
    """Return an Ed25519 key of an unencrypted PKCS#8 PEM; raises RefusedError that says what it is instead.

    No byte of the key is ever part of what is said.
    """
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only who signs or verifies needs it
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415

    label = next((label for label in _LABELS if b"-----BEGIN " + label.encode() + b"-----" in pem), None)
    if label is None or label != "PRIVATE KEY":
        raise RefusedError("runner-key-invalid", f"{_LABELS.get(label or '', 'no key in PEM')}; {_WANTED}")
    try:
        private = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise RefusedError("runner-key-invalid", f"the PEM holds no key that can be read; {_WANTED}") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise RefusedError("runner-key-invalid", f"the key is of another type than Ed25519; {_WANTED}")
    raw = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return Key(private, ssh.public_line(raw))


_WANTED: Final = "an unencrypted Ed25519 key in PKCS#8 PEM was wanted (openssl genpkey -algorithm ed25519)"
_LABELS: Final = {
    "ENCRYPTED PRIVATE KEY": "the key is under a passphrase",
    "OPENSSH PRIVATE KEY": "the key is in OpenSSH's own form",
    "RSA PRIVATE KEY": "the key is an RSA key",
    "EC PRIVATE KEY": "the key is an EC key",
    "PRIVATE KEY": "",
    "PUBLIC KEY": "the file holds a public key",
}
"""What a PEM file may hold, in words; the one without words is what is wanted."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return what a signature covers (pre-authentication encoding)."""
    kind = scrub(payload_type).encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign(payload: bytes, key: Key) -> dict[str, Any]:
    """Return the envelope of a payload."""
    signature = key.private.sign(pae(PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": ssh.fingerprint(key.public), "sig": base64.b64encode(signature).decode()}],
    }


def verify(envelope: Any, runners: Sequence[RunnerKey]) -> Signed:
    """Return who signed an envelope; one good signature of a listed key is enough.

    Raises RefusedError: `envelope-invalid` for what is none, `envelope-untrusted` without such a signature.
    """
    payload = _payload(envelope)
    message = pae(envelope["payloadType"], payload)
    known = {ssh.fingerprint(runner.key): runner for runner in runners}
    for signature in envelope["signatures"]:
        runner = known.get(signature["keyid"])
        if runner is not None and _is_good(runner.key, ssh.lenient_base64(signature["sig"]), message):
            return Signed(runner, signature["keyid"], envelope["payloadType"], payload)
    ids = ", ".join(signature["keyid"] for signature in envelope["signatures"]) or "none"
    raise RefusedError(
        "envelope-untrusted", f"no key that the policy at base lists made a good signature (key ids: {ids})"
    )


def _payload(envelope: Any) -> bytes:
    fits = (
        is_object(envelope)
        and isinstance(envelope.get("payloadType"), str)
        and isinstance(envelope.get("payload"), str)
        and is_list(envelope.get("signatures"))
        and all(_is_signature(item) for item in envelope["signatures"])
    )
    if not fits:
        raise RefusedError("envelope-invalid", "no DSSE envelope: payloadType, payload and signatures were wanted")
    text = _WHITE.sub("", envelope["payload"])
    payload = ssh.lenient_base64(text)
    if base64.b64encode(payload).decode() != text:
        raise RefusedError("envelope-invalid", "the payload is no canonical base64")
    return payload


def _is_signature(item: object) -> bool:
    return is_object(item) and isinstance(item.get("keyid"), str) and isinstance(item.get("sig"), str)


def _is_good(line: str, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - as in `load_key`
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415

    raw = ssh.raw_of(line)
    if raw is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
