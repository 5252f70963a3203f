#!/bin/sh
# till.sh [--code CODE] PRICE...: prints the sum of prices, in cents.
# The code SAVE10 takes a tenth off.
discount=0
if [ "$1" = --code ]; then
  discount=10
  shift 2
fi
total=0
for price in "$@"; do
  total=$((total + price))
done
echo $((total - total * discount / 100))
