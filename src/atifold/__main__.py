"""Run the command line as `python -m atifold`."""

from __future__ import annotations

from atifold.cli import main

if __name__ == "__main__":
    main()
