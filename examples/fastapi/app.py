"""An agent behind FastAPI: each request is a run; environment variables say where its spans go."""

from __future__ import annotations

import asyncio

from fastapi import FastAPI
from pydantic import BaseModel

from atifold import shared_bus

app = FastAPI()


class Question(BaseModel):
    """What a client sends."""

    text: str
    session: str | None = None


@app.post("/ask")
async def ask(question: Question) -> dict[str, str]:
    """Answer by one run of the agent; requests at the same time do not mix."""
    async with shared_bus().run("assistant", question.text, session_id=question.session) as run:
        async with run.llm("gpt-4o", provider="openai") as call:
            await asyncio.sleep(0.01)
            wanted = {"id": "call_1", "name": "look_up", "arguments": {"words": question.text}}
            call.respond(tool_calls=[wanted], input_tokens=20, output_tokens=8)
        async with run.tool("look_up", wanted["arguments"], id="call_1") as tool:
            await asyncio.sleep(0.01)
            tool.result(f"all about {question.text}")
        async with run.llm("gpt-4o", provider="openai") as call:
            answer = f"I looked it up: {question.text}"
            call.respond(answer, input_tokens=40, output_tokens=9)
    return {"answer": answer}
