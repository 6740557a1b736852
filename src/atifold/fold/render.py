"""Write steps as ATIF: plain dicts with the format's keys, absent keys instead of nulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Union

from atifold.calls import MISSING, Failure, Media, Message, ModelCall, OtherPart, Text
from atifold.fold.beside import attempts_of, lookups_and_scores
from atifold.fold.figures import Clock, metrics_of
from atifold.fold.messages import clean, parts_of, reasoning_of, result_text, text_of
from atifold.fold.pictures import TYPES, Pictures
from atifold.fold.report import Words
from atifold.fold.toolcalls import Asked, Step

_Content = Union[str, list[dict[str, Any]]]
_BY_SUFFIX: Final = {"jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif"}


class Writer:
    """Write the steps of one document."""

    def __init__(
        self,
        model: str | None,
        agent: str,
        references: Mapping[int, Sequence[str]],
        words: Words,
        pictures: Pictures | None = None,
    ) -> None:
        """Take the agent's model and name, and the subagents of each call by the `id()` of its record.

        `pictures` takes images that are data; None where the document has no folder to keep them in.
        """
        self._pictures = pictures
        self._model = model
        self._agent = agent
        self._references = references
        self._words = words
        self._clock = Clock()

    def write(self, steps: Sequence[Step]) -> list[dict[str, Any]]:
        """Return the steps, numbered from 1."""
        return [self._step(number, step) for number, step in enumerate(steps, 1)]

    def _step(self, number: int, step: Step) -> dict[str, Any]:
        """Return one step."""
        stamp, own = self._clock.stamp(step.time_ns)
        message, homeless = self._content(step.messages)
        written: dict[str, Any] = {"step_id": number}
        if stamp:
            written["timestamp"] = stamp
        written["source"] = step.source
        if step.source == "agent":
            written.update(self._agent_fields(number, step, message))
        else:
            written["message"] = message
            if step.subagents or step.shows:
                results = [{"subagent_trajectory_ref": _refs(step.subagents)}] if step.subagents else list(step.shows)
                written["observation"] = {"results": results}
        if step.copied:
            written["is_copied_context"] = True
        if step.counted is not None:
            written["llm_call_count"] = step.counted
        extra = {**_own_extra(step, own), **homeless}
        extra.update({key: value for key, value in self._agent_extra(step).items() if key not in extra})
        if extra:
            written["extra"] = extra
        return written

    def _agent_fields(self, number: int, step: Step, message: _Content) -> dict[str, Any]:
        """Return what an agent step has under names of ATIF's own."""
        call = step.call
        written: dict[str, Any] = {}
        if call is not None and call.model and call.model != self._model:
            written["model_name"] = call.model
        if call is not None and call.reasoning_effort is not None:
            written["reasoning_effort"] = call.reasoning_effort
        written["message"] = message
        reasoning = reasoning_of(step.messages)
        if reasoning:
            written["reasoning_content"] = reasoning
        written.update(self._calls(number, step))
        told = step.claimed or (metrics_of(call) if call is not None else {})
        if told:
            written["metrics"] = told
        return written

    def _agent_extra(self, step: Step) -> dict[str, Any]:
        """Return what ATIF has no field for: facts of the inference, and the agent where it is not the document's."""
        facts = {} if step.call is None else _inference_facts(step.call)
        return {**facts, "agent": step.agent} if step.agent and step.agent != self._agent else facts

    # ---- tool calls ----------------------------------------------------------------------------

    def _calls(self, number: int, step: Step) -> dict[str, Any]:
        """Return `tool_calls` and `observation`, each where there is any."""
        named = [asked for asked in step.asked if asked.name or asked.span]
        loose = [*step.loose, *(a.told for a in step.asked if not a.name and not a.span and a.told)]
        ids = self._ids(number, named)
        calls = []
        results = []
        for call_id, asked in zip(ids, named, strict=True):
            call, result = self._call(call_id, asked)
            calls.append(call)
            results += [result] if result else []
        results += [{"content": result_text(r.result)} for r in loose if r.result is not MISSING]
        written: dict[str, Any] = {"tool_calls": calls} if calls else {}
        if results:
            written["observation"] = {"results": results}
        return written

    def _ids(self, number: int, asked: Sequence[Asked]) -> list[str]:
        """Return an id for each call of a step, unique in it; a made-up one where there is none."""
        ids: dict[str, None] = {}
        for place, call in enumerate(asked, 1):
            made_up = f"call_{number}_{place}"
            if not call.id:
                self._words.say("inferred", "the id of a tool call is made up: the trace has none")
            elif call.id in ids:
                self._words.say("unsure", "two tool calls of one step had the same id: the second has a made-up one")
            call_id = call.id if call.id and call.id not in ids else made_up
            while call_id in ids:
                call_id += "_"
            ids[call_id] = None
        return list(ids)

    def _call(self, call_id: str, asked: Asked) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Return a tool call and its result, None where none is known."""
        name = asked.name or (asked.span.name if asked.span else "")
        call = {"tool_call_id": call_id, "function_name": name, "arguments": self._arguments(asked)}
        result: dict[str, Any] = {"source_call_id": call_id}
        extra = _call_facts(asked)
        failure = _failure_of(asked)
        content = self._pictured(asked) or _content_of(asked, failure)
        if content is not None:
            result["content"] = content
        references = self._references.get(id(asked))
        if references:
            result["subagent_trajectory_ref"] = _refs(references)
        if failure and content is not None:
            result["extra"] = failure
        else:
            extra.update(failure)
        if extra:
            call["extra"] = extra
        return call, result if len(result) > 1 else None

    def _arguments(self, asked: Asked) -> dict[str, Any]:
        """Return arguments as the object that ATIF wants; any other value stands under `input`."""
        told = asked.arguments
        if asked.span is not None and (told is MISSING or told is None or told in ({}, "")):
            told = asked.span.arguments
        if isinstance(told, Mapping):
            return dict(told)
        if told is MISSING or told is None or told == "":
            return {}
        self._words.say("inferred", "arguments that are no object stand under `input`")
        return {"input": clean(told) if isinstance(told, str) else told}

    def _pictured(self, asked: Asked) -> list[dict[str, Any]] | None:
        """Return a result's texts and images; None for one without an image that has an address or a file."""
        parts = [part for part in map(self._content_part, asked.shown) if part is not None]
        return parts if any(part["type"] == "image" for part in parts) else None

    # ---- content -------------------------------------------------------------------------------

    def _content(self, messages: Sequence[Message]) -> tuple[_Content, dict[str, Any]]:
        """Return (a message's text, or its parts where it holds an image that has an address; what goes into `extra`).

        What has no place in a message (inline data, unknown parts) is named in `extra`.
        """
        others = [part.value for part in parts_of(messages, OtherPart)]
        self._words.say("unsure", "a message part of an unknown kind is kept in `extra`", len(others))
        media = list(parts_of(messages, Media))
        homeless = [part for part in media if self._source(part) is None]
        for part in homeless:
            self._words.say("left_out", f"{part.modality} data: ATIF holds files and addresses, no inline data")
        found = {"other_parts": others, "media": [_mark_of(part) for part in homeless]}
        extra = {key: value for key, value in found.items() if value}
        if len(homeless) == len(media):
            return text_of(messages), extra
        return [p for m in messages for part in m.parts if (p := self._content_part(part)) is not None], extra

    def _content_part(self, part: Any) -> dict[str, Any] | None:
        """Return a text or an image as a content part, None for anything else."""
        match part:
            case Text(text):
                return {"type": "text", "text": clean(text)} if text else None
            case Media():
                source = self._source(part)
                return {"type": "image", "source": source} if source else None
            case _:
                return None

    def _source(self, media: Media) -> dict[str, str] | None:
        """Return ATIF's source of an image: its address, or the file that its data goes into."""
        return image_source(media) or (self._pictures.source(media) if self._pictures else None)


def _own_extra(step: Step, time: str | None) -> dict[str, Any]:
    """Return what the fold itself keeps of a step, and its own time where its timestamp is a later one."""
    extra = _plain(step.extra)
    return {**extra, "atifold": {**extra.get("atifold", {}), "time": time}} if time else extra


def _mark_of(media: Media) -> dict[str, str]:
    """Return what stands in `extra` for media that a document cannot hold."""
    mark = {"modality": media.modality}
    return {**mark, "mime_type": media.mime_type} if media.mime_type else mark


def image_source(media: Media) -> dict[str, str] | None:
    """Return ATIF's source of an image that has an address outside the document, None for any other."""
    if not media.uri or "://" not in media.uri or media.uri.startswith("data:"):
        return None  # data, or the id of a file that a provider keeps
    suffix = media.uri.split("?")[0].rsplit(".", 1)[-1].lower()
    kind = TYPES.get((media.mime_type or "").lower()) or _BY_SUFFIX.get(suffix)
    if kind is None and media.modality == "image":
        kind = "image/webp" if suffix == "webp" else "image/png"
    return {"media_type": kind, "path": media.uri} if kind else None


def _call_facts(asked: Asked) -> dict[str, Any]:
    """Return what stands in a call's `extra`: what request and span keep, and that it was not run."""
    span = asked.span
    if span is None:
        return _plain(asked.extra)
    extra = _plain({**span.extra, **asked.extra}) | lookups_and_scores((span,))
    if span.dispatch:
        extra["atifold"] = {**extra.get("atifold", {}), "dispatch": span.dispatch}
    return extra


def _failure_of(asked: Asked) -> dict[str, Any]:
    """Return the marks of a failed tool call; empty for one that did not fail, or that did not run."""
    span = asked.span
    told = any(response.failed for response in (asked.told, asked.inline) if response)
    failure = span.failure if span is not None and not span.dispatch else None
    if failure is None and not told:
        return {}
    marks: dict[str, Any] = {"is_error": True}
    if failure is not None and failure.type:
        marks["error_type"] = failure.type
    if failure is not None and failure.message:
        marks["error_message"] = clean(failure.message)
    return marks


def _content_of(asked: Asked, failure: dict[str, Any]) -> str | None:
    """Return a result's text, of a failed call without one the error's; None where nothing is known.

    An error message that is the content is taken out of the marks.
    """
    result = asked.result
    content = None if result is MISSING else result_text(result)
    if content is None or failure.get("error_message") == content:
        content = failure.pop("error_message", content)
    return content


def failure_fact(failure: Failure) -> dict[str, Any]:
    """Return a failure as `extra` holds it."""
    told = {"type": failure.type, "message": clean(failure.message) if failure.message else None}
    return {key: value for key, value in told.items() if value} or {"type": "unknown"}


def _inference_facts(call: ModelCall) -> dict[str, Any]:
    """Return what a step's `extra` holds of its inference."""
    told = {"provider": call.provider, "response_id": call.response_id, "finish_reasons": list(call.finish_reasons)}
    facts = {key: value for key, value in told.items() if value} | _plain(call.extra)
    facts.update(lookups_and_scores((call,)))
    facts.update(attempts_of(call))
    if call.failure is not None:
        facts["error"] = failure_fact(call.failure)
    return facts


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping as a dict of its own, so that nothing of the calls is shared."""
    return {key: _plain(item) if isinstance(item, Mapping) else item for key, item in value.items()}


def _refs(ids: Sequence[str]) -> list[dict[str, str]]:
    """Return references to embedded documents."""
    return [{"trajectory_id": trajectory_id} for trajectory_id in ids]
