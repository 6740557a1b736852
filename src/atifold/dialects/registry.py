"""List the dialects that are read; an earlier one wins where two say something of one field."""

from __future__ import annotations

from typing import Final

from atifold.dialects.adk import ADK
from atifold.dialects.adot import ADOT
from atifold.dialects.autogen import AUTOGEN
from atifold.dialects.claude_code import CLAUDE_CODE
from atifold.dialects.codex import CODEX
from atifold.dialects.gemini_cli import GEMINI_CLI
from atifold.dialects.genai import GENAI
from atifold.dialects.haystack import HAYSTACK
from atifold.dialects.koog import KOOG
from atifold.dialects.langfuse import LANGFUSE
from atifold.dialects.langsmith import LANGSMITH
from atifold.dialects.litellm import LITELLM
from atifold.dialects.logfire import LOGFIRE
from atifold.dialects.mlflow import MLFLOW
from atifold.dialects.openinference import OPENINFERENCE
from atifold.dialects.openlit import OPENLIT
from atifold.dialects.openllmetry import OPENLLMETRY
from atifold.dialects.own import OWN
from atifold.dialects.pydantic_ai import PYDANTIC_AI
from atifold.dialects.semantic_kernel import SEMANTIC_KERNEL
from atifold.dialects.strands import STRANDS
from atifold.dialects.table import Dialect
from atifold.dialects.typed import TYPED
from atifold.dialects.vercel_ai import VERCEL_AI

DIALECTS: Final[tuple[Dialect, ...]] = (
    OWN,
    AUTOGEN,
    CLAUDE_CODE,
    CODEX,
    GEMINI_CLI,
    GENAI,
    OPENINFERENCE,
    OPENLLMETRY,
    ADK,
    PYDANTIC_AI,
    STRANDS,
    VERCEL_AI,
    LANGSMITH,
    MLFLOW,
    LANGFUSE,
    LITELLM,
    LOGFIRE,
    HAYSTACK,
    ADOT,
    KOOG,
    OPENLIT,
    SEMANTIC_KERNEL,
    TYPED,
)
