"""Drives a server with the Python SDK 1.x: reads a session from standard input, prints what the client got as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client


async def answer(session, method, params):
    steps = []

    async def progress(done, _total, _message):
        steps.append(done)

    calls = {
        "tools/list": session.list_tools,
        "resources/list": session.list_resources,
        "resources/templates/list": session.list_resource_templates,
        "prompts/list": session.list_prompts,
        "resources/read": session.read_resource,
        "prompts/get": session.get_prompt,
        "tools/call": lambda **named: session.call_tool(**named, progress_callback=progress),
    }
    try:
        result = await calls[method](**params)
    except McpError as error:
        return {"error": error.error.model_dump(mode="json")}
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True), "progress": len(steps)}


async def drive(asked):
    server = StdioServerParameters(command=asked["command"], env=asked["env"], cwd=asked["cwd"])
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        hello = await session.initialize()
        answers = [await answer(session, method, params) for method, params in asked["operations"]]
    return {
        "protocol": hello.protocolVersion,
        "server": hello.serverInfo.name,
        "instructions": hello.instructions,
        "answers": answers,
    }


print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
