#!/bin/sh
# Runs the cases and says which of them failed.
cd "$(dirname "$0")/.." || exit 1
failed=0
check() { # what, expected, actual
  if [ "$2" = "$3" ]; then
    echo "ok   $1"
  else
    echo "FAIL $1: expected '$2', got '$3'"
    failed=1
  fi
}
. tests/cases.sh
exit "$failed"
