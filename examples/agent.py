"""An agent in thirty lines: CODEX_AGENT_COMMAND="python3 /path/to/agent.py" claude-codex code "Write this down"

It is started in its own worktree. What it is told later is pasted into its terminal and sent with Enter, as a person would. It
counts as taken when the terminal shows it then, so each message is read whole and printed."""
import json, os, subprocess, sys, tty

tty.setcbreak(sys.stdin)  # a terminal that collects lines by itself cuts them at 4096 bytes
print("\x1b[?2004h", end="", flush=True)  # a paste shall come between two marks

(server,) = json.load(open(os.environ["CODEX_MCP_CONFIG"]))["mcpServers"].values()
mcp = subprocess.Popen([server["command"], *server.get("args", [])], env={**os.environ, **server.get("env", {})},
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

def send(**message):
    mcp.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

def request(number, method, **params):
    send(id=number, method=method, params=params)
    return next(answer for answer in map(json.loads, mcp.stdout) if answer.get("id") == number)

request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "agent", "version": "1"})
send(method="notifications/initialized")
open("NOTES.md", "a").write(open(os.environ["CODEX_PROMPT_FILE"]).read())
for command in ["git", "add", "NOTES.md"], ["git", "commit", "-q", "-m", "Write it down"]:
    subprocess.run(command, check=True)
print(request(2, "tools/call", name="create_pr", arguments={"title": "Notes", "description": "Written down."}), flush=True)
told = ""
while key := sys.stdin.read(1):
    told += key
    if key in "\r\n" and told.count("\x1b[200~") == told.count("\x1b[201~"):
        print("told:", told.replace("\x1b[200~", "").replace("\x1b[201~", "").replace("\r", "\n").strip(), flush=True)
        told = ""
