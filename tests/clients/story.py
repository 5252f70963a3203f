"""The story that every client plays: code, review, changes, second review, pull request; and a plan beside it.

It uses every tool, resource and prompt of the three servers, and what must come out is checked here, the same for all clients.
"""

import json
import os

PROTOCOLS = {"legacy": "2025-11-25", "modern": "2026-07-28"}

SURFACE = {
    "mcp-coding": {
        "tools": ["request_review", "create_pr"],
        "resources": ["codex://instance", "codex://task", "codex://feedback"],
        "templates": [],
        "prompt": ("code", "task"),
    },
    "mcp-review": {
        "tools": ["request_changes", "create_pr"],
        "resources": ["codex://instance", "codex://task"],
        "templates": [],
        "prompt": ("review", "subject"),
    },
    "mcp-planning": {
        "tools": ["create_task", "analyze_repository"],
        "resources": ["codex://instance", "codex://tasks"],
        "templates": ["codex://tasks{?offset}", "codex://tasks/{id}", "codex://analysis/{id}{?offset}", "codex://schemas/{report}"],
        "prompt": ("plan", "goal"),
    },
}
SUBJECT = "Teach the cat to sing: „miau“ = 100 %"
FEEDBACK = 'Say "good morning" too.\n\n- before noon\n- in German: „Guten Morgen“'


def call(tool, **arguments):
    return "tools/call", {"name": tool, "arguments": arguments}


def read(uri):
    return "resources/read", {"uri": uri}


def content(answer):
    """Returns the JSON in a resource; an error or null is nothing."""
    contents = answer.get("result", {}).get("contents") or [{}]
    return json.loads(contents[0].get("text", "{}")) or {}


class Story:
    """`one_shot` is a client that starts a new server for each request and tells nothing of the greeting or of progress."""

    def __init__(self, place, driver, era, one_shot):
        self.place = place
        self.driver = driver
        self.era = era
        self.one_shot = one_shot
        self.checks = 0
        self.failures = []

    def check(self, what, holds, seen):
        self.checks += 1
        if not holds:
            self.failures.append(f"{what}: {json.dumps(seen, ensure_ascii=False)[:1500]}")

    def equal(self, what, got, expected):
        self.check(f"{what} is not {expected!r}", got == expected, got)

    def session(self, server, folder, instance, operations):
        """Has the client do the operations in one session, and returns its answers."""
        environment = dict(self.place.environment)
        if instance:
            environment["CODEX_INSTANCE_ID"] = instance
        asked = {
            "command": os.path.join(self.place.binaries, server),
            "env": environment,
            "cwd": folder,
            "era": self.era,
            "operations": operations,
        }
        said = json.loads(self.place.run(*self.driver, text=json.dumps(asked)))
        if not self.one_shot:
            self.equal(f"{server}: the protocol", said["protocol"], PROTOCOLS[self.era])
            self.equal(f"{server}: its name", said["server"], server)
            self.check(f"{server}: instructions", len(said.get("instructions") or "") > 40, said.get("instructions"))
        return said["answers"]

    def succeeded(self, what, answer, *fields):
        """Checks that a call went well and returns its structured content."""
        result = answer.get("result", {})
        data = result.get("structuredContent", {})
        self.check(f"{what} failed", "result" in answer and not result.get("isError"), answer)
        self.check(f"{what} lacks one of {fields}", all(field in data for field in (*fields, "message")), data)
        texts = [block.get("text") for block in result.get("content", [])]
        self.check(f"{what} has no readable text", any(texts), result)
        return data

    def refused(self, what, answer, code):
        """Checks that a call was answered with an error that the agent can mend."""
        result = answer.get("result", {})
        self.check(f"{what} is not marked as an error", result.get("isError") is True, answer)
        self.equal(f"{what}: the code", result.get("structuredContent", {}).get("code"), code)

    def look(self, server, folder, instance, *more):
        """Lists and reads all that a server has, then does more. Returns the answers to more."""
        surface = SURFACE[server]
        name, argument = surface["prompt"]
        lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
        operations = [(method, {}) for method in lists]
        operations += [read(uri) for uri in surface["resources"]]
        operations += [("prompts/get", {"name": name, "arguments": {argument: SUBJECT}})]
        answers = self.session(server, folder, instance, [*operations, *more])
        for position, key, field, expected in [
            (0, "tools", "name", surface["tools"]),
            (1, "resources", "uri", surface["resources"]),
            (2, "resourceTemplates", "uriTemplate", surface["templates"]),
            (3, "prompts", "name", [name]),
        ]:
            listed = answers[position].get("result", {}).get(key)
            got = [entry.get(field) for entry in listed] if listed is not None else answers[position]
            self.equal(f"{server}: {lists[position]}", got, expected)
        for uri, answer in zip(surface["resources"], answers[len(lists) :]):
            self.check(f"{server}: {uri} can't be read", "result" in answer, answer)
            content(answer)
        if instance:
            itself = content(answers[len(lists)])
            self.equal(f"{server}: the id in codex://instance", itself.get("id"), instance)
        prompt = answers[len(operations) - 1]
        messages = prompt.get("result", {}).get("messages", [{}])
        text = messages[0].get("content", {}).get("text", "")
        self.check(f"{server}: the prompt lacks its argument", SUBJECT in text, prompt)
        return answers[len(operations) :]

    def play(self):
        self.plan()
        coder = self.place.codex("code", "Add a greeting")
        tree = coder["worktreePath"]
        review = call("request_review", description="Adds nothing.")
        unknown, nothing = self.look("mcp-coding", tree, coder["id"], read("codex://nothing"), review)
        self.check("an unknown resource is no error", "error" in unknown, unknown)
        self.refused("a review of nothing", nothing, "NOTHING_TO_REVIEW")

        self.place.commit(tree, "greeting.txt", "Hello\n")
        first = self.request_review(tree, coder)
        changes = call(
            "request_changes",
            feedback=FEEDBACK,
            findings=[{"file": "greeting.txt", "line": 1, "severity": "major", "message": "No morning."}],
        )
        # After its verdict a reviewer's worktree goes, and only a server that runs already can still answer.
        verdicts = [changes] if self.one_shot else [changes, changes]
        answers = self.look("mcp-review", first["reviewWorkspace"], first["reviewInstanceId"], *verdicts)
        self.succeeded("request_changes", answers[0], "feedbackDelivered", "codingAgentReactivated")
        for answer in answers[1:]:
            self.refused("a second verdict", answer, "REVIEW_DECIDED")

        self.place.commit(tree, "greeting.txt", "Hello\nGood morning\n")
        second = self.request_review(tree, coder, FEEDBACK)
        pull_request = call("create_pr", title="Greet people", description="With a greeting.")
        (approved,) = self.session(
            "mcp-review", second["reviewWorkspace"], second["reviewInstanceId"], [pull_request]
        )
        number = self.succeeded("create_pr by the reviewer", approved, "prUrl", "prNumber").get("prNumber")
        (repeated,) = self.session("mcp-coding", tree, coder["id"], [pull_request])
        found = self.succeeded("create_pr by the coder", repeated, "prUrl", "prNumber")
        self.equal("the pull request found again", found.get("prNumber"), number)

    def request_review(self, tree, coder, expected_feedback=None):
        review = call("request_review", description="Adds a greeting.")
        feedback, answer = self.session("mcp-coding", tree, coder["id"], [read("codex://feedback"), review])
        self.equal("the feedback that the coder reads", content(feedback).get("feedback"), expected_feedback)
        if not self.one_shot:
            self.check("request_review tells no progress", answer.get("progress", 0) > 0, answer)
        return self.succeeded("request_review", answer, "reviewInstanceId", "reviewWorkspace")

    def plan(self):
        here = self.place.repository
        task = {"taskTitle": "Add a search page", "taskDescription": "With an index.", "priority": "high"}
        scopes = ["architecture", "issues", "codebase", "dependencies"]
        analyses = [call("analyze_repository", scope=scope, depth="deep") for scope in scopes]
        answers = self.look(
            "mcp-planning",
            here,
            None,
            call("create_task", **task),
            call("create_task", **{**task, "dependsOn": ["task-ffffffff"]}),
            *analyses,
        )
        created = self.succeeded("create_task", answers[0], "taskId")
        self.refused("a task that depends on none", answers[1], "TASK_NOT_FOUND")
        reports = []
        for scope, answer in zip(scopes, answers[2:]):
            reports.append(self.succeeded(f"analyze_repository {scope}", answer, "analysisId", "resource", scope))
        templates = ["codex://tasks/" + created["taskId"], "codex://tasks?offset=0"]
        templates.append(reports[0]["resource"])
        stored = self.session("mcp-planning", here, None, [read(uri) for uri in templates])
        self.equal("the stored task's title", content(stored[0]).get("title"), task["taskTitle"])
        self.equal("the number of tasks", content(stored[1]).get("total"), 1)
        self.check("the stored report is empty", bool(content(stored[2])), stored[2])
