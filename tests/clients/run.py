"""Plays one story with each client that is installed, checks what the client got, and prints a table.

Called by scripts/clients with the folder of the binaries and the folder of the installed clients. A driver is a program that reads
a session (server, environment, operations) from standard input and prints the answers as its client understood them.
"""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import time

from place import Place
from story import Story

HERE = os.path.dirname(os.path.abspath(__file__))
# Each place is a busy server, a client and git: more at once only wait for each other.
AT_ONCE = 2


def python(tools, folder, script):
    return [os.path.join(tools, folder, "bin", "python"), os.path.join(HERE, script)]


def typescript(tools, folder, package):
    return ["node", os.path.join(HERE, "typescript.mjs"), os.path.join(tools, folder), package]


def clients(tools):
    """Returns name, version, era, folder and driver of each; the slowest first."""
    inspector = [sys.executable, os.path.join(HERE, "inspector.py"), os.path.join(tools, "inspector-2.12.0")]
    old_python = python(tools, "python-1.30.0", "python_1.py")
    new_python = python(tools, "python-2.3.0", "python_2.py")
    old_typescript = typescript(tools, "typescript-1.32.2", "@modelcontextprotocol/sdk")
    new_typescript = typescript(tools, "typescript-2.4.0", "@modelcontextprotocol/client")
    return [
        ("MCP Inspector", "2.12.0", "legacy", "inspector-2.12.0", inspector),
        ("MCP Inspector", "2.12.0", "modern", "inspector-2.12.0", inspector),
        ("Python SDK", "1.30.0", "legacy", "python-1.30.0", old_python),
        ("Python SDK", "2.3.0", "legacy", "python-2.3.0", new_python),
        ("Python SDK", "2.3.0", "modern", "python-2.3.0", new_python),
        ("TypeScript SDK", "1.32.2", "legacy", "typescript-1.32.2", old_typescript),
        ("TypeScript SDK", "2.4.0", "legacy", "typescript-2.4.0", new_typescript),
        ("TypeScript SDK", "2.4.0", "modern", "typescript-2.4.0", new_typescript),
    ]


def reason_to_skip(tools, folder, driver):
    if not os.path.isdir(os.path.join(tools, folder)):
        try:
            with open(os.path.join(tools, folder + ".reason"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            return "not installed"
    if shutil.which(driver[0]) is None:
        return driver[0] + " is missing"
    return None


def play(binaries, tools, client):
    """Returns what to show for one client: checks, failures, reason to skip and seconds."""
    _, _, era, folder, driver = client
    reason = reason_to_skip(tools, folder, driver)
    if reason:
        return 0, [], reason, 0
    began = time.monotonic()
    with Place(binaries) as place:
        story = Story(place, driver, era, one_shot=folder.startswith("inspector"))
        try:
            story.play()
        except (subprocess.SubprocessError, OSError, ValueError, LookupError) as error:
            story.failures.append(f"the story ended early: {type(error).__name__}: {error}")
    return story.checks, story.failures, None, time.monotonic() - began


def main(binaries, tools):
    every = clients(tools)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(lambda client: play(binaries, tools, client), every))
    print("{:<15} {:<8} {:<7} {:>6} {:>6}  {}".format("client", "version", "era", "checks", "failed", ""))
    for (name, version, era, _, _), (checks, failures, reason, seconds) in zip(every, results):
        remark = f"skipped: {reason}" if reason else f"{seconds:.0f} s"
        print(f"{name:<15} {version:<8} {era:<7} {checks:>6} {len(failures):>6}  {remark}")
    failed = False
    for (name, version, era, _, _), (_, failures, _, _) in zip(every, results):
        for failure in failures:
            failed = True
            print(f"{name} {version} {era}: {failure}", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
