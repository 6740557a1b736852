"""Commits of a run: listed, named by a trailer, or the same patch anew; their patches and hunks."""

from __future__ import annotations

from typing import Any

import pytest
from ledgers import FIELDS, Repo


def commits(repo: Repo, run: str = "r-1") -> list[Any]:
    """Return the commits of a run as it is read."""
    document = repo.runs("--json").document
    return next(each["commits"] for each in document["runs"] if each["id"] == run)


def patch_id(repo: Repo, commit: str) -> str:
    """Return a patch id as git's own pipe gives it."""
    patch = repo.git("show", "--format=", "--patch", commit).encode()
    return repo.git("patch-id", "--stable", stdin=patch).split()[0]


def test_listed_commits_have_full_ids_patches_and_hunks(repo: Repo) -> None:
    """A short id is enough; one that is listed again adds its hunks."""
    commit = repo.commit(a__txt="one\n")
    other = repo.commit(b__txt="two\n")
    hunks = [{"path": " a.txt ", "start": 1, "end": 1.0}, {"path": "b/c.txt", "start": 2, "end": 3}]
    listed = [commit[:7], other, *({"sha": commit, "hunks": [hunk]} for hunk in hunks)]
    printed = repo.record(commits=listed)["run"]["commits"]
    wanted = [{"path": "a.txt", "start": 1, "end": 1}, {"path": "b/c.txt", "start": 2, "end": 3}]
    assert printed == [
        {"sha": commit, "patchId": patch_id(repo, commit), "joinedBy": ["record"], "hunks": wanted},
        {"sha": other, "patchId": patch_id(repo, other), "joinedBy": ["record"], "hunks": None},
    ]
    assert b'"hunks":[{"end":1,"path":"a.txt","start":1}' in repo.file()


def test_a_trailer_joins_a_commit(repo: Repo) -> None:
    """Whatever the case of its key, on HEAD's history alone; a listed one is joined twice."""
    listed = repo.commit("work\n\nChant-Run: r-1", a__txt="one\n")
    repo.record(commits=[listed])
    named = repo.commit("more\n\nCHANT-RUN:   r-1  \nChant-Run: r-2", b__txt="two\n")
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("aside\n\nChant-Run: r-1", c__txt="three\n")
    repo.git("checkout", "-q", "main")
    repo.commit("no trailer: Chant-Run: r-1", d__txt="four\n")
    found = commits(repo)
    assert [(each["sha"], each["joinedBy"]) for each in found] == [
        (listed, ["record", "trailer"]),
        (named, ["trailer"]),
    ]
    assert found[1]["patchId"] == patch_id(repo, named)
    assert [each["sha"] for each in repo.record(id="r-9", commits=[listed])["run"]["commits"]] == [listed]
    subjects = repo.runs("statement", "r-1", "--signer", "ci").document["statement"]["subject"]
    assert [subject["name"] for subject in subjects] == sorted([listed, named])


def test_documents_of_writes_list_the_end_s_commits_alone(repo: Repo) -> None:
    """Those of a trailer come with sign, statement, verify and read."""
    repo.commit("work\n\nChant-Run: r-1", a__txt="one\n")
    assert repo.record()["run"]["commits"] == []
    assert len(commits(repo)) == 1


def test_a_merge_that_changes_nothing_has_no_patch(repo: Repo) -> None:
    """It is joined all the same; bytes that are no text do not matter."""
    repo.git("checkout", "-q", "-b", "side")
    (repo.folder / "latin.txt").write_bytes(b"caf\xe9\n")
    repo.commit("side")
    repo.git("checkout", "-q", "main")
    repo.commit(a__txt="one\n")
    repo.git("merge", "-q", "--no-ff", "side", "-m", "merge\n\nChant-Run: r-1")
    merge, side = repo.git("rev-parse", "HEAD", "side").split()
    repo.record(commits=[side])
    found = {each["sha"]: each["patchId"] for each in commits(repo)}
    assert found[merge] is None
    assert found[side] is not None


@pytest.mark.parametrize("started", ["2020-01-01T00:00:00Z", "1969-07-20T20:17:40Z", "0001-01-01T00:00:00Z"])
def test_a_commit_that_was_picked_anew_is_joined_by_its_patch(started: str, repo: Repo) -> None:
    """In read documents, where the recorded one is not on HEAD's history; a merge or a joined one is not."""
    repo.git("checkout", "-q", "-b", "side")
    recorded = repo.commit("work", a__txt="one\n")
    repo.git("checkout", "-q", "main")
    repo.commit(b__txt="two\n")
    repo.git("cherry-pick", recorded)
    picked = repo.git("rev-parse", "HEAD").strip()
    repo.runs("record", "--from", "-", stdin={**FIELDS, "startedAt": started, "commits": [recorded]})
    found = commits(repo)
    assert [(each["sha"], each["joinedBy"], each.get("recordedAs")) for each in found] == [
        (recorded, ["record"], None),
        (picked, ["patch-id"], recorded),
    ]
    told = repo.runs("statement", "r-1", "--signer", "ci").document["statement"]
    assert [subject["name"] for subject in told["subject"]] == [recorded]


def test_a_picked_commit_before_the_run_is_none_of_it(repo: Repo) -> None:
    """Commits are looked at since the run's start, less one day."""
    repo.git("checkout", "-q", "-b", "side")
    recorded = repo.commit("work", a__txt="one\n")
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", recorded)
    late = {"startedAt": "2099-01-01T00:00:00Z", "endedAt": "2099-01-01T00:00:01Z"}
    repo.runs("record", "--from", "-", stdin={**FIELDS, **late, "commits": [recorded]})
    assert [each["sha"] for each in commits(repo)] == ([recorded])


def test_since_keeps_runs_by_commit_and_by_time(repo: Repo) -> None:
    """A commit after the revision, or a start after its time."""
    base = repo.git("rev-parse", "HEAD").strip()
    repo.record(id="old", startedAt="2020-01-01T00:00:00Z")
    repo.record(id="new", startedAt="2099-01-01T00:00:00Z", endedAt="2099-01-01T00:00:00Z")
    repo.commit("work\n\nChant-Run: worked", a__txt="one\n")
    repo.record(id="worked", startedAt="2020-01-01T00:00:00Z")
    document = repo.runs("--since", base, "--json").document
    assert [run["id"] for run in document["runs"]] == ["new", "worked"]
    assert document["filter"]["since"] == base


@pytest.mark.parametrize("name", ["DEADBEEF", "abc", "g" * 40, "a" * 65, "0123456", "HEAD"])
def test_what_names_no_commit_is_refused(repo: Repo, name: str) -> None:
    """Upper case, too short or too long, no hex, nothing of this repository, another name."""
    assert repo.runs("record", "--from", "-", stdin={**FIELDS, "commits": [name]}).error == "write-input-invalid"


def test_filters_and_totals(repo: Repo) -> None:
    """Sums by currency, unit, decision and principal; what is unknown is named and adds nothing."""
    euro = {"amount": 0.1234567, "currency": "EUR", "source": "list"}
    dollar = {"amount": 0.1, "currency": "USD", "source": "list"}
    usage = {"inputTokens": 5, "outputTokens": 1}
    repo.record(id="a", unit={"id": "U-1", "kind": "work"}, by="ada", cost=dollar, usage=usage)
    repo.record(id="b", unit="U-1", records=["decision:D-1", " decision : D-1 ", "work:W-1"], cost=euro, usage={})
    repo.record(id="c", by="ada", cost={**dollar, "amount": 0.2}, startedAt="2026-11-30T10:00:30Z")
    repo.runs("start", "--from", "-", stdin={"id": "d", "harness": "cook", "startedAt": "2026-11-30T09:00:00Z"})
    document = repo.runs("--json").document
    assert [run["id"] for run in document["runs"]] == ["c", "b", "a", "d"]
    assert document["totals"]["all"] == {
        "runs": 4,
        "running": 1,
        "tokens": {"input": 5, "output": 1, "cacheRead": 0, "cacheWrite": 0},
        "cost": [{"currency": "EUR", "amount": 0.123457}, {"currency": "USD", "amount": 0.3}],
        "unpriced": ["d"],
        "unreported": ["c", "d"],
    }
    totals = document["totals"]
    assert [(group["unit"], group["runs"]) for group in totals["byUnit"]] == [(None, 2), ("U-1", 2)]
    assert [(group["principal"], group["runs"]) for group in totals["byPrincipal"]] == [("ada", 2), (None, 2)]
    assert [(group["decision"], group["runs"]) for group in totals["byDecision"]] == [("decision/D-1", 1)]
    for arguments, ids in {
        ("--unit", "U-1"): ["b", "a"],
        ("--decision", "D-1"): ["b"],
        ("--decision", "decision/D-1"): ["b"],
        ("--by", "ada"): ["c", "a"],
        ("--by", "ada", "--unit", "U-1"): ["a"],
    }.items():
        assert [run["id"] for run in repo.runs("list", *arguments, "--json").document["runs"]] == ids
    told = repo.runs().stdout.splitlines()
    assert told[-1] == "4 runs, 1 running: 5 tokens in, 1 out, 0.123457 EUR + 0.3 USD, 1 unpriced"
    assert (
        told[2]
        == "a  ended  2026-11-30T10:00:00Z  cook  for ada  on U-1  5 in, 1 out  0.1 USD (list)  0 commits  unsigned"
    )


def test_show_tells_one_run(repo: Repo) -> None:
    """For people, and as the read document of this run alone."""
    repo.record(by="ada")
    repo.record(id="r-2")
    assert "by          ada\n" in repo.runs("show", "r-1").stdout
    document = repo.runs("show", "r-1", "--json").document
    assert ([run["id"] for run in document["runs"]], document["totals"]["all"]["runs"]) == (["r-1"], 1)


def test_without_a_ledger_there_are_no_runs(repo: Repo) -> None:
    """And it is said why."""
    document = repo.runs("--json").document
    assert (document["runs"], document["ledger"]["commit"]) == ([], None)
    assert [reason["code"] for reason in document["reasons"]] == ["runs-no-ledger"]
    assert "runs-no-ledger" in repo.runs().stderr
