"""Write ATIF's context management step before an inference whose history was shortened.

With boundary `replace` a reader takes the step's observation and the steps after it for all of the
context, so the observation holds everything of the request that no later step tells: the summary
first, then what was kept. Where no summary shows it is `pruning`, and what went is not told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from atifold.calls import MISSING, Message, ModelCall
from atifold.fold.history import News
from atifold.fold.messages import Mark, body_of, clean, requests_of, result_text, system_texts, text_of
from atifold.fold.report import Words
from atifold.fold.toolcalls import Step
from atifold.fold.units import Unit, units_of

_TOLD_AS_STEPS: Final = frozenset({"user", "system", "model"})


def boundary(call: ModelCall, news: News, prompt: Mark | None, words: Words, *, before: bool) -> tuple[Step, News]:
    """Return the step, and the news without the summary; `before` says that an earlier call is known."""
    body = units_of(body_of(call)) if call.input and not call.input_base else []
    apart = _system_summary(call, news) if before else None
    leads = apart is None and before and _is_summary(body, news, prompt)
    if apart is None and not leads:
        words.say("inferred", "the history was shortened before a model call: what went is not told")
        return _step(call, "pruning", "truncate", ()), news
    words.say("inferred", "a summary replaced the history before a model call: it stands first in its request")
    rest = replace(
        news,
        system=tuple(text for text in news.system if text != apart),
        units=news.units[1:] if leads else news.units,
        copied=max(0, news.copied - 1) if leads else news.copied,
    )
    first = [{"content": apart if apart is not None else text_of(body[0].messages)}]
    kept = [shown for unit in body[int(leads) :] if not _comes_later(unit, rest) for shown in _shown(unit)]
    return _step(call, "compaction", "replace", (*first, *kept)), rest


def _step(call: ModelCall, kind: str, edge: str, shows: Sequence[dict[str, Any]]) -> Step:
    extra = {"context_management": {"type": kind, "boundary": edge}}
    return Step("system", call.start_ns, shows=tuple(shows), extra=extra)


def _is_summary(body: Sequence[Unit], news: News, prompt: Mark | None) -> bool:
    """Tell whether a request begins with a message that is new, is not its prompt, and does not stand alone."""
    if not body or not news.units or body[0] != news.units[0] or body[0].kind not in ("user", "system"):
        return False
    return len(body) > 1 and prompt not in body[0].marks and bool(text_of(body[0].messages))


def _system_summary(call: ModelCall, news: News) -> str | None:
    """Return a leading system message that is new and stands beside the instructions."""
    told = system_texts(call)
    new = [text for text in news.system if text != clean(call.system or "")]
    return new[-1] if new and len(told) > 1 else None


def _comes_later(unit: Unit, rest: News) -> bool:
    return unit.kind in _TOLD_AS_STEPS and unit in rest.units


def _shown(unit: Unit) -> list[dict[str, Any]]:
    """Return what a request kept of its history as results of an observation."""
    if unit.kind == "results":
        return [_result("" if r.result is MISSING else result_text(r.result), "tool", r.id) for r in unit.responses]
    return [_message(message) for message in unit.messages]


def _result(content: str, role: str, call_id: str | None = None) -> dict[str, Any]:
    extra = {"role": role, **({"tool_call_id": call_id} if call_id else {})}
    return {"content": content, "extra": extra}


def _message(message: Message) -> dict[str, Any]:
    shown = _result(text_of((message,)), message.role)
    calls = [{"tool_call_id": r.id, "function_name": r.name} for r in requests_of((message,))]
    if calls:
        shown["extra"]["tool_calls"] = calls
    return shown
