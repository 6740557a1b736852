"""Hold what all payload models have in common: configuration, field kinds, marks.

A field is written as kind and mark, `model: Always[Structure[str]] = None`:

- `Structure[...]` and `Content[...]` are the two sides of the privacy policy (`atifold.events.marks`).
- `Always[...]` says that the catalogue promises the field. Real events break that promise (older
  producers, cut recordings), so every field may be None: a promised field that is not there costs the
  event nothing, and its name is known (`Event.lacking`). None elsewhere means: not given.
- `Open[Literal[...]]` is a closed enumeration of the catalogue. A newer producer may have more members,
  so any text is read; code that branches on it needs a default.

Numbers are never turned into each other: 42 stays 42, 0.5 stays 0.5.
"""

from __future__ import annotations

from threading import RLock
from typing import Annotated, Any, ClassVar, Final, TypeVar, Union

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, Strict
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema
from typing_extensions import Self

from atifold.events.marks import Mark

T = TypeVar("T")

ALWAYS: Final = "always"
"""The field metadata that `Always` adds."""

Structure = Annotated[Union[T, None], Mark.STRUCTURE]
Content = Annotated[Union[T, None], Mark.CONTENT]
Always = Annotated[T, ALWAYS]
Open = Union[T, str]

Whole = Annotated[int, Strict()]
"""A count, an index, whole milliseconds: the units that have no fractions."""

Number = Union[Annotated[int, Strict()], Annotated[float, Strict()]]
"""A score, an amount of money, a duration: whole or not, as it was given."""

Flag = Annotated[bool, Strict()]
"""A boolean; the catalogue's flags that are only ever true are None when they do not hold."""


class Described:
    """Say in the JSON schema what a field holds that is read whatever it holds.

    For bodies that are only passed on: a surprise in one of them costs nothing.
    """

    __slots__ = ("schema",)

    def __init__(self, schema: JsonSchemaValue) -> None:
        """Take the schema, a value of JSON."""
        self.schema = schema

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema, a copy."""
        return dict(self.schema)


Body = Annotated[Any, Described({"type": "object", "additionalProperties": True})]
"""An object of the app's or of a tool's own."""


class _Null:
    __slots__ = ()

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(core_schema), {"type": "null"}]}


Nullable = Annotated[Union[T, None], _Null()]
"""What the producer may write as null, and means something by it; in a model the same as not given."""


_new: Final = object.__new__
# what sets the parts that an instance of a model consists of, without asking the model
_put_values: Final = vars(BaseModel)["__dict__"].__set__
_put_given: Final = vars(BaseModel)["__pydantic_fields_set__"].__set__
_put_extra: Final = vars(BaseModel)["__pydantic_extra__"].__set__
_put_private: Final = vars(BaseModel)["__pydantic_private__"].__set__

_BUILDING: Final = RLock()  # one that is half built can be neither dumped nor validated; of pydantic since 2.14


class Nested(BaseModel):
    """An object inside a payload. Unknown fields are kept, wire names are camelCase."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        hide_input_in_errors=True,
        defer_build=True,
    )

    REQUIRED: ClassVar[frozenset[str]] = frozenset()
    """The Python names of the fields that the catalogue promises."""

    BLANK: ClassVar[dict[str, None]] = {}
    """All fields by their Python names, none of them given."""

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        cls.BLANK = dict.fromkeys(cls.model_fields)
        cls.REQUIRED = frozenset(name for name, info in cls.model_fields.items() if ALWAYS in info.metadata)

    @classmethod
    def model_rebuild(cls, *, force: bool = False, _parent_namespace_depth: int = 2, **how: Any) -> bool | None:
        """Build the model as pydantic does, one thread at a time."""
        with _BUILDING:
            return super().model_rebuild(force=force, _parent_namespace_depth=_parent_namespace_depth + 1, **how)

    @classmethod
    def known(cls, given: dict[str, Any], extra: dict[str, Any]) -> Self:
        """Make what reading a mapping makes, of values that are known to have their fields' types.

        Nothing is checked or copied; reading costs three times that, `model_construct` more than reading.
        `given` has Python names; `extra`, the fields that no model declares, is the model's from then on.
        """
        made = _new(cls)
        _put_values(made, cls.BLANK | given)
        _put_given(made, {*given, *extra} if extra else set(given))  # pydantic counts both
        _put_extra(made, extra)
        _put_private(made, None)
        return made

    @classmethod
    def wire_name(cls, name: str) -> str:
        """Return the name that a field has on the wire."""
        return cls.model_fields[name].alias or name

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the schema with the promised fields under `required`, although reading lacks them gladly."""
        schema = handler(core_schema)
        if cls.REQUIRED:
            target = handler.resolve_ref_schema(schema)
            target["required"] = [cls.wire_name(name) for name in cls.model_fields if name in cls.REQUIRED]
        return schema


class Payload(Nested):
    """The body of one event. Extension fields `atifold.*` are in `model_extra`, as on the wire."""

    def lacking(self) -> tuple[str, ...]:
        """Return the wire names of promised fields that were not given, in the model's order."""
        required = self.REQUIRED
        given = self.__pydantic_fields_set__
        if required <= given:
            return ()
        return tuple(self.wire_name(name) for name in type(self).model_fields if name in required - given)

    def to_wire(self) -> dict[str, Any]:
        """Return the payload in the producer's own form: only what was given, by its wire names."""
        return self.model_dump(by_alias=True, exclude_unset=True, warnings=False)
