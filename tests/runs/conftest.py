"""What the tests of the run ledger share: repositories, keys, the reference's examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from ledgers import DECLARATION, Repo, identify


@pytest.fixture(autouse=True)
def own_git(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the settings of whoever runs the tests, and the session that they run in, out of them."""
    empty = tmp_path_factory.getbasetemp() / "no-gitconfig"
    empty.touch()
    for name in [name for name in os.environ if name.startswith("GIT_") or name == "CHANT_AGENT"]:
        monkeypatch.delenv(name)
    for name, value in {"GLOBAL": str(empty), "SYSTEM": str(empty)}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)


@pytest.fixture
def bare_repo(tmp_path: Path) -> Callable[..., Repo]:
    """Return a function that makes a repository with an identity and nothing in it."""

    def make(name: str = "repo") -> Repo:
        folder = tmp_path / name
        folder.mkdir()
        repo = Repo(folder)
        repo.git("init", "-q", "-b", "main")
        identify(repo)
        return repo

    return make


@pytest.fixture
def repo(bare_repo: Callable[..., Repo]) -> Repo:
    """Return a repository that is a workspace, with one commit."""
    made = bare_repo()
    made.commit("first", chant__workspace__json=DECLARATION)
    return made


@pytest.fixture
def key(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that makes a key's file, which its owner alone can read."""

    def make(name: str = "ci") -> Path:
        path = tmp_path / f"{name}.pem"
        private = Ed25519PrivateKey.generate()
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path.touch(mode=0o600)
        path.write_bytes(private.private_bytes(*form))
        return path

    return make


@pytest.fixture
def examples(shared: Path) -> Path:
    """Return the folder of the reference's examples, or skip the test."""
    return shared / "reference" / "chant" / "examples"
