check 'adds prices' 750 "$(sh till.sh 500 250)"
check 'nothing costs nothing' 0 "$(sh till.sh)"
