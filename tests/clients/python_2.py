"""Drives a server with the Python SDK 2.x: reads a session from standard input, prints what the client got as JSON."""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def answer(client, method, params):
    steps = []

    async def progress(done, _total, _message):
        steps.append(done)

    calls = {
        "tools/list": client.list_tools,
        "resources/list": client.list_resources,
        "resources/templates/list": client.list_resource_templates,
        "prompts/list": client.list_prompts,
        "resources/read": client.read_resource,
        "prompts/get": client.get_prompt,
        "tools/call": lambda **named: client.call_tool(**named, progress_callback=progress),
    }
    try:
        result = await calls[method](**params)
    except MCPError as error:
        return {"error": {"code": error.code, "message": error.message}}
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True), "progress": len(steps)}


async def drive(asked):
    server = StdioServerParameters(command=asked["command"], env=asked["env"], cwd=asked["cwd"])
    mode = {"legacy": "legacy", "modern": "auto"}[asked["era"]]
    async with Client(server, mode=mode) as client:
        answers = [await answer(client, method, params) for method, params in asked["operations"]]
        return {
            "protocol": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "instructions": client.instructions,
            "answers": answers,
        }


print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
