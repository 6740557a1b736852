"""The branch: many writers at once, clones that parted, workspaces in workspaces, lines that are none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ledgers import DECLARATION, FIELDS, Repo, identify

from atifold.runs import branch
from atifold.runs.branch import lines_of_both
from atifold.runs.git import Git
from atifold.runs.lines import parse

WRITER = """
import json, sys
from pathlib import Path
from atifold.runs.workspace import locate
from atifold.runs.writing import Writer

writer = Writer(locate(Path.cwd()), Path.cwd())
number = int(sys.argv[1])
for turn in range(5):
    writer.record({"id": f"own-{number}-{turn}", "harness": "cook"})
    writer.statement("shared", {"payload": "", "payloadType": f"{number}-{turn}", "signatures": []}, sys.argv[2])
"""


def test_eight_processes_write_at_once(repo: Repo) -> None:
    """To one run and to runs of their own: no line is lost, none doubled, all are valid."""
    record = repo.record(id="shared")["run"]["record"]["sha256"]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(number), record], cwd=repo.folder) for number in range(8)
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0] * 8
    shared = parse(repo.file("shared"), "shared")
    told = sorted(line["envelope"]["payloadType"] for line in shared.statements)
    assert told == sorted(f"{number}-{turn}" for number in range(8) for turn in range(5))
    assert (shared.malformed, len(shared.events)) == (0, 42)
    runs = repo.runs("--json").document
    assert {run["id"] for run in runs["runs"]} == {
        "shared",
        *(f"own-{n}-{turn}" for n in range(8) for turn in range(5)),
    }
    assert runs["malformed"] == 0
    assert len(repo.git("rev-list", "chant/lifecycle").split()) == 81


def test_nothing_but_the_branch_changes(repo: Repo) -> None:
    """Neither work tree nor index nor HEAD; a file that waits to be committed waits on."""
    (repo.folder / "waiting.txt").write_text("x", encoding="utf-8")
    repo.git("add", "waiting.txt")
    before = repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD"), repo.git("ls-files", "-s")
    repo.record()
    assert (repo.git("status", "--porcelain"), repo.git("rev-parse", "HEAD"), repo.git("ls-files", "-s")) == before


def test_messages_and_lines_are_as_the_ledger_has_them(repo: Repo) -> None:
    """No final line end; a line each; other files of the branch stay."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"{}").strip()
    tree = repo.git("mktree", stdin=f"100644 blob {blob}\tother.json\n".encode()).strip()
    repo.git("update-ref", "refs/heads/chant/lifecycle", repo.git("commit-tree", tree, "-m", "other").strip())
    repo.runs("start", "--from", "-", stdin={"id": "r-1", "harness": "cook"})
    repo.runs("end", "r-1")
    repo.record(id="r-2")
    assert not repo.file().endswith(b"\n")
    assert [json.loads(line)["event"] for line in repo.file().split(b"\n")] == ["start", "end"]
    subjects = repo.git("log", "--format=%s by %an", "chant/lifecycle").splitlines()
    assert subjects[:3] == ["Agent run: r-2 by Ada", "Agent run end: r-1 by Ada", "Agent run start: r-1 by Ada"]
    assert repo.git("show", "chant/lifecycle:other.json") == "{}"


# ---- lines that are none ---------------------------------------------------------------------------


def test_malformed_lines_are_counted_and_skipped(repo: Repo) -> None:
    """They stay in the file, and the next line goes after them."""
    repo.record()
    good = repo.file()
    bad = [
        b"no json",
        b"[]",
        b"null",
        b'{"version":2}',
        good.split(b"\n")[0].replace(b'"version":1', b'"version":true'),
    ]
    repo.put(b"\n".join([bad[0], *good.split(b"\n"), *bad[1:], b"", b"  \r"]) + b"\n")
    document = repo.runs("--json").document
    assert (document["malformed"], len(document["runs"])) == (5, 1)
    assert [reason["code"] for reason in document["reasons"]] == ["runs-ledger-malformed"]
    assert document["runs"][0]["state"] == "ended"


@pytest.mark.parametrize(
    ("lines", "malformed", "started", "ended"),
    [
        ([], 0, 0, "run-unknown"),
        (["no json"], 1, 0, "run-unknown"),
        (["end"], 1, "run-exists", "run-unknown"),
        (["statement"], 1, "run-exists", "run-unknown"),
        (["start"], 0, "run-exists", 0),
        (["start", "start"], 0, "run-exists", 0),
        (["start", "end", "end"], 0, "run-exists", "run-ended"),
    ],
)
def test_files_that_others_left(repo: Repo, lines: list[str], malformed: int, started: object, ended: object) -> None:
    """An empty file may be started; one without a start is malformed, whatever it holds."""
    repo.record()
    first, second = repo.file().decode().split("\n")
    statement = '{"at":"x","envelope":{},"event":"statement","run":"r-1","version":1}'
    texts = {"start": first, "end": second, "statement": statement}
    repo.put("\n".join(texts.get(line, line) for line in lines).encode())
    assert repo.runs("--json").document["malformed"] == malformed
    left = repo.tip
    begun = repo.runs("start", "--from", "-", stdin={"id": "r-1", "harness": "cook"})
    assert (begun.error if started else begun.code) == started
    repo.git("update-ref", "refs/heads/chant/lifecycle", left)
    over = repo.runs("end", "r-1")
    assert (over.error if ended else over.code) == ended


# ---- workspaces ------------------------------------------------------------------------------------


def test_workspaces_in_workspaces_have_ledgers_of_their_own(repo: Repo) -> None:
    """By the member that owns the folder, level by level; one that nobody owns shares the outer ledger."""
    members = '[{"name": "platform", "dir": "p", "kind": "workspace"}, {"name": "root", "dir": ".", "kind": "app"}]'
    outer = DECLARATION.replace("[]", members)
    inner = DECLARATION.replace("[]", '[{"name": "api", "dir": "a/b", "kind": "workspace"}]')
    for folder, text in {".": outer, "p": inner, "p/a/b": DECLARATION, "loose": DECLARATION}.items():
        (repo.folder / folder).mkdir(parents=True, exist_ok=True)
        (repo.folder / folder / "chant.workspace.json").write_text(text, encoding="utf-8")
    where = {
        ".": "_agent-runs",
        "p": "_members/platform/_agent-runs",
        "p/a": "_members/platform/_agent-runs",
        "p/a/b": "_members/platform/_members/api/_agent-runs",
        "loose": "_agent-runs",
    }
    for number, (folder, ledger) in enumerate(where.items()):
        printed = Repo(repo.folder / folder).record(id=f"r-{number}")
        assert printed["ledger"]["path"] == f"{ledger}/r-{number}.jsonl"
    read = Repo(repo.folder / "p").runs("--json").document
    assert ([run["id"] for run in read["runs"]], read["workspace"]["root"]) == (["r-2", "r-1"], "p")
    assert len(repo.runs("--json").document["runs"]) == 2


def test_linked_work_trees_share_the_ledger(repo: Repo, tmp_path: Path) -> None:
    """What one records the other reads."""
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    linked = Repo(tmp_path / "linked")
    repo.record()
    linked.record(id="r-2")
    assert [run["id"] for run in repo.runs("--json").document["runs"]] == ["r-2", "r-1"]


def test_a_declaration_with_comments_is_read(repo: Repo) -> None:
    """In the .jsonc file alone; it may lie above the folder, and the repository's top ends the search."""
    (repo.folder / "chant.workspace.json").unlink()
    text = '\ufeff{ // ours\n "name": "a//b,]".x, /* one\n */ "schema": 1, "members": [],\n}'.replace(
        '"a//b,]".x', '"ab"'
    )
    (repo.folder / "chant.workspace.jsonc").write_text(text, encoding="utf-8")
    (repo.folder / "deep" / "er").mkdir(parents=True)
    assert Repo(repo.folder / "deep" / "er").record()["ledger"]["path"] == "_agent-runs/r-1.jsonl"
    inner = Repo(repo.folder / "own")
    inner.folder.mkdir()
    inner.git("init", "-q")
    assert inner.runs("record", "--from", "-", stdin=FIELDS).error == "declaration-missing"


# ---- remotes ---------------------------------------------------------------------------------------


@pytest.fixture
def clones(repo: Repo, tmp_path: Path) -> Callable[[], tuple[Repo, Repo, Repo]]:
    """Return a function that makes a remote and two clones of it, which name it `upstream`."""

    def make() -> tuple[Repo, Repo, Repo]:
        shutil.copytree(repo.folder, tmp_path / "seed")
        repo.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
        made = []
        for name in ("one", "two"):
            repo.git("clone", "-q", "-o", "upstream", str(tmp_path / "remote.git"), str(tmp_path / name))
            made.append(Repo(tmp_path / name))
            identify(made[-1])
        return Repo(tmp_path / "remote.git"), made[0], made[1]

    return make


def test_a_write_is_pushed_to_the_first_remote(clones: Callable[[], tuple[Repo, Repo, Repo]]) -> None:
    """And the other clone goes on from there."""
    remote, one, two = clones()
    printed = one.record()
    assert printed["ledger"]["pushed"] is True
    assert "notPushed" not in printed["ledger"]
    assert remote.tip == printed["ledger"]["commit"]
    assert two.runs("record", "--from", "-", stdin=FIELDS).error == "run-exists"
    assert two.tip == ""
    assert two.record(id="r-2")["ledger"]["pushed"] is True
    assert remote.git("rev-list", "--count", "chant/lifecycle").strip() == "2"


def test_clones_that_parted_keep_the_runs_of_both(clones: Callable[[], tuple[Repo, Repo, Repo]]) -> None:
    """Runs of either and lines of one run; nothing that was pushed is ever left behind."""
    remote, one, two = clones()
    assert one.runs("start", "--from", "-", stdin={"id": "common", "harness": "cook"}).code == 0
    two.git("fetch", "-q", "upstream", "chant/lifecycle:chant/lifecycle")
    away = remote.folder.with_name("away.git")
    remote.folder.rename(away)
    for repo, name in ((one, "one"), (two, "two")):
        printed = repo.record(id=name)
        assert printed["ledger"]["pushed"] is False
        assert printed["ledger"]["notPushed"].startswith("git refused the push: ")
        assert repo.runs("end", "common", "--from", "-", stdin={"outcome": name}).code == 0
    away.rename(remote.folder)
    assert one.record(id="after-one")["ledger"]["pushed"] is True
    before = remote.tip
    assert two.record(id="after-two")["ledger"]["pushed"] is True
    runs = {run["id"] for run in two.runs("--json").document["runs"]}
    assert runs == {"common", "one", "two", "after-one", "after-two"}
    lines = [json.loads(line) for line in two.file("common").split(b"\n")]
    assert [line.get("outcome") for line in lines] == [None, "one", "two"]
    remote.git("merge-base", "--is-ancestor", before, remote.tip)


def test_histories_without_a_common_commit_are_joined(clones: Callable[[], tuple[Repo, Repo, Repo]]) -> None:
    """Two clones that each began the branch, and the same run in both: the lines of both stay."""
    remote, one, two = clones()
    away = remote.folder.with_name("away.git")
    remote.folder.rename(away)
    one.record(id="same", by="one")
    two.record(id="same", by="two")
    away.rename(remote.folder)
    assert one.record(id="r-1")["ledger"]["pushed"] is True
    assert two.record(id="r-2")["ledger"].get("notPushed") is None
    lines = [json.loads(line) for line in two.file("same").split(b"\n")]
    assert [(line["event"], line.get("by")) for line in lines] == [
        ("start", "one"),
        ("end", None),
        ("start", "two"),
    ]
    assert two.runs("--json").document["runs"][0]["by"] == "one"


def test_a_push_that_was_too_late_is_done_again(clones: Callable[[], tuple[Repo, Repo, Repo]]) -> None:
    """Where another clone pushed between fetch and push."""
    remote, one, two = clones()
    hook = one.folder / ".git" / "hooks" / "pre-push"
    mark = one.folder / "pushed"
    go = f"cd {two.folder} && env -u GIT_DIR {sys.executable} -m atifold runs record --from {two.folder}/late.json"
    hook.write_text(f"#!/bin/sh\n[ -e {mark} ] || {{ touch {mark}; {go} >/dev/null; }}\n", encoding="utf-8")
    hook.chmod(0o755)
    (two.folder / "late.json").write_text(json.dumps({**FIELDS, "id": "late"}), encoding="utf-8")
    assert one.record()["ledger"]["pushed"] is True
    assert remote.git("ls-tree", "--name-only", "chant/lifecycle:_agent-runs").split() == ["late.jsonl", "r-1.jsonl"]


def test_a_refusal_of_the_remote_is_said(clones: Callable[[], tuple[Repo, Repo, Repo]]) -> None:
    """By git's own first line; the run is in the local ledger."""
    remote, one, _ = clones()
    hook = remote.folder / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho we are closed >&2\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)
    ledger = one.record()["ledger"]
    assert ledger["pushed"] is False
    assert ledger["notPushed"] == "git refused the push: remote: we are closed"
    assert one.tip == ledger["commit"]


def test_other_files_of_the_branch_that_both_changed_are_not_guessed(
    clones: Callable[[], tuple[Repo, Repo, Repo]],
) -> None:
    """The write is kept here, and the push says why it was not done; what one side changed is merged."""
    remote, one, two = clones()
    away = remote.folder.with_name("away.git")
    for repo, text in ((one, b"one"), (two, b"two")):
        commit = branch.write(Git(repo.folder), "state.json", lambda _, text=text: text, "state").commit
        assert repo.tip == commit
        if repo is one:
            remote.folder.rename(away)
    away.rename(remote.folder)
    printed = two.record()
    assert printed["ledger"]["pushed"] is False
    assert printed["ledger"]["notPushed"] == (
        "the remote holds commits that cannot be joined: state.json was changed on both sides"
    )
    assert remote.git("show", "chant/lifecycle:state.json") == "one"
    assert [run["id"] for run in two.runs("--json").document["runs"]] == ["r-1"]


def test_lines_of_both_sides_are_kept_once() -> None:
    """Theirs first; an empty side adds nothing."""
    assert lines_of_both(b"a\nb", b"a\nc\n") == b"a\nb\nc"
    assert lines_of_both(b"", b"a") == b"a"


def test_a_ledger_that_is_locked_is_waited_for(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock that never goes ends in a document, not in a hang."""
    monkeypatch.setattr(branch, "_TRIES", 3)
    repo.record()
    lock = repo.folder / ".git" / "refs" / "heads" / "chant" / "lifecycle.lock"
    lock.touch()
    before = repo.tip
    answer = repo.runs("record", "--from", "-", stdin={**FIELDS, "id": "r-2"})
    assert answer.error == "write-usage-invalid"
    assert repo.tip == before
    os.unlink(lock)  # noqa: PTH108
    repo.record(id="r-2")
