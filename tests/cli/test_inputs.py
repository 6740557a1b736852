"""The files that a command line names."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from atifold.cli.inputs import TRACES, files


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder with a file below which the operating system lets nobody look, not even root."""
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "a.json").write_text("{}", encoding="utf-8")
    stat, scandir, opened = os.stat, os.scandir, Path.read_bytes

    def refuse(path: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def inside(path: Any) -> bool:
        return isinstance(path, (str, Path)) and Path(path).is_relative_to(folder)

    def no_stat(path: Any, *rest: Any, **more: Any) -> Any:
        return refuse(path) if inside(path) and Path(path) != folder else stat(path, *rest, **more)

    def no_scandir(path: Any = ".") -> Any:
        return refuse(path) if inside(path) else scandir(path)

    def no_read(path: Path) -> bytes:
        return refuse(path) or b"" if inside(path) else opened(path)

    monkeypatch.setattr(os, "stat", no_stat)
    monkeypatch.setattr(os, "scandir", no_scandir)
    monkeypatch.setattr(Path, "read_bytes", no_read)
    return folder


@pytest.mark.parametrize("command", ["fold", "check", "replay"])
def test_a_file_in_a_locked_folder_is_one_line(run: Any, locked: Path, command: str) -> None:
    """Whether it is a folder cannot be asked: no traceback, the operating system's reason; exit 3."""
    result = run(command, locked / "a.json")
    assert result.exit_code == 3
    assert result.stderr.splitlines()[0].startswith(
        f"atifold: {locked / 'a.json'}: cannot be read: Permission denied, "
    )


@pytest.mark.parametrize("command", ["fold", "check"])
def test_a_locked_folder_is_not_called_empty(run: Any, locked: Path, command: str) -> None:
    """Nobody knows what is in it."""
    result = run(command, locked)
    assert result.exit_code == 3
    expected = f"atifold: {locked}: cannot be read: Permission denied, wanted a readable folder"
    assert result.stderr.splitlines()[0] == expected


def test_the_files_beside_a_locked_folder_are_found(locked: Path) -> None:
    """One folder below another costs only itself."""
    good = locked.parent / "good.json"
    good.write_text("{}", encoding="utf-8")
    found, errors = files((str(locked.parent),), TRACES)
    assert found == {str(good): str(locked.parent)}
    assert [error.where for error in errors] == [str(locked)]


def test_hidden_folders_are_passed_over(tmp_path: Path) -> None:
    """What a tool keeps for itself is nobody's trace; a hidden folder that was named itself is read."""
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "a.json").write_text("{}", encoding="utf-8")
    assert files((str(tmp_path),), TRACES)[0] == {}
    assert list(files((str(tmp_path / ".cache"),), TRACES)[0]) == [str(tmp_path / ".cache" / "a.json")]
