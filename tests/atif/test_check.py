"""The check: every rule from both sides, with its words, and no input that it raises on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from atifold import atif
from atifold.atif.rules import REFERENCE
from atifold.atif.shape import _wanted
from atifold.errors import InputError

DOCUMENTS = Path(__file__).parent / "documents"
Document = dict[str, Any]
Edit = Callable[[Document], object]


def put(*way: Any) -> Edit:
    """Return what sets the value that stands last at the place that the rest leads to."""
    *keys, last, value = way

    def edit(document: Document) -> None:
        owner: Any = document
        for key in keys:
            owner = owner[key]
        owner[last] = copy.deepcopy(value)

    return edit


def cut(*way: str | int) -> Edit:
    """Return what deletes the place that the keys lead to."""

    def edit(document: Document) -> None:
        owner: Any = document
        for key in way[:-1]:
            owner = owner[key]
        del owner[way[-1]]

    return edit


STEP = "steps"
RESULTS = (STEP, 3, "observation", "results")
IMAGE = {"type": "image", "source": {"media_type": "image/png", "path": "https://harbour.example/a.png"}}
EMBEDDED = "subagent_trajectories"
PILOT = {
    "trajectory_id": "pilot",
    "agent": {"name": "p", "version": "1"},
    "steps": [{"step_id": 1, "source": "user", "message": ""}],
}

BROKEN: tuple[tuple[str, Edit, str, str], ...] = (
    ("step-ids", put(STEP, 2, "step_id", 7), "steps[2].step_id", "found 7, wanted 3: steps count 1, 2, 3 … in order"),
    ("step-ids", cut(STEP, 0), "steps[0].step_id", "found 2, wanted 1: steps count 1, 2, 3 … in order"),
    (
        "step-ids",
        put(EMBEDDED, 0, STEP, 1, "step_id", 1),
        "subagent_trajectories[0].steps[1].step_id",
        "found 1, wanted 2: steps count 1, 2, 3 … in order",
    ),
    (
        "embedded-ids",
        cut(EMBEDDED, 0, "trajectory_id"),
        "subagent_trajectories[0].trajectory_id",
        "found none, wanted the id by which results refer to this document",
    ),
    (
        "embedded-ids",
        put(EMBEDDED, [PILOT, PILOT]),
        "subagent_trajectories[1].trajectory_id",
        "found 'pilot' again, wanted an id of its own",
    ),
    (
        "timestamp",
        put(STEP, 0, "timestamp", "yesterday"),
        "steps[0].timestamp",
        "found 'yesterday', wanted a time in ISO 8601, such as 2026-01-31T08:30:00Z",
    ),
    *(
        (
            "agent-only",
            put(STEP, 0, field, value),
            f"steps[0].{field}",
            f"found {field} on a system step, wanted it on agent steps only",
        )
        for field, value in (
            ("model_name", ""),
            ("reasoning_effort", 0),
            ("reasoning_content", ""),
            ("tool_calls", []),
            ("metrics", {}),
        )
    ),
    (
        "agent-only",
        put(STEP, 1, "metrics", {}),
        "steps[1].metrics",
        "found metrics on a user step, wanted it on agent steps only",
    ),
    (
        "no-inference",
        put(STEP, 5, "metrics", {}),
        "steps[5].metrics",
        "found metrics on a step with llm_call_count 0, wanted none: no model was asked",
    ),
    (
        "no-inference",
        put(STEP, 5, "reasoning_content", ""),
        "steps[5].reasoning_content",
        "found reasoning_content on a step with llm_call_count 0, wanted none: no model was asked",
    ),
    (
        "call-ids",
        put(*RESULTS, 0, "source_call_id", "c9"),
        "steps[3].observation.results[0].source_call_id",
        "found 'c9', wanted a tool_call_id of the same step (it has 'c1', 'c2')",
    ),
    (
        "call-ids",
        cut(STEP, 5, "tool_calls"),
        "steps[5].observation.results[0].source_call_id",
        "found 'c1', wanted a tool_call_id of the same step (the step has no calls)",
    ),
    (
        "call-ids",
        put(
            STEP, 5, "tool_calls", [{"tool_call_id": f"x{n}", "function_name": "f", "arguments": {}} for n in range(7)]
        ),
        "steps[5].observation.results[0].source_call_id",
        "found 'c1', wanted a tool_call_id of the same step (it has 'x0', 'x1', 'x2', 'x3', 'x4' and 2 more)",
    ),
    (
        "resolvable-ref",
        put(*RESULTS, 1, "subagent_trajectory_ref", [{}]),
        "steps[3].observation.results[1].subagent_trajectory_ref[0]",
        "found neither, wanted trajectory_id or trajectory_path",
    ),
    (
        "resolvable-ref",
        cut(*RESULTS, 1, "subagent_trajectory_ref", 0, "trajectory_id"),
        "steps[3].observation.results[1].subagent_trajectory_ref[0]",
        "found neither, wanted trajectory_id or trajectory_path (session_id alone finds no document)",
    ),
    (
        "part-fields",
        cut(STEP, 2, "message", 0, "text"),
        "steps[2].message[0].text",
        "found none, wanted text on a part of type text",
    ),
    (
        "part-fields",
        put(STEP, 2, "message", 0, "source", IMAGE["source"]),
        "steps[2].message[0].source",
        "found source on a part of type text, wanted text only",
    ),
    (
        "part-fields",
        cut(STEP, 2, "message", 1, "source"),
        "steps[2].message[1].source",
        "found none, wanted source on a part of type image",
    ),
    (
        "part-fields",
        put(STEP, 4, "observation", "results", 0, "content", [{**IMAGE, "text": ""}]),
        "steps[4].observation.results[0].content[0].text",
        "found text on a part of type image, wanted source only",
    ),
    (
        "part-source",
        put(STEP, 2, "message", 1, "type", "audio"),
        "steps[2].message[1].source.media_type",
        "found 'image/png', wanted a media type of audio, as type says",
    ),
    (
        "part-source",
        put(STEP, 2, "message", 1, "source", "media_type", "audio/mp3"),
        "steps[2].message[1].source.media_type",
        "found 'audio/mp3', wanted a media type of image, as type says",
    ),
)

KEPT: tuple[tuple[str, Edit], ...] = (
    ("a whole number in a string as step id", put(STEP, 2, "step_id", "3")),
    ("a call id that an earlier step used", put(STEP, 5, "tool_calls", 0, "tool_call_id", "c1")),
    ("a result that no call asked for", put(*RESULTS, 0, "source_call_id", None)),
    ("two results of one call", put(*RESULTS, 1, "source_call_id", "c1")),
    ("a time without offset", put(STEP, 0, "timestamp", "2026-03-01T20:00:00")),
    ("a date alone", put(STEP, 0, "timestamp", "2026-03-01")),
    ("a day of a week", put(STEP, 0, "timestamp", "2026-W09-7")),
    ("no time", put(STEP, 0, "timestamp", None)),
    ("an empty reasoning on an agent step", put(STEP, 3, "reasoning_content", "")),
    ("a null for an agent's field on a user step", put(STEP, 1, "metrics", None)),
    ("no inferences on a system step", put(STEP, 0, "llm_call_count", 0)),
    ("several inferences", put(STEP, 3, "llm_call_count", 2)),
    ("an observation on a user step", put(STEP, 1, "observation", {"results": []})),
    ("a ref by path", put(*RESULTS, 1, "subagent_trajectory_ref", [{"trajectory_path": "p.json"}])),
    ("no embedded documents", put(EMBEDDED, [])),
    ("embedded documents of one session", put(EMBEDDED, [PILOT, {**PILOT, "trajectory_id": "mate"}])),
    ("a text part of no words", put(STEP, 2, "message", 0, "text", "")),
    ("a media file that nobody can look for", put(STEP, 2, "message", 1, "source", "path", "gone.png")),
    ("no version", cut("schema_version")),
    *((version, put("schema_version", version)) for version in atif.VERSIONS),
)

MISFITS: tuple[tuple[Edit, str, str], ...] = (
    (cut("agent"), "agent", "found none, wanted it: the field is required"),
    (cut(STEP, 0, "message"), "steps[0].message", "found none, wanted it: the field is required"),
    (put(STEP, []), "steps", "found a list of 0 items, wanted at least 1"),
    (put(STEP, {}), "steps", "found an object with 0 fields, wanted a list"),
    (put("agent", "cook"), "agent", "found 'cook', wanted an object"),
    (put("agent", "name", None), "agent.name", "found null, wanted a string"),
    (
        put("agent", "colour", "red"),
        "agent.colour",
        "found an unknown field ('red'), wanted fields of ATIF only; free data goes into `extra`",
    ),
    (
        put(STEP, 0, "str", 1),
        "steps[0].str",
        "found an unknown field (1), wanted fields of ATIF only; free data goes into `extra`",
    ),
    (
        put("a key\nwith a break", [1]),
        "['a key\\nwith a break']",
        "found an unknown field (a list of 1 item), wanted fields of ATIF only; free data goes into `extra`",
    ),
    (put(STEP, 0, "source", "tool"), "steps[0].source", "found 'tool', wanted one of 'system', 'user' or 'agent'"),
    (put(STEP, 0, "message", 5), "steps[0].message", "found 5, wanted a string or a list of content parts"),
    (put(STEP, 2, "message", 0, 5), "steps[2].message[0]", "found 5, wanted an object"),
    (
        put(STEP, 3, "reasoning_effort", []),
        "steps[3].reasoning_effort",
        "found a list of 0 items, wanted a string or a number",
    ),
    (
        put(STEP, 2, "message", 1, "source", 5),
        "steps[2].message[1].source",
        "found 5, wanted the source of an image or the source of an audio file",
    ),
    (
        put(STEP, 2, "message", 1, "source", "media_type", "image/tiff"),
        "steps[2].message[1].source.media_type",
        "found 'image/tiff', wanted one of 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    ),
    (
        put(
            STEP,
            2,
            "message",
            1,
            {"type": "audio", "source": {"media_type": "audio/ogg", "path": "https://a.example/b", "duration_sec": -1}},
        ),
        "steps[2].message[1].source.duration_sec",
        "found -1, wanted at least 0",
    ),
    (
        put(STEP, 3, "metrics", "prompt_tokens", 1.5),
        "steps[3].metrics.prompt_tokens",
        "found 1.5, wanted a whole number",
    ),
    (put(STEP, 3, "metrics", "cost_usd", "free"), "steps[3].metrics.cost_usd", "found 'free', wanted a number"),
    (put(STEP, 3, "metrics", "logprobs", 1, "low"), "steps[3].metrics.logprobs[1]", "found 'low', wanted a number"),
    (put(STEP, 3, "llm_call_count", -1), "steps[3].llm_call_count", "found -1, wanted at least 0"),
    (
        put(STEP, 3, "tool_calls", 0, "arguments", "{}"),
        "steps[3].tool_calls[0].arguments",
        "found '{}', wanted an object",
    ),
    (
        put(STEP, 1, "is_copied_context", "perhaps"),
        "steps[1].is_copied_context",
        "found 'perhaps', wanted true or false",
    ),
    (
        put(STEP, 1, "source", "x" * 1000),
        "steps[1].source",
        f"found '{'x' * 60}…', wanted one of 'system', 'user' or 'agent'",
    ),
)


def test_every_rule_of_the_table_is_broken_below() -> None:
    """No rule without its two sides here; `media-file` has tests of its own."""
    assert {rule.name for rule in REFERENCE} == {name for name, *_ in BROKEN} | {"media-file"}
    assert len({rule.name for rule in REFERENCE}) == len(REFERENCE)


@pytest.mark.parametrize("name", ["full-1.7", "full-1.8", "old-1.0"])
def test_a_valid_document_has_no_findings(name: str) -> None:
    """The kept documents, with every feature of their version, are valid, as files too."""
    assert atif.check_file(DOCUMENTS / f"{name}.json") == []


@pytest.mark.parametrize(("name", "edit", "path", "message"), BROKEN)
def test_a_broken_rule_gives_one_finding(full: Document, name: str, edit: Edit, path: str, message: str) -> None:
    """The finding names the place, what was found and what was wanted."""
    edit(full)
    assert atif.check(full) == [atif.Finding(path, message, "error")], name


@pytest.mark.parametrize(("name", "edit"), KEPT)
def test_what_the_reference_accepts_is_accepted(full: Document, name: str, edit: Edit) -> None:
    """The other side of the rules, and what is odd but left to stricter ones."""
    edit(full)
    assert atif.check(full) == [], name


@pytest.mark.parametrize(("edit", "path", "message"), MISFITS)
def test_a_misfit_gives_one_finding(full: Document, edit: Edit, path: str, message: str) -> None:
    """One finding for one misplaced value, also where it could have been one of several things."""
    edit(full)
    assert atif.check(full) == [atif.Finding(path, message)]


def test_an_error_that_the_table_lacks_is_told_in_pydantics_words() -> None:
    """A newer pydantic may name an error otherwise; its sentence then stands there, in one line."""
    assert _wanted({"type": "brand_new", "loc": (), "msg": "Input should\nbe new", "input": 1}) == "Input should be new"


def test_a_finding_reads_as_one_line() -> None:
    """`PATH: MESSAGE`; the document as a whole is called so."""
    assert str(atif.Finding("steps[0]", "found 1, wanted 2")) == "steps[0]: found 1, wanted 2"
    assert str(atif.Finding("", "found 1, wanted 2")) == "document: found 1, wanted 2"


def test_findings_of_several_kinds_come_together(small: Document) -> None:
    """A misfit in one place hides no broken rule in another."""
    small["steps"] += [5, {"step_id": 3, "source": "user", "metrics": {}, "message": None, "timestamp": "never"}]
    assert [str(finding).partition(",")[0] for finding in atif.check(small)] == [
        "steps[1]: found 5",
        "steps[2].message: found null",
        "steps[2].timestamp: found 'never'",
        "steps[2].metrics: found metrics on a user step",
    ]


@pytest.mark.parametrize("value", [None, [], "x", 5, 1.5, True, object(), b"{}", 10**5000], ids=range(9))
def test_what_is_no_object_gives_one_finding(value: object) -> None:
    """Also for what is no JSON at all."""
    (finding,) = atif.check(value)
    assert (finding.path, finding.message.endswith(", wanted a JSON object")) == ("", True)


def test_a_document_inside_itself_is_refused(small: Document) -> None:
    """A dict in memory can hold itself; JSON cannot."""
    small["trajectory_id"] = "me"
    small["subagent_trajectories"] = [small, small]
    found = {finding.message for finding in atif.check(small)}
    assert (
        "found a document inside itself, or too many inside one another, wanted documents nested less deeply" in found
    )


def test_documents_nested_very_deep_are_refused(small: Document) -> None:
    """A thousand subagents in one another: a finding, no traceback."""
    nested = small
    for _ in range(1000):
        nested = {**small, "trajectory_id": "t", "subagent_trajectories": [nested]}
    assert [finding for finding in atif.check(nested) if "nested less deeply" in finding.message]


def test_every_document_changed_in_one_place_gets_findings_of_one_line(
    full: Document, mutants: Callable[[Document], Iterator[tuple[str, Document]]]
) -> None:
    """Whatever stands where: no exception, and words that a terminal can show."""
    counts = 0
    for name, mutant in mutants(full):
        for finding in atif.check(mutant):
            counts += 1
            assert str(finding).isprintable(), name
            assert ", wanted " in finding.message, name
            assert len(str(finding)) < 400, name
    assert counts > 1000


# No clock: other work on the machine is no failure of ours. No memory: a test writes nothing into the tree.
QUIETLY = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["agent", "steps", "message", "source", "observation", "results", "x"]), inner
        )
    ),
    max_leaves=12,
)


@QUIETLY
@given(st.dictionaries(st.sampled_from(list(atif.Trajectory.model_fields)), JSON))
def test_no_document_raises(document: Document) -> None:
    """Any JSON under the names of ATIF is checked; what is not valid is said."""
    findings = atif.check(document)
    assert findings == atif.check(document)
    assert findings or {"agent", "steps"} <= set(document)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("sky.png", []),
        ("", []),
        ("https://harbour.example/sky.png", []),
        ("gone.png", ["found no file 'gone.png', wanted one there, seen from the document's folder"]),
        ("n" * 300, [f"found no file '{'n' * 60}…', wanted one there, seen from the document's folder"]),
        ("a\0b", ["found no file 'a\\x00b', wanted one there, seen from the document's folder"]),
    ],
    ids=range(6),
)
def test_local_media_files_must_exist_beside_the_document(
    full: Document, tmp_path: Path, place: str, words: list[str]
) -> None:
    """A path is seen from the document's folder; without a file nothing is looked for."""
    (tmp_path / "sky.png").touch()
    full["steps"][2]["message"][1]["source"]["path"] = place
    found = atif.check(full, file=tmp_path / "document.json")
    assert found == [atif.Finding("steps[2].message[1].source.path", message) for message in words]
    assert atif.check(full) == []


def test_media_files_of_results_are_looked_for_and_those_of_subagents_are_not(full: Document, tmp_path: Path) -> None:
    """The reference looks at the document's own steps only."""
    part = {"type": "image", "source": {"media_type": "image/png", "path": "gone.png"}}
    full["subagent_trajectories"][0]["steps"][0]["message"] = [part]
    assert atif.check(full, file=tmp_path / "document.json") == []
    full["steps"][4]["observation"]["results"][0]["content"] = [part]
    (finding,) = atif.check(full, file=tmp_path / "document.json")
    assert finding.path == "steps[4].observation.results[0].content[0].source.path"


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    """Its line says where, what and what was wanted; what can be read is checked."""
    gone, broken, listed = tmp_path / "gone.json", tmp_path / "broken.json", tmp_path / "list.json"
    broken.write_text("{", encoding="utf-8")
    listed.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"gone\.json: cannot be read: No such file or directory, wanted a file"):
        atif.check_file(gone)
    with pytest.raises(InputError, match=r"broken\.json:1: found no JSON \(.*\), wanted one JSON document in UTF-8"):
        atif.check_file(broken)
    assert atif.check_file(listed) == [atif.Finding("", "found a list of 0 items, wanted a JSON object")]


def test_the_shared_trajectories_are_judged_as_their_makers_say(shared: Path) -> None:
    """All ATIF files are valid; three native logs are not ATIF, and one document lacks its audio file."""
    files = sorted((shared / "trajectories").rglob("*.json"))
    refused = {path.name for path in files if atif.check_file(path)}
    native = {"rfc-openhands_trajectory.json", "rfc-gemini-cli-trajectory.json", "rfc-mini-swe-agent-trajectory.json"}
    assert refused == native | {"atif18.json"}
    assert atif.check(atif.load(shared / "trajectories" / "fixtures" / "atif18.json")) == []
    assert len(files) >= 21
