for width in 50 60 72 80 100; do
	for question in 'breakdown --steps' gathers info; do
		COLUMNS=$width inquest $question samples/recorded/big_ac_block |
			awk -v w=$width -v q="$question" 'length > w { print w, q ": " $0 }'
	done
	COLUMNS=$width inquest verdict samples/recorded/big_none samples/recorded/big_ac_block \
		samples/recorded/big_ac_block_mb4 --objective throughput |
		awk -v w=$width 'length > w { print w, "verdict: " $0 }'
done
COLUMNS=50 inquest info samples/recorded/big_ac_block
