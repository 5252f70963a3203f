check 'a code takes a tenth off' 900 "$(sh till.sh --code SAVE10 1000)"
