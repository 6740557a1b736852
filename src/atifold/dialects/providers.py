"""Read the name of a provider, older spellings as the conventions spell it now."""

from __future__ import annotations

from typing import Any, Final

from atifold.calls import MISSING
from atifold.dialects.values import Note, text

SPELLINGS: Final = {
    "xai": "x_ai",
    "vertex_ai": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "gemini": "gcp.gemini",
    "google": "gcp.gemini",
    "az.ai.inference": "azure.ai.inference",
    "az.ai.openai": "azure.ai.openai",
    "aws": "aws.bedrock",
    "mistralai": "mistral_ai",
    "moonshot": "moonshot_ai",
}
"""Values of `gen_ai.system` and of other dialects to those of `gen_ai.provider.name`."""


def provider(value: Any, note: Note) -> Any:
    """Return the provider's name of today; a name that nobody renamed stays as it is."""
    found = text(value, note)
    return found if found is MISSING else SPELLINGS.get(found.lower(), found)
