"""List the dialects that are read; an earlier one wins where two say something of one field."""

from __future__ import annotations

from typing import Final

from atifold.dialects.adk import ADK
from atifold.dialects.genai import GENAI
from atifold.dialects.openinference import OPENINFERENCE
from atifold.dialects.openllmetry import OPENLLMETRY
from atifold.dialects.own import OWN
from atifold.dialects.pydantic_ai import PYDANTIC_AI
from atifold.dialects.table import Dialect

DIALECTS: Final[tuple[Dialect, ...]] = (OWN, GENAI, OPENINFERENCE, OPENLLMETRY, ADK, PYDANTIC_AI)
