check 'an unknown code is refused' 'unknown code: NOPE' "$(sh till.sh --code NOPE 1000 2>&1)"
