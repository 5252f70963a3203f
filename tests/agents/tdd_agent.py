"""A scripted headless agent: takes one turn, speaks MCP to its own server, and prints its last message.

$SCRIPT_CODER and $SCRIPT_REVIEWER name what it does in its first, second, third turn …, with commas; the last one goes
on for ever. How many turns there were is counted in $SCRIPT_DIR, where it also leaves what it was told.
"""
import json, os, subprocess, sys, time

FOLDER, ME, ROLE = os.environ["SCRIPT_DIR"], os.environ["CODEX_INSTANCE_ID"], os.environ["CODEX_ROLE"]
WHO = "coder" if ROLE == "coding" else "reviewer"


def turn():
    """Counts the turns of this role by files that only one process can make."""
    number = 1
    while True:
        try:
            os.close(os.open(f"{FOLDER}/{WHO}-{number}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return number
        except FileExistsError:
            number += 1


class Server:
    def __init__(self):
        (entry,) = json.load(open(os.environ["CODEX_MCP_CONFIG"]))["mcpServers"].values()
        self.child = subprocess.Popen([entry["command"]], env={**os.environ, **entry["env"]}, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                   "clientInfo": {"name": "scripted", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.child.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
        self.child.stdin.flush()

    def ask(self, number, method, params):
        self.send({"id": number, "method": method, "params": params})
        for line in self.child.stdout:
            answer = json.loads(line)
            if answer.get("id") == number and "method" not in answer:
                return answer["result"]
        raise SystemExit("the server has gone")

    def call(self, tool, arguments):
        answer = self.ask(2, "tools/call", {"name": tool, "arguments": arguments})
        with open(f"{FOLDER}/{WHO}-{NUMBER}.answer", "w") as file:
            json.dump(answer, file)
        return answer


def commit(what):
    with open("work.txt", "a") as file:
        file.write(what + "\n")
    subprocess.run(["git", "add", "work.txt"], check=True)
    subprocess.run(["git", "commit", "-q", "-m", what], check=True)


def wait():
    open(f"{FOLDER}/{WHO}.waits", "w").close()
    deadline = time.time() + 60
    while not os.path.exists(f"{FOLDER}/go") and time.time() < deadline:
        time.sleep(0.02)


NUMBER = turn()
with open(f"{FOLDER}/{WHO}-{NUMBER}", "w") as told:
    told.write(sys.stdin.read())
steps = os.environ["SCRIPT_" + WHO.upper()].split(",")
step = steps[min(NUMBER, len(steps)) - 1]
HANDOFF = f"## Handoff\n### What was done\nThe work of turn {NUMBER}.\n### Tests\n3 passed"
APPROVAL = {"title": "Add the work", "description": "It does what was asked."}
CHANGES = {"feedback": f"Please change it, says {ME}.", "findings": [
    {"file": "work.txt", "line": 1, "severity": "blocking", "message": "wrong word"}]}
server = None if step == "alone" else Server()
if step.startswith("wait-"):
    wait()
    step = step.removeprefix("wait-")
if step in ("work", "alone"):
    print("thinking", file=sys.stderr)
    commit(f"turn {NUMBER}")
    print(HANDOFF)
elif step == "silent":
    commit(f"turn {NUMBER}")
elif step == "nothing":
    pass
elif step == "talk":
    print("I would rather not.")
elif step == "dirty":
    open("left.txt", "w").write("not committed")
    print(HANDOFF)
elif step == "tidy":
    os.remove("left.txt")
    commit("tidied")
    print(HANDOFF)
elif step == "asks":
    commit(f"turn {NUMBER}")
    server.call("request_review", {"description": "asked by myself"})
    print(HANDOFF)
elif step == "publishes":
    commit(f"turn {NUMBER}")
    server.call("create_pr", APPROVAL)
    print(HANDOFF)
elif step == "fails":
    print("no credit left", file=sys.stderr)
    sys.exit(3)
elif step == "approve":
    server.call("create_pr", APPROVAL)
    print("Approved.")
elif step == "changes":
    server.call("request_changes", CHANGES)
    print("Sent back.")
elif step == "say":
    print(f"The second line is wrong, says {ME}.")
else:
    raise SystemExit(f"no such step: {step}")
