"""Signatures: what was changed is found and named, whoever changed it; keys are judged and never shown."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ledgers import Repo, public

from atifold.runs import dsse, ssh
from atifold.runs.canonical import canonical
from atifold.runs.statement import statement_of
from atifold.runs.trust import allowed_signers

Keys = Callable[..., Path]


@pytest.fixture
def signed(repo: Repo, key: Keys) -> Repo:
    """Return a repository with a signed run whose transcript is at hand."""
    (repo.folder / "story.json").write_text('{"steps": []}', encoding="utf-8")
    path = key()
    repo.trust(("ci", path))
    repo.record(transcript={"path": "story.json"}, model="m", by="ada", usage={"turns": 1})
    assert repo.runs("sign", "r-1", "--key", path).code == 0
    return repo


TWICE = """{"schema": 1, "runners": [{"principal": "a", "class": "runner", "key": "KEY"},
    {"principal": "%s", "class": "runner", "key": "%s"}]}"""


def verdict(repo: Repo, *arguments: str) -> tuple[int, Any]:
    """Return the exit code of a verify, and the document."""
    answer = repo.runs("verify", "--json", *arguments)
    return answer.code, answer.document


def attested(repo: Repo) -> tuple[str, str | None, str]:
    """Return what the one run's statements come to."""
    told = verdict(repo)[1]["runs"][0]["attestation"]
    return told["status"], told["code"], told["reason"]


def test_a_signed_run_verifies(signed: Repo) -> None:
    """With its policy, its statement and its summary."""
    code, document = verdict(signed, "--require", "signed")
    assert (code, document["ok"], document["failures"], document.get("atifold")) == (0, True, [], None)
    assert document["summary"] == {"runs": 1, "signed": 1, "unsigned": 0, "failed": 0, "running": 0}
    assert document["trust"]["baseFrom"] == "main"
    assert document["runs"][0]["attestation"]["statements"][0]["statement"]["predicate"]["by"] == "ada"


def test_signing_again_appends_again(signed: Repo, tmp_path: Path) -> None:
    """The digest stays, for statements are no part of it."""
    before = json.loads(signed.runs("show", "r-1", "--json").stdout)["runs"][0]["record"]
    printed = signed.runs("sign", "r-1", "--key", tmp_path / "ci.pem").document
    assert (len(printed["run"]["statements"]), printed["run"]["record"]) == (2, before)
    assert printed["run"]["attestation"]["status"] == "signed"


@pytest.mark.parametrize(
    ("old", "new", "status", "code", "words"),
    [
        (b'"turns":1', b'"turns":2', "mismatch", "run-statement-mismatch", "the record's digest was"),
        (b'"model":"m"', b'"model":"n"', "mismatch", "run-statement-mismatch", "model is 'm' there and 'n'"),
        (b'"by":"ada"', b'"by":"bob"', "mismatch", "run-statement-mismatch", "by is 'ada' there and 'bob'"),
        (b'"keyid":"SHA256:', b'"keyid":"SHA256:x', "untrusted", "envelope-untrusted", "no key that the policy"),
        (b'"sig":"', b'"sig":"AAAA', "untrusted", "envelope-untrusted", "no key that the policy"),
        (b'"payload":"ey', b'"payload":"fy', "untrusted", "envelope-untrusted", "no key that the policy"),
        (b'"payload":"ey', b'"payload":"ey!', "invalid", "envelope-invalid", "no canonical base64"),
        (b'"signatures":[', b'"signatures":[1,', "invalid", "envelope-invalid", "no DSSE envelope"),
        (b"vnd.in-toto", b"vnd.other", "untrusted", "envelope-untrusted", "no key that the policy"),
    ],
)
def test_a_changed_line_is_found(signed: Repo, old: bytes, new: bytes, status: str, code: str, words: str) -> None:
    """In the record, in the statement, in the envelope: the document is valid and says which."""
    data = signed.file()
    assert data.count(old) == 1
    signed.put(data.replace(old, new))
    told = attested(signed)
    assert told[:2] == (status, code)
    assert words in told[2]
    exit_code, document = verdict(signed, "--require", "signed")
    assert (exit_code, document["ok"], document["summary"]["failed"]) == (1, False, 1)
    assert document["failures"] == [f"r-1 is {status}: {told[2]}"]
    assert signed.runs("verify").code == 0


def test_any_changed_byte_of_a_ledger_file_is_found(signed: Repo) -> None:
    """Wherever it is, but in the time of the statement's line, which nothing signs."""
    data = signed.file()
    free = data.rindex(b'"at":"') + 6
    for at in range(0, len(data), max(len(data) // 30, 1)):
        if free <= at < free + 24:
            continue
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        signed.put(changed)
        document = signed.runs("--json").document
        states = [run["attestation"]["status"] for run in document["runs"]]
        assert states != ["signed"] or document["malformed"], changed[max(at - 20, 0) : at + 20]


def test_a_changed_transcript_is_found(signed: Repo) -> None:
    """That is a check of our own, and says so; a transcript that is not at hand is none."""
    (signed.folder / "story.json").write_text('{"steps": [1]}', encoding="utf-8")
    answer = signed.runs("verify", "--json")
    document = answer.document
    assert (answer.code, document["ok"]) == (1, False)
    (finding,) = document["atifold"]["findings"]
    assert (finding["run"], finding["kind"]) == ("r-1", "transcript-changed")
    assert "the transcript story.json has changed" in finding["message"]
    assert "a check of atifold's own" in finding["message"]
    assert finding["message"] in answer.stderr
    assert document["runs"][0]["attestation"]["status"] == "signed"
    (signed.folder / "story.json").unlink()
    assert verdict(signed)[0] == 0


@pytest.mark.parametrize("ref", ["\ud800", "a\0b", "x" * 5000, "https://example.org/t.json", "."])
def test_a_ref_that_names_no_file_is_passed_over(ref: str, repo: Repo) -> None:
    """A writer may say anything of where a transcript is kept."""
    repo.record(transcript={"sha256": "0" * 64, "ref": ref})
    code, document = verdict(repo)
    assert (code, document["ok"]) == (0, True)


def test_a_transcript_is_found_from_below(signed: Repo) -> None:
    """Its ref is seen from where the command runs, else from the workspace."""
    (signed.folder / "below").mkdir()
    (signed.folder / "story.json").write_text("changed", encoding="utf-8")
    below = Repo(signed.folder / "below")
    assert below.runs("verify").code == 1
    (below.folder / "story.json").write_text('{"steps": []}', encoding="utf-8")
    assert below.runs("verify").code == 0


def test_commits_that_came_later_are_a_finding(signed: Repo) -> None:
    """The statement verifies: its subjects are not the record's, and whoever reads it should know."""
    commit = signed.commit("more\n\nChant-Run: r-1")
    code, document = verdict(signed)
    (finding,) = document["atifold"]["findings"]
    assert (code, finding["kind"]) == (0, "subjects-differ")
    assert commit in finding["message"]


def test_the_policy_is_read_at_base(signed: Repo, key: Keys) -> None:
    """Never from the work tree, nor from the branch that is checked out."""
    (signed.folder / ".chant" / "trust.json").write_text("{}", encoding="utf-8")
    assert attested(signed)[0] == "signed"
    signed.git("checkout", "-q", "-b", "mine")
    signed.commit("mine alone")
    assert attested(signed)[0] == "signed"
    assert verdict(signed, "--base", "mine")[1]["trust"]["problems"]
    signed.git("checkout", "-q", "main")
    signed.trust(("ci", key("new")))
    status, code, _ = attested(signed)
    assert (status, code) == ("untrusted", "envelope-untrusted")


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ("not json", True),
        ('{"schema": 2}', True),
        ('{"schema": true}', True),
        ('{"schema": 1, "colour": 1}', True),
        ('{"schema": 1, "runners": null}', True),
        ('{"schema": 1, "runners": [{"principal": "ci", "class": "runner", "key": "KEY comment"}]}', True),
        ('{"schema": 1, "runners": [{"principal": "ci", "class": "runner", "key": "  KEY"}]}', True),
        ('{"schema": 1, "runners": [{"principal": "ci", "class": "robot", "key": "KEY"}]}', True),
        ('{"schema": 1, "signers": "../elsewhere"}', True),
        ('{"schema": 1, "roles": {"admin": ["ada"]}, "adopted": [{"to": "%s"}]}' % ("a" * 40), False),
        ('{"schema": 1}', False),
        (TWICE % ("b", "KEY"), False),
        (TWICE % ("a", "OTHER"), False),
    ],
)
def test_a_policy_that_does_not_say_whose_a_key_is_trusts_nobody(
    signed: Repo, key: Keys, tmp_path: Path, policy: str, problem: bool
) -> None:
    """One that cannot be read is a problem; one that lists a key twice is none, and lists it in vain."""
    text = policy.replace("KEY", public(tmp_path / "ci.pem")).replace("OTHER", public(key("other")))
    (signed.folder / ".chant" / "trust.json").write_text(text, encoding="utf-8")
    signed.commit("policy")
    document = verdict(signed)[1]
    assert bool(document["trust"]["problems"]) is problem
    assert document["trust"]["runners"] == []
    assert document["runs"][0]["attestation"]["status"] == "untrusted"


@pytest.mark.parametrize("path", ["\ud800", "a\0b"])
def test_a_file_of_signers_that_no_name_fits_holds_nobody(path: str, signed: Repo, tmp_path: Path) -> None:
    """The policy is read all the same."""
    signed.trust(("ci", tmp_path / "ci.pem"), signers=path)
    assert attested(signed)[0] == "signed"


def test_without_a_policy_nobody_is_trusted(repo: Repo, key: Keys) -> None:
    """That is no problem; without a base it is one."""
    repo.record()
    assert repo.runs("sign", "r-1", "--key", key()).error == "runner-key-unlisted"
    assert verdict(repo)[1]["trust"]["problems"] == []
    repo.git("branch", "-m", "main", "trunk")
    assert verdict(repo)[1]["trust"]["problems"]
    assert repo.runs("sign", "r-1", "--key", key()).error == "trust-policy-unreadable"


def test_a_signer_is_no_runner(repo: Repo, key: Keys) -> None:
    """By key, even where the policy lists it not at all; by principal it is unlisted. Odd lines are passed over."""
    repo.record()
    path, other = key(), key("other")
    (repo.folder / ".chant").mkdir()
    signers = repo.folder / ".chant" / "people"
    lines = [
        "# people",
        f'ada,"bob" namespaces="git,file" {public(path)} comment',
        f"carol valid-after=20200101 {public(other)}",
        f"*@example.org {public(other)}",
        f"dan cert-authority {public(other)}",
        "erin ssh-ed25519",
    ]
    signers.write_text("\r\n".join(lines), encoding="utf-8")
    repo.trust(("ci", path), ("ada", other), signers=".chant/people")
    assert verdict(repo)[1]["trust"]["runners"] == []
    assert repo.runs("sign", "r-1", "--key", path).error == "runner-key-is-signer"
    assert repo.runs("sign", "r-1", "--key", other).error == "runner-key-unlisted"
    repo.trust(("ci", other), signers=".chant/people")
    assert repo.runs("sign", "r-1", "--key", other).code == 0


@pytest.mark.parametrize("line", ["ci KEY", "\ufeffci KEY", "\u3000ada,ci KEY at home\r", "ada KEY\rci KEY"])
def test_signers_are_read_as_their_other_reader_does(line: str, key: Keys) -> None:
    """White space at the ends of a line, a byte order mark too, is no part of a principal."""
    signers = allowed_signers(line.replace("KEY", public(key())))
    assert "ci" in [signer.principal for signer in signers]


def test_half_a_surrogate_pair_is_signed_and_verified(repo: Repo, key: Keys) -> None:
    """The ledger keeps it as an escape, and so does the statement."""
    path = key()
    repo.trust(("ci\ud800", path))
    repo.record(harness="h\ud800", by="\udc00", unit={"id": "U\ud83c", "kind": "\udf4e"})
    document = repo.runs("sign", "r-1", "--key", path).document
    assert document["run"]["attestation"]["status"] == "signed"
    assert document["statement"]["signer"] == "ci\ud800"
    assert verdict(repo, "--require", "signed")[0] == 0


@pytest.mark.parametrize("more", ["AAAA", "=\n", ""])
def test_a_signature_ends_with_its_padding(more: str, key: Keys) -> None:
    """What stands behind the first `=` of a signature is not read."""
    mine = dsse.load_key(key().read_bytes())
    envelope = dsse.sign(b"{}", mine)
    envelope["signatures"][0]["sig"] += more
    assert dsse.verify(envelope, [dsse.RunnerKey("ci", "runner", mine.public)]).payload == b"{}"


def test_what_is_signed_elsewhere_is_stored(repo: Repo, key: Keys) -> None:
    """`statement` prints the payload; any JSON of it verifies, with a second signature of a stranger beside."""
    repo.record()
    path = key()
    repo.trust(("ci", path))
    told = repo.runs("statement", "r-1", "--signer", "ci").document
    assert base64.b64decode(told["payload"]) == canonical(told["statement"])
    payload = json.dumps(told["statement"], indent=3).encode()
    envelope = dsse.sign(payload, dsse.load_key(path.read_bytes()))
    envelope["signatures"].insert(0, {"keyid": "SHA256:stranger", "sig": "AAAA"})
    envelope["payload"] = "\n ".join((envelope["payload"][:40], envelope["payload"][40:]))
    printed = repo.runs("sign", "r-1", "--envelope", "-", stdin={**envelope, "extra": "\ud800"}).document
    assert printed["statement"]["envelope"]["extra"] == "\ud800"
    assert repo.file().endswith(b'"run":"r-1","version":1}')
    assert verdict(repo, "--require", "signed")[0] == 0


def test_an_envelope_that_no_line_can_hold_is_refused(signed: Repo) -> None:
    """A number beyond every double, beside a payload that verifies."""
    envelope = json.dumps(json.loads(signed.file().split(b"\n")[2])["envelope"])
    given = f'{envelope[:-1]}, "more": 1e400}}'
    before = signed.tip
    answer = signed.runs("sign", "r-1", "--envelope", "-", stdin=given.encode())
    assert answer.error == "envelope-invalid"
    assert signed.tip == before


def test_running_runs_never_fail(repo: Repo) -> None:
    """They cannot be signed yet."""
    repo.runs("start", "--from", "-", stdin={"id": "r-1", "harness": "cook"})
    code, document = verdict(repo, "--require", "signed")
    assert (code, document["summary"]["running"], document["runs"][0]["record"]) == (0, 1, None)


# ---- keys ------------------------------------------------------------------------------------------

MAKE = {
    "passphrase": ["openssl", "genpkey", "-algorithm", "ed25519", "-aes256", "-pass", "pass:secret", "-out"],
    "rsa": ["openssl", "genpkey", "-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:1024", "-out"],
    "openssh": ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"],
}
WORDS = {
    "passphrase": "the key is under a passphrase",
    "rsa": "the key is of another type than Ed25519",
    "openssh": "the key is in OpenSSH's own form",
}


@pytest.mark.parametrize("kind", MAKE)
def test_other_keys_get_a_clear_line(repo: Repo, tmp_path: Path, kind: str) -> None:
    """What it is, what was wanted, and no byte of it."""
    repo.record()
    path = tmp_path / "other.key"
    try:
        subprocess.run([*MAKE[kind], path], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip(f"{MAKE[kind][0]} is not on this machine")
    answer = repo.runs("sign", "r-1", "--key", path)
    assert answer.error == "runner-key-invalid"
    assert WORDS[kind] in answer.stderr
    assert "an unencrypted Ed25519 key in PKCS#8 PEM was wanted" in answer.stderr
    shown_is_no_secret(answer.stdout + answer.stderr, path)


def shown_is_no_secret(shown: str, path: Path) -> None:
    """Hold that no line of a key's file was printed."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("-----")]
    assert lines
    assert not any(line[:16] in shown for line in lines)


def test_a_public_key_and_half_a_key_are_said(repo: Repo, key: Keys, tmp_path: Path) -> None:
    """Neither signs."""
    repo.record()
    path = key()
    text = path.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.pem"
    for content, words in (
        ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "the file holds a public key"),
        (text[:60], "holds no key that can be read"),
        ("", "no key in PEM"),
    ):
        wrong.write_text(content, encoding="utf-8")
        answer = repo.runs("sign", "r-1", "--key", wrong)
        assert answer.error == "runner-key-invalid"
        assert words in answer.stderr


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize(
    "verb",
    [
        *("sign r-1 --key", "sign r-1 --envelope", "sign", "end", "verify", "init --runner ci --key"),
        *("record --from", "start --from", "record --trajectory", "show", "frob", "--since"),
    ],
)
def test_a_key_where_a_name_was_wanted_is_not_told_back(verb: str, signed: Repo, tmp_path: Path) -> None:
    """As scripts give it, that keep the key in a variable; `--key` takes the name of a file."""
    path = tmp_path / "ci.pem"
    pem = path.read_text(encoding="utf-8").strip()
    given = [*verb.split(), *(["--"] if len(verb.split()) == 1 and verb[0] != "-" else []), pem]
    answer = signed.runs(*given)
    assert answer.code == 1
    shown_is_no_secret(answer.stdout + answer.stderr, path)
    body = signed.runs("sign", "r-1", "--key", pem.splitlines()[1])
    assert body.error == "runner-key-invalid"
    shown_is_no_secret(body.stdout + body.stderr, path)


def test_a_key_that_others_can_read_is_said(signed: Repo, tmp_path: Path) -> None:
    """It signs all the same; nothing of it is printed."""
    path = tmp_path / "ci.pem"
    path.chmod(0o644)
    answer = signed.runs("sign", "r-1", "--key", path)
    assert answer.code == 0
    assert answer.stderr == f"atifold: {path}: others can read this key (mode 0644); chmod 600 is wanted\n"
    shown_is_no_secret(answer.stdout + answer.stderr, path)


def test_fingerprints_are_those_of_ssh(key: Keys, tmp_path: Path) -> None:
    """As ssh-keygen prints them."""
    line = public(key())
    (tmp_path / "key.pub").write_text(line, encoding="utf-8")
    try:
        done = subprocess.run(
            ["ssh-keygen", "-lf", str(tmp_path / "key.pub")], capture_output=True, text=True, check=True
        )
    except FileNotFoundError:
        pytest.skip("ssh-keygen is not on this machine")
    assert done.stdout.split()[1] == ssh.fingerprint(line)


def test_the_encoding_before_signing_counts_bytes() -> None:
    """The protocol's own example."""
    encoded = dsse.pae("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert dsse.pae("é", b"") == b"DSSEv1 2 \xc3\xa9 0 "


def test_a_statement_names_each_commit_once_in_order() -> None:
    """With its patch where it has one."""
    run = {
        "id": "r",
        "record": {"sha256": "0" * 64},
        "commits": [{"sha": "b" * 40, "patchId": None}, {"sha": "a" * 40, "patchId": "c" * 40}],
        **dict.fromkeys(("unit", "harness", "model", "provider", "by")),
    }
    assert statement_of(run, "ci")["subject"] == [
        {"name": "a" * 40, "digest": {"gitCommit": "a" * 40}, "annotations": {"patchId": "c" * 40}},
        {"name": "b" * 40, "digest": {"gitCommit": "b" * 40}},
    ]


# ---- init ------------------------------------------------------------------------------------------


def test_init_writes_what_is_not_there(bare_repo: Callable[..., Repo], key: Keys) -> None:
    """A declaration and a policy that lists the public half; what is there is kept and said."""
    repo, path = bare_repo("My Orchard"), key()
    first = repo.runs("init", "--runner", "ci", "--key", path)
    assert (first.code, first.stdout) == (0, "")
    declared = json.loads((repo.folder / "chant.workspace.json").read_text(encoding="utf-8"))
    assert declared == {"name": "my-orchard", "schema": 1, "members": []}
    policy = (repo.folder / ".chant" / "trust.json").read_text(encoding="utf-8")
    assert json.loads(policy)["runners"] == [{"principal": "ci", "class": "runner", "key": public(path)}]
    again = repo.runs("init", "--runner", "ci", "--key", key("other"))
    assert (again.code, again.stdout) == (0, "")
    assert "does not list ssh-ed25519" in again.stderr
    assert (repo.folder / ".chant" / "trust.json").read_text(encoding="utf-8") == policy
    assert "which lists the key" in repo.runs("init", "--runner", "ci", "--key", path).stderr


def test_init_wants_a_repository(tmp_path: Path) -> None:
    """And writes nothing without one."""
    (tmp_path / "plain").mkdir()
    assert Repo(tmp_path / "plain").runs("init").error == "not-a-git-repository"
    assert list((tmp_path / "plain").iterdir()) == []
