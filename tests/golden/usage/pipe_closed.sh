# The reader goes first: no word, and the end that other programs take.
{
	until [ -e gone ]; do sleep 0.01; done
	code=0
	inquest info samples/recorded/big_none --format json || code=$?
	echo "exit $code" >&2
} | {
	exec <&-
	: >gone
}
