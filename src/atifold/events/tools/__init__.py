"""Model tools beside their calls: what is offered, what they hold open, what they say of their results."""

from __future__ import annotations

from atifold.events.tools.offers import (
    ToolsActivated,
    ToolsAnsweredOffWire,
    ToolsClaimSwallowed,
    ToolsDeactivated,
    ToolsDiscoveryCompleted,
    ToolsDiscoveryFailed,
    ToolsDiscoveryStarted,
    ToolsOffered,
    ToolsShadowed,
)
from atifold.events.tools.remote import ToolsMcpClient, ToolsRequestAttempts
from atifold.events.tools.results import (
    ToolAbsent,
    ToolCoverageDeclared,
    ToolEffect,
    ToolRepeatedCall,
    ToolResultRefused,
)
from atifold.events.tools.semantics import ToolSemanticsDeclared
from atifold.events.tools.sessions import (
    ToolsCodeRun,
    ToolsSessionClosed,
    ToolsSessionCloseFailed,
    ToolsSessionReused,
    ToolsSessionStarted,
)

__all__ = [
    "ToolAbsent",
    "ToolCoverageDeclared",
    "ToolEffect",
    "ToolRepeatedCall",
    "ToolResultRefused",
    "ToolSemanticsDeclared",
    "ToolsActivated",
    "ToolsAnsweredOffWire",
    "ToolsClaimSwallowed",
    "ToolsCodeRun",
    "ToolsDeactivated",
    "ToolsDiscoveryCompleted",
    "ToolsDiscoveryFailed",
    "ToolsDiscoveryStarted",
    "ToolsMcpClient",
    "ToolsOffered",
    "ToolsRequestAttempts",
    "ToolsSessionCloseFailed",
    "ToolsSessionClosed",
    "ToolsSessionReused",
    "ToolsSessionStarted",
    "ToolsShadowed",
]
