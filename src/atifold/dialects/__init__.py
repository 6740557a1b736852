"""Read spans, whatever dialect they speak, into the neutral calls that the fold knows.

One dialect is one module with a table; `registry` lists them. A new name of an attribute is one more
name in a row, a new dialect one more module and one more line in the registry.
"""

from __future__ import annotations

from atifold.dialects.conversation import conversation_of
from atifold.dialects.reading import read
from atifold.dialects.registry import DIALECTS
from atifold.dialects.survey import Survey, survey

__all__ = ["DIALECTS", "Survey", "conversation_of", "read", "survey"]
