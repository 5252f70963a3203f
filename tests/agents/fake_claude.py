#!/usr/bin/env python3
"""What delivery knows of Claude Code, on command: a session file, an input box, dialogs, a transcript.

It writes down what happens like agent.py, and takes commands from $SCRIPT_DIR/<instance>.in:
{"onPaste": "dialog"}   the next paste is taken into the box, and a dialog opens
{"onPaste": "eaten"}    a dialog opens and eats the next paste
{"onPaste": "replaced", "draft": TEXT}   the next paste is lost, and a person's draft stands in the box
{"close": true}         the dialog is closed, {"draft": TEXT}: the box holds this, {"swallow": N}: the next Enters do nothing
{"hook": ARGV}          its turn ends: the Stop hook is called, and what that says goes to the transcript
{"session": UUID}       it goes on under another session id, as after /clear
{"silent": BOOL}        it writes no transcript (CLAUDE_CODE_SKIP_PROMPT_HISTORY)
{"parked": BOOL}        its conversation is in the background, and its terminal shows whatever a person looks at
"""
import json, os, select, subprocess, sys, termios, tty

if "--version" in sys.argv:
    print("2.1.325 (Claude Code)")
    sys.exit()
flags = dict(zip(sys.argv, sys.argv[1:]))
os.environ["CODEX_MCP_CONFIG"] = flags["--mcp-config"]
os.environ.setdefault("CODEX_ROLE", "coding")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import FOLDER, ME, Server, record

SESSION = flags.get("--session-id") or flags["--resume"]
CONFIG = os.path.join(os.environ["HOME"], ".claude")
EDGE = "─" * 100
# What was pasted or typed, as it is shown and as it is; what is said; whether a dialog is open.
box, said, dialog, plan = [], [], False, {}


def status(word):
    path = os.path.join(CONFIG, "sessions", "%d.json" % os.getpid())
    started = open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]
    session = {"pid": os.getpid(), "sessionId": SESSION, "cwd": os.getcwd(), "version": "2.1.325",
               "status": word, "procStart": started, **({"waitingFor": "permission prompt"} if word == "waiting" else {}),
               **({"parkedJobId": "34f56195"} if plan.get("parked") else {})}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path + ".new", "w").write(json.dumps(session))
    os.rename(path + ".new", path)


def draw():
    if dialog:
        lines = ["● Bash(rm -rf everything)", EDGE, " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel"]
    else:
        shown = "".join(part for part, _ in box).replace("\n", "\r\n  ")
        lines = said[-3:] + [EDGE, "❯\u00a0" + shown, EDGE, "  ? for shortcuts"]
    sys.stdout.write("\x1b[2J\x1b[H" + "\r\n".join(lines) + "\x1b[?25l")
    sys.stdout.flush()


def set_dialog(is_open):
    global dialog
    dialog = is_open
    status("waiting" if is_open else "idle")


def pasted(text):
    action = plan.pop("onPaste", None)
    if dialog or action == "eaten":
        set_dialog(True)
    elif action == "replaced":
        box[:] = [(plan["draft"], plan["draft"])]
        plan["lose"] = True
    elif not plan.get("lose"):
        folded = len(text) > 800 or text.count("\n") > 2
        box.append(("[Pasted text #1 +%d lines]" % text.count("\n") if folded else text, text))
        if action == "dialog":
            plan["open"] = True


def transcript():
    folder = os.path.join(CONFIG, "projects", "".join(c if c.isascii() and c.isalnum() else "-" for c in os.getcwd()))
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, SESSION + ".jsonl")


def tell(text):
    record("message", text=text)
    if plan.get("silent"):
        return
    with open(transcript(), "a") as file:
        file.write(json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n")


def end_turn(argv):
    payload = {"session_id": SESSION, "transcript_path": transcript(), "cwd": os.getcwd(), "hook_event_name": "Stop",
               "stop_hook_active": False}
    done = subprocess.run(argv, input=json.dumps(payload), capture_output=True, text=True)
    if done.returncode == 0 and done.stdout:
        tell("Stop hook feedback:\n" + json.loads(done.stdout)["reason"])
    record("hook", status=done.returncode, text=done.stdout)


def enter():
    if dialog:
        record("answered")
        set_dialog(False)
    elif plan.get("swallow", 0) > 0:
        plan["swallow"] -= 1
    elif box:
        text = "".join(real for _, real in box)
        said.append("> " + text.split("\n")[0])
        tell(text)
        box.clear()


def obey(command):
    global SESSION
    plan.update(command)
    if "session" in command:
        SESSION = command["session"]
        status("idle")
    if "hook" in command:
        end_turn(command["hook"])
    if "close" in command:
        set_dialog(False)
    if "parked" in command:
        status("idle")
    if "draft" in command and "onPaste" not in command:
        box[:] = [(command["draft"], command["draft"])] if command["draft"] else []
    record("obeyed")


def main():
    tty.setraw(0, termios.TCSANOW)
    sys.stdout.write("\x1b[?2004h")
    server = Server()
    record("ready", server=server.child.pid)
    status("idle")
    draw()
    pending, position, path = b"", 0, os.path.join(FOLDER, ME + ".in")
    while True:
        if select.select([0], [], [], 0.02)[0]:
            data = os.read(0, 65536)
            if not data:
                return
            pending += data
            while pending:
                if pending.startswith(b"\x1b[200~"):
                    end = pending.find(b"\x1b[201~")
                    if end < 0:
                        break
                    pasted(pending[6:end].decode())
                    pending = pending[end + 6:]
                elif pending[:1] == b"\x1b" and len(pending) < 6:
                    break
                else:
                    key, pending = pending[:1], pending[1:]
                    if key == b"\r":
                        enter()
                    elif key == b"\x15":
                        box.clear()
                    elif key >= b" ":
                        box.append((key.decode("ascii", "replace"),) * 2)
            # All parts of one paste have come.
            plan.pop("lose", None)
            if plan.pop("open", None):
                set_dialog(True)
            draw()
        if os.path.exists(path):
            with open(path, "rb") as file:
                file.seek(position)
                lines = file.read()
            whole = lines[:lines.rfind(b"\n") + 1]
            position += len(whole)
            for line in whole.splitlines():
                obey(json.loads(line))
            if whole:
                draw()


main()
