"""Images that a trace holds as data become files of their document."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from atifold import atif, dialects
from atifold.fold import Document, fold
from atifold.sinks import DirectorySink
from atifold.spans import Span

PIXEL = b"\x89PNG\r\n\x1a\n and the rest"
DATA = base64.b64encode(PIXEL).decode()
TRACE = "0af7651916cd43dd8448eb211c80319c"


def document(part: dict[str, Any], *, files: bool = True) -> Document:
    """Return the document of one call that was shown a part twice."""
    message = {"role": "user", "parts": [{"type": "text", "content": "See."}, part, part]}
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "I see."}]}]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([message]),
        "gen_ai.output.messages": json.dumps(answer),
    }
    span = Span(TRACE, "b7ad6b7169203331", None, "chat", 1, 2, attributes=attributes)
    (found,) = fold(dialects.read([span]), files=files).documents
    return found


BLOB = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": DATA}


def test_the_same_image_is_one_file_below_the_document_s_name() -> None:
    """Named by its content; the text beside it stays."""
    found = document(BLOB)
    ((path, data),) = found.files.items()
    assert (data, Path(path).parent.name, Path(path).suffix) == (PIXEL, found.name, ".png")
    image = {"type": "image", "source": {"media_type": "image/png", "path": path}}
    assert found.trajectory["steps"][0]["message"] == [{"type": "text", "text": "See."}, image, image]
    assert "left_out" not in found.report


def test_without_files_data_is_left_out() -> None:
    """As where documents go to a stream."""
    found = document(BLOB, files=False)
    assert found.files == {}
    assert found.trajectory["steps"][0]["message"] == "See."
    assert found.report["left_out"]


@pytest.mark.parametrize(
    "part",
    [
        {**BLOB, "content": "no base64!"},
        {**BLOB, "mime_type": "image/tiff"},
        {**BLOB, "mime_type": "audio/wav", "modality": "audio"},
        {**BLOB, "content": ""},
    ],
)
def test_what_is_no_image_that_atif_knows_is_left_out(part: dict[str, Any]) -> None:
    """It is named in `extra`, and said in the report."""
    found = document(part)
    assert found.files == {}
    assert found.report["left_out"]


def test_the_files_lie_where_the_document_says(tmp_path: Path) -> None:
    """The check looks for them; a document that is taken back takes its files along, and nothing else."""
    sink = DirectorySink(tmp_path)
    found = document(BLOB)
    target = sink.write(found)
    assert [str(finding) for finding in atif.check_file(target)] == []
    (tmp_path / found.name / "mine.txt").write_text("stays")
    sink.discard(found.name)
    assert sorted(path.name for path in tmp_path.rglob("*")) == [found.name, "mine.txt"]
    (tmp_path / found.name / "mine.txt").unlink()
    sink.write(found)
    sink.discard(found.name)
    assert list(tmp_path.iterdir()) == []
    assert not target.exists()


BLOCK = {"type": "image", "data": DATA, "mimeType": "image/png"}
TEXT = {"type": "text", "text": "See."}


@pytest.mark.parametrize(
    "result",
    [
        [TEXT, BLOCK],
        json.dumps([TEXT, BLOCK]),
        {"content": [TEXT, BLOCK]},
        {"result": {"content": [TEXT, BLOCK], "isError": False}},
        [TEXT, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}],
        [TEXT, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}],
        [{"text": "See."}, {"image": {"format": "png", "source": {"bytes": DATA}}}],
        {"type": "content", "value": [TEXT, {"type": "media", "data": DATA, "mediaType": "image/png"}]},
    ],
    ids=["blocks", "as text", "of MCP", "wrapped", "OpenAI's", "Anthropic's", "Bedrock's", "of the AI SDK"],
)
@pytest.mark.parametrize("where", ["span", "history"])
def test_an_image_in_a_tool_s_result_is_a_part_of_it(result: Any, where: str) -> None:
    """Its bytes go into a file, whether the tool's span tells the result or the next request."""
    asked = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "look", "arguments": {}}]}]
    told = [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": result}]}]
    chat = {"gen_ai.operation.name": "chat"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look", "gen_ai.tool.call.id": "c"}
    spans = [
        Span(TRACE, "1" * 16, None, "chat", 1, 2, attributes={**chat, "gen_ai.output.messages": json.dumps(asked)}),
        Span(TRACE, "2" * 16, None, "look", 3, 4, attributes={**tool, "gen_ai.tool.call.result": result}),
        Span(TRACE, "3" * 16, None, "chat", 5, 6, attributes={**chat, "gen_ai.input.messages": [*asked, *told]}),
    ]
    (found,) = fold(dialects.read(spans[:2] if where == "span" else spans[::2]), files=True).documents
    ((path, data),) = found.files.items()
    assert data == PIXEL
    image = {"type": "image", "source": {"media_type": "image/png", "path": path}}
    (shown,) = found.trajectory["steps"][0]["observation"]["results"]
    assert shown["content"] == [{"type": "text", "text": "See."}, image]


def test_the_id_of_a_file_that_a_provider_keeps_is_no_path() -> None:
    """A reader would look for it beside the document."""
    found = document({"type": "file", "modality": "image", "mime_type": "image/png", "file_id": "file-1"})
    assert found.files == {}
    assert found.trajectory["steps"][0]["message"] == "See."
