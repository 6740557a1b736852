"""Make protobuf messages that take texts which are not UTF-8, as some writers send them: their texts are bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

_FILES: Final = (common_pb2, resource_pb2, trace_pb2, metrics_pb2, logs_pb2)
"""In the order in which they import each other."""


def lenient(message: Any) -> Any:
    """Return the message class of the same fields in which each text is bytes."""
    return GetMessageClass(_pool().FindMessageTypeByName(message.DESCRIPTOR.full_name))


@lru_cache(maxsize=1)
def _pool() -> Any:
    pool = DescriptorPool()
    for module in _FILES:
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for field in _fields(file.message_type):
            if field.type == FieldDescriptorProto.TYPE_STRING:
                field.type = FieldDescriptorProto.TYPE_BYTES
        pool.Add(file)
    return pool


def _fields(messages: Any) -> Iterator[Any]:
    """Yield the fields of messages and of those inside them."""
    for message in messages:
        yield from message.field
        yield from _fields(message.nested_type)
