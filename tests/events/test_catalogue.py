"""The models are what the catalogue says, and cost nothing until they are used."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

from atifold.events import DOMAINS, EVENTS, full_name, model_of, validate
from atifold.events.catalogue import CATALOGUE, UNTYPED
from atifold.events.payload import Nested

TYPED_DOMAINS = CATALOGUE.keys() - {"risk"}  # its one event has no model
TYPED = [f"agentfootprint.{domain}.{event}" for domain in TYPED_DOMAINS for event in CATALOGUE[domain]]


def test_every_event_of_the_catalogue_is_known_by_name(facts: Any) -> None:
    """The index has the 128 names of the catalogue and no others."""
    assert set(EVENTS) == set(facts.events)
    assert len(EVENTS) == 128
    assert set(DOMAINS) == {event["domain"] for event in facts.events.values()}


def test_every_class_is_named_as_the_catalogue_names_its_payload(facts: Any) -> None:
    """The class names are the catalogue's, without the word Payload."""
    ours = {
        full_name(f"{domain}.{event}"): name for domain, events in CATALOGUE.items() for event, name in events.items()
    }
    assert ours == {name: event["payload"].removesuffix("Payload") for name, event in facts.events.items()}


def test_a_name_is_complete_with_and_without_its_first_segment() -> None:
    """Both forms of a name are the same event."""
    assert full_name("stream.llm_start") == full_name("agentfootprint.stream.llm_start")


def test_an_event_that_nobody_described_has_a_name_but_no_model() -> None:
    """It is in the mapping, with None, for a reason; its validation is refused."""
    assert {name for name in EVENTS if EVENTS[name] is None} == set(UNTYPED) == {"agentfootprint.risk.flagged"}
    assert all(UNTYPED.values())
    with pytest.raises(KeyError, match=r"risk\.flagged"):
        validate("agentfootprint.risk.flagged", {})


def test_an_unknown_name_has_no_model_and_is_not_in_the_mapping() -> None:
    """The mapping raises KeyError for it, `model_of` returns None."""
    assert "agentfootprint.stream.sung" not in EVENTS
    assert model_of("agentfootprint.stream.sung") is None
    with pytest.raises(KeyError):
        EVENTS["agentfootprint.stream.sung"]


@pytest.mark.parametrize("name", sorted(TYPED))
def test_a_model_says_what_it_is_in_its_own_words(facts: Any, name: str) -> None:
    """Each class has a docstring, which is no copy of the catalogue's text."""
    model = EVENTS[name]
    assert model is not None
    assert model.__doc__
    upstream = facts.events[name]["doc"]
    assert all(line.strip() not in upstream for line in model.__doc__.splitlines() if len(line) > 20)


def _modules() -> Iterator[ModuleType]:
    """Yield every module of models, the parts of a domain's package included."""
    for name in [*TYPED_DOMAINS, "shapes", "exchange"]:
        module = import_module(f"atifold.events.{name}")
        yield module
        for part in iter_modules(getattr(module, "__path__", ())):
            yield import_module(f"{module.__name__}.{part.name}")


def test_every_helper_class_of_a_domain_says_what_it_is(facts: Any) -> None:
    """Nested models have docstrings of their own too, and no sentence of the catalogue."""
    upstream = json.dumps([facts.events, facts.types])
    for module in _modules():
        for name, value in vars(module).items():
            if inspect.isclass(value) and issubclass(value, Nested):
                assert value.__doc__, f"{module.__name__}.{name}"
        for line in inspect.getsource(module).splitlines():
            words = line.strip().strip('"')
            assert "_" in words or len(words.split()) < 5 or words not in upstream, words


def test_the_promised_fields_stand_in_the_json_schema() -> None:
    """What the catalogue promises is required there, though reading lacks it gladly."""
    schema = EVENTS["agentfootprint.stream.llm_end"].model_json_schema()
    assert set(schema["required"]) == {"iteration", "content", "toolCallCount", "usage", "stopReason", "durationMs"}
    assert schema["$defs"]["LLMUsage"]["required"] == ["input", "output"]


def _imported(statement: str) -> set[str]:
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_the_package_loads_no_model_and_no_pydantic() -> None:
    """Names, envelope and unknown events cost no import of pydantic."""
    loaded = _imported(
        "from atifold.events import EVENTS, Meta, parse; assert len(EVENTS) == 128; "
        "parse({'type': 'agentfootprint.risk.flagged', 'payload': {}, 'meta': {}})"
    )
    assert "atifold.events.envelope" in loaded
    assert not {name for name in loaded if name.partition(".")[0] in {"pydantic", "pydantic_core", "opentelemetry"}}


def test_the_top_package_loads_no_pydantic() -> None:
    """Nor a model, nor the SDK."""
    loaded = _imported("import atifold")
    assert "atifold" in loaded
    assert not {name for name in loaded if name.startswith(("pydantic", "opentelemetry.sdk")) or _domain(name)}


@pytest.mark.parametrize("domain", sorted(TYPED_DOMAINS))
def test_one_domain_loads_no_other(domain: str) -> None:
    """Asking for one event's model imports that domain alone."""
    name = full_name(f"{domain}.{next(iter(CATALOGUE[domain]))}")
    loaded = _imported(f"from atifold.events import model_of; model_of({name!r})")
    assert {found for name in loaded if (found := _domain(name))} == {domain}


def test_the_everyday_events_load_two_domains() -> None:
    """A model call, a tool call and its cost need no other models."""
    names = ["stream.llm_start", "stream.llm_end", "stream.tool_start", "stream.tool_end", "cost.tick"]
    loaded = _imported(
        "from atifold import EventBus; bus = EventBus(); bus.subscribe('*', lambda event: None); "
        f"[bus.emit('agentfootprint.' + name, {{}}) for name in {names}]"
    )
    assert {found for name in loaded if (found := _domain(name))} == {"stream", "cost"}
    assert "pydantic" in loaded


def _domain(module: str) -> str | None:
    """Return the domain whose models a module has."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["atifold", "events"] and len(parts) > 2 and parts[2] in DOMAINS else None
