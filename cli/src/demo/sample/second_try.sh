#!/bin/sh
# till.sh [--code CODE] PRICE...: prints the sum of prices, in cents.
# The code SAVE10 takes a tenth off; an unknown code is refused.
discount=0
if [ "$1" = --code ]; then
  case $2 in
    SAVE10) discount=10 ;;
    *) echo "unknown code: $2" >&2; exit 1 ;;
  esac
  shift 2
fi
total=0
for price in "$@"; do
  total=$((total + price))
done
echo $((total - total * discount / 100))
