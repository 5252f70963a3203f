#!/bin/sh
# Runs a hook of claude-codex; where it is not installed, says so when a session starts, and else nothing.
if command -v claude-codex >/dev/null 2>&1; then
  exec claude-codex hook "$@" --plugin
fi
if [ "$*" = SessionStart ]; then
  echo '{"systemMessage":"The plugin codex needs its programs, which are not on PATH: run scripts/install in a clone of Claude Codex, then start Claude Code again."}'
fi
