#!/bin/sh
# till.sh PRICE...: prints the sum of prices, in cents.
total=0
for price in "$@"; do
  total=$((total + price))
done
echo "$total"
