"""Drives a server with MCP Inspector, one run for each operation: reads a session from standard input, prints what it said as JSON.

The first argument is the folder in which Inspector is installed.
"""

import json
import os
import subprocess
import sys

# What Inspector exits with when the tool said that it failed.
TOOL_ERROR = 5


def words(method, params):
    if method == "tools/list":
        return ["--strict"]
    if method == "tools/call":
        return ["--tool-name", params["name"], "--tool-args-json", json.dumps(params["arguments"])]
    if method == "resources/read":
        return ["--uri", params["uri"]]
    if method == "prompts/get":
        arguments = ["{}={}".format(*pair) for pair in params["arguments"].items()]
        return ["--prompt-name", params["name"], "--prompt-args", *arguments]
    return []


def answer(asked, method, params):
    command = ["mcp-inspector", "--cli", asked["command"], "--cwd", asked["cwd"], "--method", method]
    command += [*words(method, params), "--format", "json", "-q", "--protocol-era", asked["era"]]
    for name, value in asked["env"].items():
        command += ["-e", f"{name}={value}"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if run.returncode in (0, TOOL_ERROR):
        return json.loads(run.stdout)
    return {"error": {"code": run.returncode, "message": (run.stderr or run.stdout).strip()}}


os.environ["PATH"] = os.path.join(sys.argv[1], "node_modules", ".bin") + os.pathsep + os.environ["PATH"]
session = json.load(sys.stdin)
print(json.dumps({"answers": [answer(session, method, params) for method, params in session["operations"]]}))
