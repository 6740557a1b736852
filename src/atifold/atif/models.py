"""Model an ATIF document of any version up to 1.8: which objects there are and which fields they have.

The models hold the shape alone (what the JSON schemas say); the rules between fields are rows in
`rules.py`. Types are read as leniently as the reference models read them ("1" passes as a step id),
so that both give the same verdict. What 1.8 added is named in `versions.SINCE`; `schemas.py` takes it
out again for older versions.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from atifold.atif.versions import WRITTEN, SchemaVersion

AUDIO_ALIASES: Final = {
    "audio/mp3": "audio/mpeg",
    "audio/mpga": "audio/mpeg",
    "audio/x-mpeg": "audio/mpeg",
    "audio/wave": "audio/wav",
    "audio/x-wav": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4",
    "audio/x-aac": "audio/aac",
    "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff",
}
"""Spellings of audio types in the wild, each with the name that ATIF has for it."""


def audio_type(media_type: object) -> object:
    """Return ATIF's name for an audio type, in lower case; what is no string as it is."""
    if not isinstance(media_type, str):
        return media_type
    name = media_type.strip().lower()
    return AUDIO_ALIASES.get(name, name)


class _Object(BaseModel):
    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class ImageSource(_Object):
    """Where an image is kept. ATIF never holds the bytes themselves."""

    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"] = Field(
        description="Kind of the image file."
    )
    path: str = Field(description="A file, best relative to the document, or a URL; not base64.")


class AudioSource(_Object):
    """Where a piece of audio is kept (since 1.8)."""

    media_type: Annotated[
        Literal[
            "audio/wav",
            "audio/mpeg",
            "audio/mp4",
            "audio/aac",
            "audio/ogg",
            "audio/flac",
            "audio/webm",
            "audio/aiff",
        ],
        BeforeValidator(audio_type),
    ] = Field(description="Kind of the audio file; common aliases such as audio/mp3 are read too.")
    path: str = Field(description="A file, best relative to the document, or a URL; not base64.")
    duration_sec: float | None = Field(default=None, ge=0, description="Length in seconds; absent if not known.")


class ContentPart(_Object):
    """One piece of a message that is more than plain text (since 1.6)."""

    type: Literal["text", "image", "audio"] = Field(description="What this piece is.")
    text: str | None = Field(default=None, description="The words of a text piece; on no other kind.")
    source: ImageSource | AudioSource | None = Field(
        default=None, description="The file of a media piece, of the kind that `type` says; on no text piece."
    )


class SubagentTrajectoryRef(_Object):
    """Points at the document of a subagent, embedded by id or in a file by path; at least one is given."""

    trajectory_id: str | None = Field(
        default=None, description="The `trajectory_id` of a document in this one's `subagent_trajectories`."
    )
    session_id: str | None = Field(default=None, description="The subagent's run, to read; nothing is found by it.")
    trajectory_path: str | None = Field(default=None, description="The file or URL that holds the subagent's document.")
    extra: dict[str, Any] | None = Field(default=None, description="Free data about the delegation.")


class ToolCall(_Object):
    """One call that the model asked for."""

    tool_call_id: str = Field(description="Ties a result to this call, within its step.")
    function_name: str = Field(description="The tool's name.")
    arguments: dict[str, Any] = Field(description="What the tool was called with; an empty object if nothing.")
    extra: dict[str, Any] | None = Field(default=None, description="Free data about the call.")


class ObservationResult(_Object):
    """One thing that came back: a tool's result, a subagent's work or a word of the system."""

    source_call_id: str | None = Field(
        default=None, description="The call of the same step that this answers; absent if no call asked for it."
    )
    content: str | list[ContentPart] | None = Field(default=None, description="The result, as text or as pieces.")
    subagent_trajectory_ref: list[SubagentTrajectoryRef] | None = Field(
        default=None, description="The documents of the subagents that did this work."
    )
    extra: dict[str, Any] | None = Field(default=None, description="Free data about the result.")


class Observation(_Object):
    """All that came back in one step."""

    results: list[ObservationResult] = Field(description="The results, in the order in which they are to be read.")


class Metrics(_Object):
    """What the inference of one step used and cost. Absent figures were not reported; they are not zero."""

    prompt_tokens: int | None = Field(default=None, description="Input tokens, those from the cache included.")
    completion_tokens: int | None = Field(
        default=None, description="Output tokens, those of reasoning and of tool calls included."
    )
    cached_tokens: int | None = Field(default=None, description="The share of the input tokens read from the cache.")
    cost_usd: float | None = Field(default=None, description="Price of the step in US dollars, as billed or computed.")
    prompt_token_ids: list[int] | None = Field(default=None, description="Ids of the input tokens, in order.")
    completion_token_ids: list[int] | None = Field(default=None, description="Ids of the output tokens, in order.")
    logprobs: list[float] | None = Field(default=None, description="Log probability of each output token, in order.")
    extra: dict[str, Any] | None = Field(default=None, description="Further figures, such as cache writes.")


class FinalMetrics(_Object):
    """The sums over a whole document."""

    total_prompt_tokens: int | None = Field(default=None, description="Input tokens of this document's steps.")
    total_completion_tokens: int | None = Field(default=None, description="Output tokens of this document's steps.")
    total_cached_tokens: int | None = Field(default=None, description="Cached input tokens of this document's steps.")
    total_cost_usd: float | None = Field(default=None, description="Price in US dollars, subagents included.")
    total_steps: int | None = Field(
        default=None, ge=0, description="Number of steps; another number than this document's needs a word in `notes`."
    )
    extra: dict[str, Any] | None = Field(default=None, description="Further sums.")


class Agent(_Object):
    """Who acted: one agent, its version and its tools."""

    name: str = Field(description="Name of the agent.")
    version: str = Field(description="Version of the agent.")
    model_name: str | None = Field(default=None, description="The model of every step that names none.")
    tool_definitions: list[dict[str, Any]] | None = Field(
        default=None, description="The tools on offer, each in OpenAI's function format."
    )
    extra: dict[str, Any] | None = Field(default=None, description="Free data about the agent's set-up.")


class Step(_Object):
    """One turn: a word of the system or the user, or one inference of the agent with what came of it."""

    step_id: int = Field(ge=1, description="Place in the document: 1, 2, 3 and so on.")
    timestamp: str | None = Field(default=None, description="When the step began, in ISO 8601.")
    source: Literal["system", "user", "agent"] = Field(description="Who speaks.")
    model_name: str | None = Field(
        default=None, description="The model that answered, where it is another than the agent's. Agent steps only."
    )
    reasoning_effort: str | float | None = Field(
        default=None, description="How hard the model was told to think, as a word or a number. Agent steps only."
    )
    message: str | list[ContentPart] = Field(description="What was said, as text (may be empty) or as pieces.")
    reasoning_content: str | None = Field(
        default=None, description="What the model thought before it spoke. Agent steps only."
    )
    tool_calls: list[ToolCall] | None = Field(
        default=None, description="The calls that the model asked for. Agent steps only."
    )
    observation: Observation | None = Field(default=None, description="What came back within this step.")
    metrics: Metrics | None = Field(default=None, description="Tokens and cost of this step. Agent steps only.")
    is_copied_context: bool | None = Field(
        default=None, description="True on a step taken over from an earlier document: not for training, not for sums."
    )
    llm_call_count: int | None = Field(
        default=None,
        ge=0,
        description="Inferences in this step: 0 says that no model was asked, more than 1 that figures are sums.",
    )
    extra: dict[str, Any] | None = Field(default=None, description="Free data about the step.")


class Trajectory(_Object):
    """One ATIF document: what one agent did, step by step."""

    schema_version: SchemaVersion = Field(default=WRITTEN, description="The version of ATIF that the document follows.")
    session_id: str | None = Field(
        default=None, description="The run that the document belongs to; several documents may share it."
    )
    trajectory_id: str | None = Field(
        default=None, description="Names this one document. An embedded document has one, unlike its neighbours'."
    )
    agent: Agent = Field(description="Who acted.")
    steps: list[Step] = Field(min_length=1, description="All that happened, in order.")
    notes: str | None = Field(default=None, description="Words for the reader.")
    final_metrics: FinalMetrics | None = Field(default=None, description="Sums over the steps.")
    continued_trajectory_ref: str | None = Field(default=None, description="The file in which the history goes on.")
    extra: dict[str, Any] | None = Field(default=None, description="Free data about the document.")
    subagent_trajectories: list[Trajectory] | None = Field(
        default=None, description="Whole documents of subagents, to which results refer by `trajectory_id`."
    )
