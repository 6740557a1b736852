"""The models are what the catalogue says, and cost nothing until they are used."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from atifold.events import DOMAINS, EVENTS, full_name, model_of, validate
from atifold.events.catalogue import CATALOGUE, TYPED_DOMAINS
from atifold.events.marks import Shaped
from atifold.events.payload import ALWAYS, Nested

TYPED = [f"agentfootprint.{domain}.{event}" for domain in TYPED_DOMAINS for event in CATALOGUE[domain]]


def _literals(annotation: Any) -> set[str]:
    """Return the members of all Literal types inside an annotation."""
    if get_origin(annotation) is not None and "Literal" in str(get_origin(annotation)):
        return set(get_args(annotation))
    return set().union(*(_literals(arg) for arg in get_args(annotation)))


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for arg in get_args(annotation) for model in _models(arg)]


def _scalars(annotation: Any) -> set[type]:
    if annotation in (str, int, float, bool):
        return {annotation}
    if get_origin(annotation) is not None and "Literal" in str(get_origin(annotation)):
        return set()
    return set().union(*(_scalars(arg) for arg in get_args(annotation)))


def _scalars_of(text: str) -> set[type]:
    """Return the scalar types that a TypeScript type of the catalogue names, without objects."""
    words = set(text.replace("(", " ").replace(")", " ").replace("[]", " ").split())
    found: set[type] = set()
    if "string" in words:
        found.add(str)
    if words & {"number", "1|2|3|4"}:
        found.add(int)
    if words & {"boolean", "true"}:
        found.add(bool)
    return found


def _check(facts: Any, model: type[Nested], fields: dict[str, Any], path: str) -> list[str]:
    """Return what differs between a model and the catalogue's fields, nested objects included."""
    infos = {info.alias or name: info for name, info in model.model_fields.items()}
    added = set(infos) - set(fields) - ({"notDispatched"} if model.__name__ == "LLMMessage" else set())
    found = [f"{path}: {name} is not in the catalogue" for name in added]
    for name, field in fields.items():
        info = infos.get(name)
        found += _check_field(facts, info, field, f"{path}.{name}") if info else [f"{path}.{name}: not in the model"]
    return found


def _check_field(facts: Any, info: FieldInfo, field: dict[str, Any], path: str) -> list[str]:
    found = []
    if (ALWAYS in info.metadata) is field["optional"]:
        found.append(f"{path}: optional is {field['optional']} in the catalogue")
    members = set() if path.endswith(".held") else facts.members(field["type"])  # an object or one word
    if _literals(info.annotation) != members:
        found.append(f"{path}: {_literals(info.annotation)} is not {members}")
    models = [item.model for item in info.metadata if isinstance(item, Shaped)] or _models(info.annotation)
    nested = facts.nested(field)
    if nested is not None:
        return found + (_check(facts, models[0], nested, path) if models else [f"{path}: its object is not modelled"])
    wanted = _scalars_of(facts.expand(field["type"]))
    if (
        not models
        and not members
        and not set("{<") & set(field["type"])
        and wanted - {str} != _scalars(info.annotation) - {str, float}
    ):
        found.append(f"{path}: holds {_scalars(info.annotation)}, not {wanted}")
    return found


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


def test_a_domain_without_models_has_names_but_no_model() -> None:
    """A name of an untyped domain is in the mapping, with None; its validation is refused."""
    name = next(full_name(f"{d}.{e}") for d in DOMAINS if d not in TYPED_DOMAINS for e in CATALOGUE[d])
    assert name in EVENTS
    assert EVENTS[name] is None
    with pytest.raises(KeyError, match=name):
        validate(name, {})


def test_an_unknown_name_has_no_model_and_is_not_in_the_mapping() -> None:
    """The mapping raises KeyError for it, `model_of` returns None."""
    assert "agentfootprint.stream.sung" not in EVENTS
    assert model_of("agentfootprint.stream.sung") is None
    with pytest.raises(KeyError):
        EVENTS["agentfootprint.stream.sung"]


@pytest.mark.parametrize("name", sorted(TYPED))
def test_a_model_has_the_fields_of_the_catalogue(facts: Any, name: str) -> None:
    """Names, optionality, enumeration members and nested objects are equal."""
    model = EVENTS[name]
    assert model is not None
    assert _check(facts, model, facts.fields(facts.events[name]), name) == []


def test_the_comparison_notices_a_difference(facts: Any) -> None:
    """A field taken away, made optional or given another member is reported."""
    model = EVENTS["agentfootprint.cost.tick"]
    assert model is not None
    fields = dict(facts.fields(facts.events["agentfootprint.cost.tick"]))
    del fields["model"]
    fields["scope"] = {"type": "'iteration' | 'week'", "optional": True}
    fields["cumulative"] = {"type": "{ usd: number; }", "optional": False, "fields": {"usd": fields["tokensInput"]}}
    found = "\n".join(_check(facts, model, fields, "tick"))
    for word in ("model is not in", "scope: optional", "week", "cumulative.usd: not in the model"):
        assert word in found


@pytest.mark.parametrize("name", sorted(TYPED))
def test_a_model_says_what_it_is_in_its_own_words(facts: Any, name: str) -> None:
    """Each class has a docstring, which is no copy of the catalogue's text."""
    model = EVENTS[name]
    assert model is not None
    assert model.__doc__
    upstream = facts.events[name]["doc"]
    assert all(line.strip() not in upstream for line in model.__doc__.splitlines() if len(line) > 20)


def test_every_helper_class_of_a_domain_says_what_it_is() -> None:
    """Nested models have docstrings of their own too."""
    for domain in [*TYPED_DOMAINS, "shapes"]:
        module = import_module(f"atifold.events.{domain}")
        for name, value in vars(module).items():
            if inspect.isclass(value) and issubclass(value, Nested):
                assert value.__doc__, f"{domain}.{name}"


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
        "parse({'type': 'agentfootprint.tools.offered', 'payload': {}, 'meta': {}})"
    )
    assert "atifold.events.envelope" in loaded
    assert not {name for name in loaded if name.partition(".")[0] in {"pydantic", "pydantic_core", "opentelemetry"}}


def test_one_domain_loads_no_other() -> None:
    """Asking for one event's model imports that domain alone."""
    loaded = _imported("from atifold.events import model_of; model_of('agentfootprint.cost.tick')")
    assert {name for name in loaded if name.startswith("atifold.events.") and name.rpartition(".")[2] in DOMAINS} == {
        "atifold.events.cost"
    }
