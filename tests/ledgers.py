"""Repositories with a run ledger, and the commands that run in them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner
from jsonschema import Draft202012Validator

from atifold.cli import main
from atifold.runs.dsse import load_key

SCHEMAS = Path(__file__).resolve().parent.parent / "schemas"
BRANCH = "chant/lifecycle"
DECLARATION = '{"name": "orchard", "schema": 1, "members": []}'
FIELDS: dict[str, Any] = {
    "id": "r-1",
    "harness": {"name": "cook", "version": "2"},
    "startedAt": "2026-11-30T10:00:00Z",
    "endedAt": "2026-11-30T10:01:00Z",
}


class Answer(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """Return the one document on stdout, held against its schema."""
        found = json.loads(self.stdout)
        hold_against_schema(found)
        return found

    @property
    def error(self) -> str:
        """Return the code of a failure, after the promises of every failure."""
        found = self.document
        assert self.code == 1
        assert f"atifold: {found['error']['code']}: " in self.stderr
        return str(found["error"]["code"])


def hold_against_schema(document: Any) -> None:
    """Validate a document by the kept schema that it names."""
    kind = document["$schema"].rsplit("/", 1)[1]
    schema = json.loads((SCHEMAS / kind).read_text(encoding="utf-8"))
    Draft202012Validator(schema).validate(document)


class Repo(NamedTuple):
    """A repository, and the commands that run in it."""

    folder: Path

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Return what git says."""
        done = subprocess.run(["git", *arguments], cwd=self.folder, input=stdin, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    def commit(self, message: str = "work", **files: str) -> str:
        """Commit files, by name with `__` for the dot, and return the commit's id."""
        for name, text in files.items():
            (self.folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def runs(self, *arguments: object, stdin: object = b"", env: dict[str, str] | None = None) -> Answer:
        """Run `atifold runs` here; an object on stdin is written as JSON."""
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            data = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
            result = CliRunner().invoke(main, ["runs", *map(str, arguments)], input=data, env=env)
        finally:
            os.chdir(before)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    def record(self, **fields: object) -> Any:
        """Record a run and return the document."""
        answer = self.runs("record", "--from", "-", stdin={**FIELDS, **fields})
        assert answer.code == 0, answer.stderr
        return answer.document

    @property
    def tip(self) -> str:
        """Return the commit of the ledger's branch, empty where there is none."""
        return self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{BRANCH}").strip()

    def file(self, run: str = "r-1", folder: str = "_agent-runs") -> bytes:
        """Return the ledger file of a run."""
        shown = subprocess.run(
            ["git", "show", f"{BRANCH}:{folder}/{run}.jsonl"], cwd=self.folder, capture_output=True, check=True
        )
        return shown.stdout

    def put(self, data: bytes, run: str = "r-1") -> None:
        """Write a ledger file as nobody should: with other bytes than a writer would."""
        blob = self.git("hash-object", "-w", "--stdin", stdin=data).strip()
        inner = self.git("mktree", stdin=f"100644 blob {blob}\t{run}.jsonl\n".encode()).strip()
        tree = self.git("mktree", stdin=f"040000 tree {inner}\t_agent-runs\n".encode()).strip()
        commit = self.git("commit-tree", tree, "-m", "tampered").strip()
        self.git("update-ref", f"refs/heads/{BRANCH}", commit)

    def trust(self, *runners: tuple[str, Path], **more: object) -> None:
        """Commit a trust policy that lists keys by their principals."""
        listed = [{"principal": name, "class": "runner", "key": public(key)} for name, key in runners]
        (self.folder / ".chant").mkdir(exist_ok=True)
        policy = {"schema": 1, "runners": listed, **more}
        (self.folder / ".chant" / "trust.json").write_text(json.dumps(policy), encoding="utf-8")
        self.commit("policy")


def public(key: Path) -> str:
    """Return the public line of a private key's file."""
    return load_key(key.read_bytes()).public


def identify(repo: Repo) -> None:
    """Give a repository's git an identity."""
    repo.git("config", "user.name", "Ada")
    repo.git("config", "user.email", "ada@example.org")
