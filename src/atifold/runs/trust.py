"""Read who may sign runs: the trust policy, as a base revision holds it and never as the work tree does."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from atifold.runs.dsse import RunnerKey
from atifold.runs.ecmascript import parse_json, trim
from atifold.runs.git import Git

FILE: Final = ".chant/trust.json"
SIGNERS: Final = ".chant/allowed_signers"

BaseFrom = Literal["flag", "origin/HEAD", "main", "master"]
_BASES: Final[tuple[tuple[str, BaseFrom], ...]] = (
    ("refs/remotes/origin/HEAD", "origin/HEAD"),
    ("refs/heads/main", "main"),
    ("refs/heads/master", "master"),
)
_NO_BASE: Final = "no base revision: there is no origin/HEAD, main or master; --base names one"
_KEY_TYPES: Final = frozenset(
    {
        "ssh-ed25519",
        "ssh-rsa",
        "ecdsa-sha2-nistp256",
        "ecdsa-sha2-nistp384",
        "ecdsa-sha2-nistp521",
        "sk-ssh-ed25519@openssh.com",
        "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)
_FIELDS: Final = re.compile(r'(?:[^ \t"]|"[^"]*"?)+')
_OPTIONS: Final = re.compile(r'(?:[^,"]|"[^"]*"?)+')
_BLOB: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")


class Signer(NamedTuple):
    """A person who signs commits: never a runner."""

    principal: str
    key: str


class Policy(NamedTuple):
    """The policy at base: the keys that may sign runs, the signers, and why it could not be read."""

    base: str | None
    base_from: BaseFrom | None
    runners: tuple[RunnerKey, ...] = ()
    signers: tuple[Signer, ...] = ()
    problems: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return what documents say of it."""
        runners = [{"principal": runner.principal, "class": runner.class_} for runner in self.runners]
        return {
            "base": self.base,
            "baseFrom": self.base_from,
            "runners": runners,
            "problems": list(self.problems),
        }


def _given(value: Any) -> Any:
    if value is None:
        raise ValueError("null is no value: leave the key out")
    return value


def _some(text: str) -> str:
    if not text:
        raise ValueError("a text was wanted")
    return text


_Name = Annotated[str, AfterValidator(_some)]
_FullCommit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}(?:[0-9a-f]{24})?\z")]
_Role = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*\z")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Runner(_Strict):
    principal: _Name
    class_: Literal["runner", "service"] = Field(alias="class")
    key: Annotated[str, StringConstraints(pattern=r"^ssh-ed25519 [A-Za-z0-9+/]+={0,2}\z")]


class _Range(_Strict):
    from_: Annotated[_FullCommit | None, BeforeValidator(_given)] = Field(default=None, alias="from")
    to: _FullCommit
    note: Annotated[str | None, BeforeValidator(_given)] = None


def _inside(value: Any) -> Any:
    parts = PurePosixPath(value).parts if isinstance(value, str) else ()
    if isinstance(value, str) and (value.startswith("/") or "\\" in value or ".." in parts or "/".join(parts) != value):
        raise ValueError("a path inside the repository was wanted")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("1 was wanted")  # noqa: TRY004 - pydantic's way to say it
    return value


class _File(_Strict):
    schema_: Annotated[Literal[1], BeforeValidator(_number)] = Field(alias="schema")
    signers: Annotated[_Name | None, BeforeValidator(_inside), BeforeValidator(_given)] = None
    roles: Annotated[dict[_Role, list[_Name]] | None, BeforeValidator(_given)] = None
    adopted: Annotated[list[_Range] | None, BeforeValidator(_given)] = None
    runners: Annotated[list[_Runner] | None, BeforeValidator(_given)] = None


def at_base(git: Git, revision: str | None) -> Policy:
    """Return the policy at a revision, by default at the first of origin/HEAD, main and master that is there.

    A policy that cannot be read trusts nobody, and says why; one that is not there trusts nobody and is no problem.
    """
    if revision is not None:
        named = git.commit_id(revision)
        if named is None:
            return Policy(None, None, problems=(f"--base {revision} names no commit of this repository",))
        return _read(git, named, "flag")
    for name, source in _BASES:
        found = git.commit_id(name)
        if found is not None:
            return _read(git, found, source)
    return Policy(None, None, problems=(_NO_BASE,))


def _read(git: Git, commit: str, source: BaseFrom) -> Policy:
    data = git.blob(commit, FILE)
    try:
        told = _File.model_validate({"schema": 1} if data is None else parse_json(data.decode("utf-8", "replace")))
    except ValidationError as error:
        words = "; ".join(f"{'.'.join(map(str, fault['loc'])) or '/'}: {fault['msg']}" for fault in error.errors())
        return Policy(commit, source, problems=(f"{FILE} is invalid: {words}",))
    except ValueError as error:
        return Policy(commit, source, problems=(f"{FILE} is no JSON: {error}",))
    text = git.blob(commit, told.signers or SIGNERS) or b""
    signers = allowed_signers(text.decode("utf-8", "replace"))
    listed = [RunnerKey(runner.principal, runner.class_, runner.key) for runner in told.runners or ()]
    return Policy(commit, source, _usable(listed, signers), signers)


def _usable(listed: list[RunnerKey], signers: tuple[Signer, ...]) -> tuple[RunnerKey, ...]:
    """Return the keys that count: no signer's, under one principal alone, and of a principal with one alone."""
    pairs = {(runner.principal, runner.key) for runner in listed}
    of_principal, of_key = Counter(name for name, _ in pairs), Counter(key for _, key in pairs)
    people, theirs = {signer.principal for signer in signers}, {signer.key for signer in signers}
    return tuple(
        runner
        for runner in listed
        if runner.principal not in people
        and runner.key not in theirs
        and of_principal[runner.principal] == 1
        and of_key[runner.key] == 1
    )


def allowed_signers(text: str) -> tuple[Signer, ...]:
    """Return the signers of a file in ssh's allowed_signers form.

    Lines with dates, certificates, patterns or unknown options are passed over: what they mean is not
    for this file alone to say.
    """
    lines = (trim(line) for line in re.split(r"\r\n?|\n", text))
    return tuple(signer for line in lines if line and not line.startswith("#") for signer in _signers_of(line))


def _signers_of(line: str) -> list[Signer]:
    fields = _FIELDS.findall(line)
    if len(fields) < 3:  # noqa: PLR2004 - principals, the key's type, the key
        return []
    options = [] if fields[1] in _KEY_TYPES else [fields.pop(1)]
    known = all(part.partition("=")[0].lower() == "namespaces" for part in _OPTIONS.findall("".join(options)))
    names = [name for name in fields[0].strip('"').split(",") if name]
    fits = len(fields) > 2 and fields[1] in _KEY_TYPES and _BLOB.fullmatch(fields[2])  # noqa: PLR2004 - as above
    if not fits or not known or any(set(name) & set("*?!") for name in names):
        return []
    return [Signer(name, f"{fields[1]} {fields[2]}") for name in names]
