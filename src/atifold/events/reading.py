"""Make the reader of a payload model from its annotations, without what pydantic loads to build a model.

When pydantic builds its first model it looks for plugins in every installed distribution, which costs
more than all models of a program's first events. A reader needs none of that: the annotations of
payloads have few forms, and pydantic-core validates by a schema of these. The model itself is built
by pydantic when somebody wants more of it (its constructor, its dump, its JSON schema).
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import Strict
from pydantic_core import CoreConfig, SchemaValidator, core_schema

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    from atifold.events.payload import Nested, Payload

_LEAVES: Final[dict[object, CoreSchema]] = {Any: core_schema.any_schema(), str: core_schema.str_schema()}
_STRICT: Final[dict[object, CoreSchema]] = {
    int: core_schema.int_schema(strict=True),
    float: core_schema.float_schema(strict=True),
    bool: core_schema.bool_schema(strict=True),
}


def reader(model: type[Payload]) -> Callable[[Any], Payload]:
    """Return what reads a mapping (or an instance) as `model`, as pydantic's own validator does.

    Raises:
        TypeError: a field's annotation has a form that payloads do not have.
    """
    return SchemaValidator(_object(model), _config(model)).validate_python


def _object(model: type[Nested]) -> CoreSchema:
    fields = {
        name: core_schema.model_field(
            core_schema.with_default_schema(_value(info.annotation), default=None), validation_alias=info.alias
        )
        for name, info in model.model_fields.items()
    }
    schema = core_schema.model_fields_schema(fields, model_name=model.__name__)
    return core_schema.model_schema(model, schema, config=_config(model))


def _config(model: type[Nested]) -> CoreConfig:
    """Return the model's configuration in pydantic-core's words; all models have the same (`Nested`)."""
    return CoreConfig(
        title=model.__name__,
        extra_fields_behavior="allow",
        hide_input_in_errors=True,
        validate_by_alias=True,
        validate_by_name=True,
    )


def _value(form: Any) -> CoreSchema:
    """Return the schema of an annotation."""
    of = get_args(form)
    make = _CONTAINERS.get(get_origin(form))
    if make is not None:
        return make(of)
    if form in _LEAVES:
        return _LEAVES[form]
    if hasattr(form, "model_fields"):
        return _object(form)
    msg = f"no payload holds {form!r}"
    raise TypeError(msg)


def _annotated(of: tuple[Any, ...]) -> CoreSchema:
    return _STRICT[of[0]] if Strict() in of else _value(of[0])


def _either(of: tuple[Any, ...]) -> CoreSchema:
    choices = [_value(form) for form in of if form is not NoneType]
    schema = choices[0] if len(choices) == 1 else core_schema.union_schema(list(choices))
    return core_schema.nullable_schema(schema) if NoneType in of else schema


_CONTAINERS: Final[dict[object, Callable[[tuple[Any, ...]], CoreSchema]]] = {
    Annotated: _annotated,
    Union: _either,
    Literal: lambda of: core_schema.literal_schema(list(of)),
    list: lambda of: core_schema.list_schema(_value(of[0])),
    dict: lambda of: core_schema.dict_schema(_value(of[0]), _value(of[1])),
}
"""Origin of an annotation to what makes the schema of its arguments."""
