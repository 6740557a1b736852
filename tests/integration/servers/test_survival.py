"""What real servers keep of what they are sent, and what they make of it: neither more nor less than the table says."""

from __future__ import annotations

import urllib.error
from collections.abc import Callable, Mapping
from functools import cache

import pytest
from backends.backend import Backend
from backends.facts import Facts
from backends.losses import PROTOCOLS, SERVERS, change
from backends.probe import Probe
from backends.sending import Protocol
from backends.survival import COPIED, FACTS, STOLEN, TWICE, tell

pytestmark = pytest.mark.integration

Told = Callable[[str, Protocol], Mapping[str, Mapping[str, str]]]
CELLS = [
    pytest.param(server, protocol, view, id=f"{server}-{protocol.name}-{view}")
    for server, views in SERVERS.items()
    for protocol in PROTOCOLS[server]
    for view in views
]
NAMES = (*(fact.name for fact in FACTS), TWICE, COPIED, STOLEN)


@pytest.fixture(scope="session")
def told(request: pytest.FixtureRequest) -> Told:
    """Return what sends the probe to a server by a protocol, once, and gives the facts by view, and as sent."""

    @cache
    def send(server: str, protocol: Protocol) -> Mapping[str, Mapping[str, str]]:
        backend: Backend = request.getfixturevalue(server)
        probe = Probe(f"{server} {protocol.name}")
        for each in probe.requests:
            assert protocol.send(backend.url(protocol), each, backend.headers) == 200
            # Of requests that come at once, Phoenix may take in the second one first.
            backend.wait({each.resource_spans[0].scope_spans[0].spans[-1].trace_id.hex(): 1})
        sent = probe.sent()
        asked = {name: view.facts for name, view in backend.views.items()}
        asked["sent"] = lambda trace_id: [facts for facts in sent if facts["trace_id"] == trace_id]
        return {name: tell(_read(facts, probe)) for name, facts in asked.items()}

    return send


def _read(facts: Callable[[str], list[Facts]], probe: Probe) -> dict[str, list[Facts] | int]:
    """Return the spans by their names in the probe; a status where the server refuses to tell of a trace."""
    found: dict[str, list[Facts] | int] = {}
    for trace_id, names in probe.traces.items():
        try:
            spans = facts(trace_id)
        except urllib.error.HTTPError as error:
            found.update(dict.fromkeys(names, error.code))
        else:
            found.update({name: [each for each in spans if probe.is_named(name, each)] for name in names})
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("server", "protocol", "view"), CELLS)
def test_a_fact_is_kept_or_changed_as_the_table_says(
    server: str, protocol: Protocol, view: str, name: str, told: Told
) -> None:
    """A fact without a row comes back as it was sent; one with a row as the row says, also where it is now kept."""
    cell = told(server, protocol)
    sent, found = cell["sent"][name], cell[view][name]
    row = change(server, view, protocol, name)
    assert found == (row.of(sent) if row else sent)
    assert (found != sent) is (row is not None), f"kept, though the table says: {row.how if row else ''}"


def test_the_table_has_no_row_for_what_is_not_asked() -> None:
    """A row whose fact has another name would never be looked at; one fact has one row at most."""
    for views in SERVERS.values():
        for rows in views.values():
            facts = [row.fact for row in rows]
            assert set(facts) <= set(NAMES)
            assert len(set(facts)) == len(facts)
