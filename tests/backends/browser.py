"""Read a page as a person does: by a headless Chromium, which is looked for and never installed."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--window-size=1500,900",
    "--virtual-time-budget=30000",  # milliseconds of the page's own clock, which stands still while it loads
)
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")


def chromium() -> str:
    """Return the browser's program, or skip the test where there is none."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium is here: `apt-get install chromium` installs it")
    return found


def page_text(url: str, profile: Path) -> str:
    """Return the text of a page once its scripts have run, a line for each piece of it; `profile` is a new folder."""
    command = [chromium(), *_FLAGS, f"--user-data-dir={profile}", "--dump-dom", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    pieces = _TAG.sub("\n", _UNSEEN.sub("", done.stdout)).splitlines()
    return "\n".join(html.unescape(piece.strip()) for piece in pieces if piece.strip())
