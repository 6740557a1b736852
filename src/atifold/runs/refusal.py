"""Refuse a command of the ledger by one code of its closed list."""

from __future__ import annotations

from typing import Final, Literal

from atifold.errors import AtifoldError

Code = Literal[
    "declaration-missing",
    "declaration-ambiguous",
    "declaration-unparseable",
    "declaration-invalid",
    "placement-invalid",
    "reader-too-old",
    "root-chant-required",
    "not-a-git-repository",
    "revision-unknown",
    "write-usage-invalid",
    "write-input-invalid",
    "run-exists",
    "run-unknown",
    "run-ended",
    "run-not-ended",
    "trust-policy-unreadable",
    "runner-key-invalid",
    "runner-key-is-signer",
    "runner-key-unlisted",
    "envelope-unreadable",
    "envelope-invalid",
    "envelope-untrusted",
    "run-statement-invalid",
    "run-statement-signer-mismatch",
    "run-statement-mismatch",
]

WORKSPACE_CODES: Final = 9
"""How many of the codes, from the first on, say that a workspace or a revision could not be read."""


class RefusedError(AtifoldError):
    """Say by a code, and in words, why nothing was written or read."""

    def __init__(self, code: Code, message: str) -> None:
        """Take the code and the words."""
        self.code: Code = code
        self.message = message
        super().__init__(f"{code}: {message}")
