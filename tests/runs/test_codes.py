"""Each code of the closed list is reached: its document, exit code 1, and nothing written."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from ledgers import DECLARATION, FIELDS, Repo, public

from atifold.runs import dsse
from atifold.runs.refusal import Code
from atifold.runs.statement import statement_of

Given = Callable[[Repo, Callable[..., Path]], tuple[list[object], object]]
"""Sets a repository up and returns the arguments of the command and what is on stdin."""

RECORD = ["record", "--from", "-"]


def declared(text: str, name: str = "chant.workspace.json") -> Given:
    """Have another declaration."""

    def given(repo: Repo, _key: Any) -> tuple[list[object], object]:
        (repo.folder / "chant.workspace.json").unlink()
        if text:
            (repo.folder / name).write_text(text, encoding="utf-8")
        return RECORD, FIELDS

    return given


def two_declarations(repo: Repo, _key: Any) -> tuple[list[object], object]:
    """Have both files."""
    (repo.folder / "chant.workspace.jsonc").write_text(DECLARATION, encoding="utf-8")
    return RECORD, FIELDS


def no_repository(repo: Repo, _key: Any) -> tuple[list[object], object]:
    """Have a declaration and no git."""
    (repo.folder / ".git").rename(repo.folder / "no-git")
    return RECORD, FIELDS


def asked(*arguments: object, stdin: object = b"") -> Given:
    """Have nothing but a command."""
    return lambda _repo, _key: (list(arguments), stdin)


def recorded(*arguments: object, stdin: object = b"", **fields: object) -> Given:
    """Have a run."""

    def given(repo: Repo, _key: Any) -> tuple[list[object], object]:
        repo.record(**fields)
        return list(arguments), stdin

    return given


def started(*arguments: object) -> Given:
    """Have a run that has not ended."""

    def given(repo: Repo, _key: Any) -> tuple[list[object], object]:
        assert repo.runs("start", "--from", "-", stdin={"id": "r-1", "harness": "cook"}).code == 0
        return list(arguments), b""

    return given


def signing(policy: str = "listed", key_text: bytes | None = None) -> Given:
    """Have a run, a policy and a key."""

    def given(repo: Repo, key: Callable[..., Path]) -> tuple[list[object], object]:
        repo.record()
        path, other = key(), key("other")
        if policy == "signer":
            (repo.folder / ".chant").mkdir()
            (repo.folder / ".chant" / "allowed_signers").write_text(f"ada {public(path)}\n", encoding="utf-8")
        repo.trust(*{"listed": [("ci", path)], "other": [("ci", other)], "signer": []}[policy])
        if policy == "listed" and key_text is not None:
            path.write_bytes(key_text)
        return ["sign", "r-1", "--key", path], b""

    return given


def unreadable_policy(repo: Repo, key: Callable[..., Path]) -> tuple[list[object], object]:
    """Have a policy with a member that nobody knows."""
    repo.record()
    repo.trust(("ci", key()), colour="green")
    return ["sign", "r-1", "--key", key("again")], b""


def enveloped(change: Callable[[Any, Any], Any], signer: str = "ci") -> Given:
    """Have an envelope of a listed key, changed before (the statement) or after it was signed."""

    def given(repo: Repo, key: Callable[..., Path]) -> tuple[list[object], object]:
        run, path = repo.record()["run"], key()
        repo.trust(("ci", path))
        loaded = dsse.load_key(path.read_bytes())
        statement = statement_of(run, signer)
        envelope = change(statement, None)
        envelope = dsse.sign(json.dumps(statement).encode(), loaded) if envelope is None else envelope
        return ["sign", "r-1", "--envelope", "-"], change(statement, envelope) or envelope

    return given


def stranger(repo: Repo, key: Callable[..., Path]) -> tuple[list[object], object]:
    """Have an envelope of a key that nobody listed."""
    run = repo.record()["run"]
    repo.trust(("ci", key()))
    envelope = dsse.sign(json.dumps(statement_of(run, "ci")).encode(), dsse.load_key(key("other").read_bytes()))
    return ["sign", "r-1", "--envelope", "-"], envelope


def other_model(statement: Any, envelope: Any) -> Any:
    """Say another model than the record before it is signed."""
    if envelope is None:
        statement["predicate"]["model"] = "another"


def unknown_key(statement: Any, envelope: Any) -> Any:
    """Say more than the predicate knows."""
    if envelope is None:
        statement["predicate"]["mood"] = "good"


def loose_base64(_statement: Any, envelope: Any) -> Any:
    """Leave the padding out after it is signed."""
    return None if envelope is None else {**envelope, "payload": envelope["payload"].rstrip("=") + "x"}


PINNED = '{"name": "a", "schema": 1, "members": [], "pins": [{"package": "@intentius/chant", "version": "%s"}]}'
CASES: list[tuple[str, Given]] = [
    ("declaration-missing", declared("")),
    ("declaration-ambiguous", two_declarations),
    ("declaration-unparseable", declared('{"name": "a",}')),
    ("declaration-unparseable", declared('{"name": "a", "name": "b", "schema": 1, "members": []}')),
    ("declaration-invalid", declared("[]")),
    ("declaration-invalid", declared('{"name": "a", "schema": 2, "members": []}')),
    ("declaration-invalid", declared('{"name": "A", "schema": 1, "members": []}')),
    ("declaration-invalid", declared('{"name": "a", "schema": 1}')),
    ("declaration-invalid", declared('{"name": "a", "schema": 1, "members": [], "colour": 1}')),
    ("declaration-invalid", declared('{"name": "a", "schema": 1, "members": [{"name": "b", "dir": "b"}]}')),
    (
        "declaration-invalid",
        declared('{"name": "a", "schema": 1, "members": [{"name": "b", "dir": "../b", "kind": "c"}]}'),
    ),
    (
        "declaration-invalid",
        declared('{"name": "a", "schema": 1, "members": [{"name": "b", "dir": "b", "kind": "other"}]}'),
    ),
    ("root-chant-required", declared(PINNED % "0.0.1")),
    ("reader-too-old", declared('{"name": "a", "schema": 2, "members": [], "minReader": "999.0.0"}')),
    (
        "placement-invalid",
        declared(
            '{"name": "a", "schema": 1, "members": [{"name": "x", "dir": "d", "kind": "app"},'
            ' {"name": "y", "dir": "d/e", "kind": "app"}]}'
        ),
    ),
    ("not-a-git-repository", no_repository),
    ("revision-unknown", asked("--since", "nowhere", "--json")),
    ("write-usage-invalid", asked("start")),
    ("write-usage-invalid", asked("start", "--unit", "u", "--from", "-", stdin=FIELDS)),
    ("write-usage-invalid", asked("record", "--since", "HEAD", "--from", "-", stdin=FIELDS)),
    ("write-usage-invalid", asked("record", "r-1", "--from", "-", stdin=FIELDS)),
    ("write-usage-invalid", asked("--by", "ada", "record", "--from", "-", stdin=FIELDS)),
    ("write-usage-invalid", asked("end")),
    ("write-usage-invalid", asked("sign", "r-1")),
    ("write-usage-invalid", asked("sign", "r-1", "--key", "k", "--envelope", "e")),
    ("write-usage-invalid", asked("statement", "r-1")),
    ("write-usage-invalid", asked("verify", "--require", "everything")),
    ("write-usage-invalid", asked("record", "--from", "-", "--by", "ada", stdin=FIELDS)),
    ("write-usage-invalid", asked("init", "--runner", "ci")),
    ("write-input-invalid", asked("record", "--from", "nowhere.json")),
    ("write-input-invalid", asked("record", "--from", "-", stdin=b"{")),
    ("write-input-invalid", asked("record", "--from", "-", stdin=[])),
    ("write-input-invalid", asked("record", "--from", "-", stdin={})),
    ("write-input-invalid", asked("record", "--trajectory", "nowhere.json")),
    ("write-input-invalid", asked(*RECORD, stdin={**FIELDS, "endedAt": "2026-11-30T09:59:59.999Z"})),
    ("write-input-invalid", asked(*RECORD, stdin={**FIELDS, "transcript": {"path": "nowhere"}})),
    ("write-input-invalid", asked(*RECORD, stdin={**FIELDS, "commits": ["deadbeef"]})),
    ("run-exists", recorded(*RECORD, stdin=FIELDS)),
    ("run-exists", recorded("start", "--from", "-", stdin={"id": "r-1", "harness": "cook"})),
    ("run-unknown", asked("end", "r-9")),
    ("run-unknown", asked("end", "no id")),
    ("run-unknown", asked("statement", "r-9", "--signer", "ci")),
    ("run-unknown", asked("verify", "r-9")),
    ("run-unknown", asked("sign", "r-9", "--envelope", "-", stdin={})),
    ("run-ended", recorded("end", "r-1")),
    ("run-not-ended", started("statement", "r-1", "--signer", "ci")),
    ("run-not-ended", started("sign", "r-1", "--envelope", "-")),
    ("trust-policy-unreadable", unreadable_policy),
    ("trust-policy-unreadable", recorded("sign", "r-1", "--envelope", "-", "--base", "nowhere", stdin={})),
    ("runner-key-invalid", signing(key_text=b"no key")),
    ("runner-key-invalid", recorded("sign", "r-1", "--key", "nowhere.pem")),
    ("runner-key-is-signer", signing("signer")),
    ("runner-key-unlisted", signing("other")),
    ("envelope-unreadable", recorded("sign", "r-1", "--envelope", "-", stdin=b"{")),
    ("envelope-unreadable", recorded("sign", "r-1", "--envelope", "nowhere.json")),
    ("envelope-invalid", recorded("sign", "r-1", "--envelope", "-", stdin={"payload": "e30="})),
    ("envelope-invalid", enveloped(loose_base64)),
    ("envelope-untrusted", stranger),
    ("run-statement-invalid", enveloped(unknown_key)),
    ("run-statement-signer-mismatch", enveloped(lambda _statement, _envelope: None, signer="another")),
    ("run-statement-mismatch", enveloped(other_model)),
]


def test_all_codes_have_a_case() -> None:
    """The list is closed, and so is this one."""
    assert {code for code, _ in CASES} == set(get_args(Code))


@pytest.mark.parametrize(("code", "given"), CASES)
def test_a_code_is_reached_and_nothing_is_written(
    code: str, given: Given, repo: Repo, key: Callable[..., Path]
) -> None:
    """A valid document, a line for people, exit code 1, and the branch as it was."""
    arguments, stdin = given(repo, key)
    git = repo if (repo.folder / ".git").exists() else None
    before = git.tip if git else ""
    answer = repo.runs(*arguments, stdin=stdin)
    assert answer.error == code
    assert (git.tip if git else "") == before
    if arguments[0] in ("start", "end", "record", "sign", "statement", "verify"):
        assert answer.document["verb"] == arguments[0]


@pytest.mark.parametrize("arguments", [["dance"], ["show", "r-9"], ["--colour"], ["list", "--colour"], ["show"]])
def test_what_has_no_document_is_a_line(repo: Repo, arguments: list[str]) -> None:
    """Other verbs, options of a read, a run to show that is not there."""
    answer = repo.runs(*arguments)
    assert (answer.code, answer.stdout) == (1, "")
    assert answer.stderr.startswith("atifold: ")


def test_a_read_that_is_refused_is_a_line_without_json(repo: Repo) -> None:
    """And a document with it."""
    answer = repo.runs("--since", "nowhere")
    assert (answer.code, answer.stdout) == (1, "")
    assert answer.stderr.startswith("atifold: revision-unknown: ")


def test_a_bare_repository_has_no_ledger(repo: Repo, tmp_path: Path) -> None:
    """Whatever lies in it."""
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    bare = Repo(tmp_path / "bare.git")
    assert bare.runs(*RECORD, stdin=FIELDS).error == "declaration-missing"
    (bare.folder / "chant.workspace.json").write_text(DECLARATION, encoding="utf-8")
    assert bare.runs(*RECORD, stdin=FIELDS).error == "not-a-git-repository"


def test_a_missing_identity_is_said(repo: Repo) -> None:
    """In words that name what git wants; nothing is written."""
    repo.git("config", "--unset", "user.name")
    repo.git("config", "--unset", "user.email")
    repo.git("config", "user.useConfigOnly", "true")
    answer = repo.runs(*RECORD, stdin=FIELDS)
    assert answer.error == "write-usage-invalid"
    assert "user.name and user.email" in answer.stderr
    assert repo.tip == ""


def test_payloads_of_another_type_are_judged_after_the_signature(repo: Repo, key: Callable[..., Path]) -> None:
    """A stranger's is untrusted, whatever its type; a listed key's is no statement."""
    run, path = repo.record()["run"], key()
    repo.trust(("ci", path))
    payload = json.dumps(statement_of(run, "ci")).encode()
    private = dsse.load_key(path.read_bytes())
    sig = base64.b64encode(private.private.sign(dsse.pae("text/plain", payload))).decode()
    envelope = {**dsse.sign(payload, private), "payloadType": "text/plain"}
    answer = repo.runs("sign", "r-1", "--envelope", "-", stdin=envelope)
    assert answer.error == "envelope-untrusted"
    envelope["signatures"][0]["sig"] = sig
    assert repo.runs("sign", "r-1", "--envelope", "-", stdin=envelope).error == "run-statement-invalid"
