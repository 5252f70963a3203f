"""A place of one's own: home, state, repository and tmux server, gone at the end."""

import json
import os
import shutil
import subprocess
import tempfile
import time

# A busy machine is slow; a hang is forever.
PATIENCE = 120


class Place:
    def __init__(self, binaries):
        root = os.path.realpath(tempfile.mkdtemp(prefix="codex-clients-"))
        self.root = root
        self.binaries = binaries
        self.repository = os.path.join(root, "repository")
        # Nobody else's, because the folder's name is random.
        self.socket = os.path.basename(root)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.path.join(root, "home"),
            "LC_ALL": "C.UTF-8",
            "CODEX_STATE_DIR": os.path.join(root, "state"),
            "CODEX_TMUX_SOCKET": self.socket,
            # An agent that lives, and shows what is typed to it.
            "CODEX_AGENT_COMMAND": "cat",
            "CODEX_FORGE": "local",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Test",
            "GIT_AUTHOR_EMAIL": "test@example.com",
            "GIT_COMMITTER_NAME": "Test",
            "GIT_COMMITTER_EMAIL": "test@example.com",
        }

    def __enter__(self):
        os.mkdir(self.environment["HOME"])
        os.mkdir(self.repository)
        self.git(self.repository, "init", "-q", "-b", "main")
        self.commit(self.repository, "README.md", "# A project\n")
        return self

    def __exit__(self, *_):
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True, check=False)
        folder = os.environ.get("TMUX_TMPDIR", "/tmp")
        try:
            os.remove(os.path.join(folder, f"tmux-{os.getuid()}", self.socket))
        except OSError:
            pass
        shutil.rmtree(self.root, ignore_errors=True)

    def run(self, *command, cwd=None, text=None, environment=None):
        """Runs a program that must succeed, and returns what it printed."""
        done = subprocess.run(
            command,
            cwd=cwd or self.repository,
            env=environment or self.environment,
            input=text or "",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode != 0:
            raise ValueError(f"{command[0]} exited with {done.returncode}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def git(self, folder, *words):
        return self.run("git", *words, cwd=folder)

    def commit(self, folder, name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        self.git(folder, "add", name)
        self.git(folder, "commit", "-q", "-m", f"Write {name}")

    def codex(self, *words):
        """Runs a command of ours and returns its JSON."""
        return json.loads(self.run(os.path.join(self.binaries, "claude-codex"), *words, "--json"))

    def wait_until(self, holds):
        """Returns whether something came to hold in time."""
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True
