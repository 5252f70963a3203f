"""A scripted agent: speaks MCP to its own server, and has an input box in its terminal.

It takes bracketed pastes and Enter as Claude Code does, shows what was submitted, and writes down all
that happens, one JSON object a line, to $SCRIPT_DIR/<instance>.log. Tests command it by lines appended to
$SCRIPT_DIR/<instance>.in. $SCRIPT_CODER and $SCRIPT_REVIEWER say what it does by itself. $SCRIPT_SHOW says what its
terminal shows: nothing of a draft (the default), the `draft` as well, or all of it only `folded`; $SCRIPT_DEAF makes it ignore Enter,
$SCRIPT_NO_CURSOR hide its cursor.
"""
import json, os, select, subprocess, sys, termios, threading, time, tty

FOLDER, ME, ROLE = os.environ["SCRIPT_DIR"], os.environ["CODEX_INSTANCE_ID"], os.environ["CODEX_ROLE"]
LOG = open(os.path.join(FOLDER, ME + ".log"), "a", buffering=1)
LOCK = threading.Lock()
SHOW, DEAF = os.environ.get("SCRIPT_SHOW"), os.environ.get("SCRIPT_DEAF")


def record(event, **fields):
    with LOCK:
        LOG.write(json.dumps({"event": event, "pid": os.getpid(), "at": time.time(), **fields}) + "\n")


class Server:
    def __init__(self):
        config = json.load(open(os.environ["CODEX_MCP_CONFIG"]))
        (entry,) = config["mcpServers"].values()
        self.child = subprocess.Popen(
            [entry["command"], *entry.get("args", [])], env={**os.environ, **entry.get("env", {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.next, self.waiting, self.ended = 0, {}, threading.Event()
        threading.Thread(target=self.listen, daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "scripted", "version": "1"}})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        try:
            self.child.stdin.write((json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode())
            self.child.stdin.flush()
        except OSError:
            pass  # It has ended, and whoever waits for an answer is told so.

    def listen(self):
        waiting, ended = self.waiting, self.ended
        for line in self.child.stdout:
            answer = json.loads(line)
            if answer.get("id") in waiting and "method" not in answer:
                waiting[answer["id"]][1].append(answer)
                waiting[answer["id"]][0].set()
        # Nothing more will come from a server that has ended.
        ended.set()
        for event, _ in list(waiting.values()):
            event.set()

    def begin(self, method, params):
        self.next += 1
        number = self.next
        self.waiting[number] = (threading.Event(), [])
        self.send({"id": number, "method": method, "params": params})
        if self.ended.is_set():
            self.waiting[number][0].set()
        return number

    def request(self, method, params):
        return self.end(self.begin(method, params))

    def end(self, number):
        event, answers = self.waiting[number]
        event.wait(60)
        return answers[0] if answers else {"error": "no answer"}

    def call(self, name, arguments, cancel_after=None):
        began = time.time()
        number = self.begin("tools/call", {"name": name, "arguments": arguments})
        if cancel_after is not None:
            time.sleep(cancel_after)
            self.send({"method": "notifications/cancelled", "params": {"requestId": number}})
            record("cancelled", name=name)
            return {}
        answer = self.end(number).get("result", {})
        record("tool", name=name, began=began, error=bool(answer.get("isError")), result=answer.get("structuredContent"),
               text="".join(part.get("text", "") for part in answer.get("content", [])))
        return answer


def work(server, what):
    with open("work.txt", "a") as file:
        file.write(what + "\n")
    subprocess.run(["git", "add", "work.txt"], check=True)
    subprocess.run(["git", "commit", "-q", "-m", what], check=True)
    server.call("request_review", {"description": what})


def commit(subject, name):
    with open(name, "a") as file:
        file.write(subject + "\n")
    subprocess.run(["git", "add", "--all"])
    done = subprocess.run(["git", "commit", "-q", "-m", subject])
    record("commit", subject=subject, status=done.returncode)


def obey(server, command):
    if "commit" in command:
        threading.Thread(target=commit, args=(command["commit"], command["file"])).start()
    if "call" in command:
        threading.Thread(target=server.call, args=(command["call"], command.get("arguments", {}), command.get("cancelAfter"))).start()
    if "run" in command:
        done = subprocess.run(command["run"], capture_output=True, text=True)
        record("run", status=done.returncode, text=done.stdout + done.stderr)
    if "restart" in command:
        server.child.kill()
        server.__init__()
        record("server", server=server.child.pid)
    if "write" in command:
        with open("work.txt", "a") as file:
            file.write(command["write"])
        record("written", text=command["write"])


def submitted(server, text):
    record("message", text=text)
    if SHOW == "folded":
        text = "[Pasted text +%d lines]" % text.count("\n")
    start = "\r\x1b[J> " if SHOW == "draft" else "> "
    sys.stdout.write(start + text.replace("\n", "\r\n  ") + "\r\n")
    sys.stdout.flush()
    if ROLE == "coding" and os.environ.get("SCRIPT_CODER") == "loop" and "changes requested" in text.split("\n")[0]:
        threading.Thread(target=work, args=(server, "fix")).start()


def main():
    if sys.stdin.isatty():
        tty.setraw(0, termios.TCSANOW)
        sys.stdout.write("\x1b[?2004h" + ("\x1b[?25l" if os.environ.get("SCRIPT_NO_CURSOR") else ""))
        sys.stdout.flush()
    server = Server()
    record("ready", server=server.child.pid)
    if ROLE == "coding" and os.environ.get("SCRIPT_CODER") == "loop":
        threading.Thread(target=work, args=(server, "first")).start()
    if ROLE == "review" and os.environ.get("SCRIPT_REVIEWER") == "changes":
        arguments = {"feedback": "Please change it.", "findings": [
            {"file": "work.txt", "line": 1, "severity": "blocking", "message": "wrong word"}]}
        threading.Thread(target=server.call, args=("request_changes", arguments)).start()
    if ROLE == "review" and os.environ.get("SCRIPT_REVIEWER") == "approve":
        arguments = {"title": "Add the work", "description": "It does what was asked."}
        threading.Thread(target=server.call, args=("create_pr", arguments)).start()
    box, pending, pasting = b"", b"", False
    path, obeyed = os.path.join(FOLDER, ME + ".in"), os.path.join(FOLDER, ME + ".obeyed")
    # What its predecessor was told is not done again.
    position = int(open(obeyed).read() or 0) if os.path.exists(obeyed) else 0
    while True:
        if select.select([0], [], [], 0.02)[0]:
            data = os.read(0, 65536)
            if not data:
                return
            pending += data
            while pending:
                mark = b"\x1b[201~" if pasting else b"\x1b[200~"
                if pending.startswith(mark):
                    pasting, pending = not pasting, pending[len(mark):]
                elif mark.startswith(pending):
                    break
                elif not pasting and pending[:1] == b"\r":
                    if box and not DEAF:
                        submitted(server, box.decode("utf-8", "replace"))
                        box = b""
                    pending = pending[1:]
                else:
                    end = len(pending)
                    for stop in (b"\x1b", b"" if pasting else b"\r"):
                        at = pending.find(stop, 1) if stop else -1
                        end = at if 0 < at < end else end
                    if SHOW == "draft":
                        sys.stdout.write(pending[:end].decode("utf-8", "replace").replace("\n", "\r\n"))
                        sys.stdout.flush()
                    box, pending = box + pending[:end], pending[end:]
        if os.path.exists(path):
            with open(path) as file:
                file.seek(position)
                lines = file.read()
            whole = lines[:lines.rfind("\n") + 1]
            position += len(whole)
            if whole:
                open(obeyed, "w").write(str(position))
            for line in whole.splitlines():
                obey(server, json.loads(line))


if __name__ == "__main__":
    main()
