"""A travel agent without a model: what it thinks and does is written down here.

It shows all that `bus.run` is for: two turns of one conversation, tool calls in parallel, a tool that
fails, an agent that is called as a tool, token counts and cost. The recording behind `atifold demo`
was made by it:

    python examples/scripted_agent.py --record demo.jsonl
    atifold replay demo.jsonl -o trajectories

Without `--record` it attaches to OpenTelemetry, prints its spans' names and writes its trajectories.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from atifold import EventBus, instrument
from atifold.bus import Run

MODEL, SMALL_MODEL, PROVIDER = "claude-sonnet-4-5", "claude-haiku-4-5", "anthropic"
SYSTEM = "You plan trips. Look things up before you answer."
TOOLS = [
    {"name": "get_weather", "description": "Weather of a city on a date.", "parameters": {"type": "object"}},
    {"name": "search_trains", "description": "Trains between two cities.", "parameters": {"type": "object"}},
    {"name": "ask_hotel_expert", "description": "Ask a colleague who knows hotels.", "parameters": {"type": "object"}},
]

Message = dict[str, Any]


def user(text: str) -> Message:
    """Return a user's message."""
    return {"role": "user", "content": text}


def asked(text: str, *calls: Message) -> Message:
    """Return an assistant's message with its calls."""
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def call(call_id: str, name: str, **arguments: object) -> Message:
    """Return one tool call as a model asks for it."""
    return {"id": call_id, "name": name, "arguments": arguments}


def result(call_id: str, text: str) -> Message:
    """Return a tool's result as the next request shows it."""
    return {"role": "tool", "tool_call_id": call_id, "content": text}


class TravelAgent:
    """Plays the script on a bus; `pace` stretches the pauses (0: none)."""

    def __init__(self, bus: EventBus, pace: float = 1.0) -> None:
        """Take the bus to emit on."""
        self.bus = bus
        self.pace = pace
        self.history: list[Message] = []

    def wait(self, seconds: float) -> None:
        """Take the time that a model or a tool would take."""
        time.sleep(seconds * self.pace)

    def first_turn(self, session_id: str) -> None:
        """Two look-ups at once, of which one fails; then the answer."""
        question = "I want to be in Lyon on Friday. Will it rain, and is there a train from Paris?"
        with self.bus.run("trip_planner", question, session_id=session_id, version="1.2.0") as run:
            self.history.append(user(question))
            calls = [
                call("call_w1", "get_weather", city="Lyon", date="Friday"),
                call("call_t1", "search_trains", origin="Paris", destination="Lyon", date="Friday"),
            ]
            with run.llm(MODEL, provider=PROVIDER, messages=self.history, system=SYSTEM, tools=TOOLS) as llm:
                self.wait(0.21)
                llm.respond(
                    "I look at the weather and the trains.",
                    reasoning="Two independent look-ups: ask for both at once.",
                    tool_calls=calls,
                    id="msg_01",
                    input_tokens=412,
                    output_tokens=96,
                    reasoning_tokens=18,
                    cost_usd=0.002676,
                )
            self.history.append(asked("I look at the weather and the trains.", *calls))
            with ThreadPoolExecutor() as pool:
                pool.submit(self.get_weather, run)
                pool.submit(self.search_trains, run)
            self.history.append(result("call_w1", "Friday: light rain, 14 to 17 degrees"))
            self.history.append(result("call_t1", "timetable service timed out after 3 s"))
            answer = "Light rain on Friday, 14 to 17 degrees. The timetable does not answer; I will try again later."
            with run.llm(MODEL, provider=PROVIDER, messages=self.history, system=SYSTEM, tools=TOOLS) as llm:
                self.wait(0.17)
                llm.respond(
                    answer,
                    id="msg_02",
                    input_tokens=548,
                    output_tokens=41,
                    cached_tokens=384,
                    cost_usd=0.001222,
                )
            self.history.append(asked(answer))

    def get_weather(self, run: Run) -> None:
        """Succeed."""
        with run.tool("get_weather", {"city": "Lyon", "date": "Friday"}, id="call_w1") as tool:
            self.wait(0.06)
            tool.result("Friday: light rain, 14 to 17 degrees")

    def search_trains(self, run: Run) -> None:
        """Fail, as services do; the agent goes on."""
        arguments = {"origin": "Paris", "destination": "Lyon", "date": "Friday"}
        with run.tool("search_trains", arguments, id="call_t1") as tool:
            self.wait(0.12)
            tool.fail("timetable service timed out after 3 s", type="TimeoutError")

    def second_turn(self, session_id: str) -> None:
        """Ask a colleague, an agent of its own, through a tool."""
        question = "Then find me a quiet hotel near the station."
        with self.bus.run("trip_planner", question, session_id=session_id, version="1.2.0") as run:
            self.history.append(user(question))
            request = "A quiet hotel within ten minutes of Lyon Part-Dieu, Friday night"
            ask = call("call_h1", "ask_hotel_expert", request=request)
            with run.llm(MODEL, provider=PROVIDER, messages=self.history, system=SYSTEM, tools=TOOLS) as llm:
                self.wait(0.14)
                llm.respond(
                    "I ask our hotel expert.",
                    tool_calls=[ask],
                    id="msg_03",
                    input_tokens=633,
                    output_tokens=38,
                    cached_tokens=512,
                    cost_usd=0.001087,
                )
            self.history.append(asked("I ask our hotel expert.", ask))
            with run.tool("ask_hotel_expert", {"request": request}, id="call_h1") as tool:
                found = self.hotel_expert(run, request)
                tool.result(found)
            self.history.append(result("call_h1", found))
            answer = "The Hôtel des Jardins is quiet and six minutes from Part-Dieu; it has rooms on Friday."
            with run.llm(MODEL, provider=PROVIDER, messages=self.history, system=SYSTEM, tools=TOOLS) as llm:
                self.wait(0.16)
                llm.respond(
                    answer,
                    id="msg_04",
                    input_tokens=742,
                    output_tokens=33,
                    cached_tokens=640,
                    cost_usd=0.000993,
                )
            self.history.append(asked(answer))

    def hotel_expert(self, run: Run, request: str) -> str:
        """Run the colleague: its own agent, its own history, below the tool that called it."""
        rooms = [{"name": "Hôtel des Jardins", "minutes": 6, "noise": "low", "free": True}]
        search = call("call_r1", "search_hotels", near="Lyon Part-Dieu", quiet=True)
        with run.agent("hotel_expert", request) as expert:
            history = [user(request)]
            with expert.llm(SMALL_MODEL, provider=PROVIDER, messages=history, system="You know hotels.") as llm:
                self.wait(0.08)
                llm.respond(tool_calls=[search], id="msg_h1", input_tokens=120, output_tokens=22, cost_usd=0.000184)
            history.append(asked("", search))
            with expert.tool("search_hotels", {"near": "Lyon Part-Dieu", "quiet": True}, id="call_r1") as tool:
                self.wait(0.05)
                tool.result(rooms)
            history.append(result("call_r1", "Hôtel des Jardins, 6 minutes, quiet, free on Friday"))
            found = "Hôtel des Jardins: six minutes on foot, low noise, free on Friday."
            with expert.llm(SMALL_MODEL, provider=PROVIDER, messages=history, system="You know hotels.") as llm:
                self.wait(0.07)
                llm.respond(found, id="msg_h2", input_tokens=171, output_tokens=24, cost_usd=0.000233)
            return found

    def play(self, session_id: str = "trip-42") -> None:
        """Play both turns."""
        self.first_turn(session_id)
        self.wait(0.3)
        self.second_turn(session_id)


def main() -> None:
    """Record the script, or run it attached to OpenTelemetry."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", metavar="FILE.jsonl", help="write the events to a file instead")
    options = parser.parse_args()
    if options.record:
        bus = EventBus()
        with bus.record(options.record):
            TravelAgent(bus).play()
        return
    provider = TracerProvider()
    names = ConsoleSpanExporter(formatter=lambda span: f"{span.name}\n")
    provider.add_span_processor(SimpleSpanProcessor(names))
    bus = instrument(provider, directory="trajectories")
    TravelAgent(bus, pace=0.1).play()
    provider.shutdown()


if __name__ == "__main__":
    main()
