#!/bin/sh
# What `inquest record` does around the command: environment, exit codes, signals, refusals, and the
# finishing of files whose writers ended well or badly.  Needs no GPU: a stand-in writes the files.
# Usage: INQUEST=path/to/inquest sh tests/collect/record_test.sh
# Prints TAP.
# shellcheck disable=SC2016 # what stands in single quotes is another shell's
set -u

# Whoever runs the tests may have signals ignored (nohup, a job in the background): what
# is inherited can't be trapped in sh.
if [ -z "${RECORD_TEST_SIGNALS-}" ]; then
	export RECORD_TEST_SIGNALS=default
	exec env --default-signal sh "$0" "$@"
fi

here=$(cd "$(dirname "$0")" && pwd)
inquest=${INQUEST:?names the program to run}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
# Nothing loads it: no process here uses CUDA.
touch libinquest-collect.so
unset CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH NCCL_PROFILER_PLUGIN PYTHONPATH
unset INQUEST_RECORD_PARENT INQUEST_RECORD_DIR
export INQUEST_RECORD_COLLECTOR="$scratch/libinquest-collect.so" LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1
python=/usr/bin/python3
[ -x "$python" ] || python=python3

count=0 failed=0
# check NAME TEST...: one line of TAP; what was printed is shown when the test does not hold.
check() {
	name=$1
	shift
	count=$((count + 1))
	if "$@" >seen 2>&1; then
		echo "ok $count - $name"
	else
		failed=$((failed + 1))
		echo "not ok $count - $name"
		sed 's/^/# /' out err 2>/dev/null
	fi
}
# record ARGUMENT...: runs it; the streams are in out and err, the exit code in $code.
record() {
	code=0
	"$inquest" record "$@" >out 2>err || code=$?
}
says() { grep -qF -e "$1" err; }
prints() { grep -qxF -e "$1" out; }
returns() { [ "$code" -eq "$1" ]; }
asks() { [ "$(sqlite3 "$1" "$2")" = "$3" ]; }

# The environment.
record -o run -- env
check 'the command gets its exit code through' returns 0
check 'CUDA is told' prints "CUDA_INJECTION64_PATH=$scratch/libinquest-collect.so"
check 'NVTX is told' prints "NVTX_INJECTION64_PATH=$scratch/libinquest-collect.so"
check 'NCCL is told' prints 'NCCL_PROFILER_PLUGIN=STATIC_PLUGIN'
check 'the collector is told the folder' prints "INQUEST_RECORD_DIR=$(pwd -P)/run"
check 'no window means none' sh -c '! grep -Eq "^INQUEST_RECORD_(STEPS|AFTER|FOR|NO_FLOPS)=" out'
check 'the hook is on the path' grep -q '^PYTHONPATH=/.*/hook$' out
check 'nothing recorded is said' says 'nothing was recorded: no process of the command used CUDA'
check 'the empty folder goes' [ ! -e run ]
record -o run --no-python --no-flops --steps 3:5,7:9 --after 2.5 --for 10 -- env
check 'the windows are told' prints 'INQUEST_RECORD_STEPS=3:5,7:9'
check 'the beginning is told' prints 'INQUEST_RECORD_AFTER=2.5'
check 'the duration is told' prints 'INQUEST_RECORD_FOR=10'
check 'no FLOPs is told' prints 'INQUEST_RECORD_NO_FLOPS=1'
check '--no-python leaves the path alone' sh -c '! grep -q ^PYTHONPATH= out'
PYTHONPATH=/somewhere NCCL_PROFILER_PLUGIN=mine record -o run -- env
check 'the path that was there comes behind' grep -q '^PYTHONPATH=/.*/hook:/somewhere$' out
check "another's NCCL plugin stays" prints 'NCCL_PROFILER_PLUGIN=mine'

# Exit codes and signals.
record -o run -- sh -c 'exit 7'
check 'exit 7 is 7' returns 7
record -o run -- sh -c 'kill -KILL $$'
check 'a killed command is 128 and the signal' returns 137
record -o run -- ./nowhere
check 'a command that is not there is 127' returns 127
check 'and is named' says "can't run './nowhere'"
check 'and nothing else is said' [ "$(wc -l <err)" -eq 1 ]
check 'nor left' [ ! -e run ]
record -o run -- "$scratch"
check 'a command that is no program is 126' returns 126
record -o run -- sh -c 'cat; echo -- "$1"' sh --steps <<-END
	from stdin
END
check 'the streams are the own ones' prints 'from stdin'
check "options behind the command are the command's" prints '-- --steps'

# pass SIGNAL EXPECTED: the signal that inquest gets reaches the command once.
pass() {
	cat >waiter.sh <<-'END'
		trap 'echo got >>got' INT TERM HUP USR1
		: >ready
		i=0
		while [ $i -lt 50 ] && [ ! -s got ]; do sleep 0.1; i=$((i + 1)); done
		sleep 0.3
		exit 9
	END
	rm -f ready got
	"$inquest" record -o run -- sh waiter.sh >out 2>err &
	child=$!
	until [ -e ready ]; do sleep 0.05; done
	kill -"$1" $child
	code=0
	wait $child || code=$?
	[ "$code" -eq 9 ] && [ "$(wc -l <got)" -eq 1 ]
}
for signal in TERM HUP USR1; do
	check "SIG$signal reaches the command once" pass $signal
done
# The whole group is signalled by its leader, as timeout(1) does.
group() {
	rm -f ready got
	code=0
	timeout -s TERM 1 "$inquest" record -o run -- sh waiter.sh >out 2>err || code=$?
	[ "$(wc -l <got)" -eq 1 ]
}
check 'timeout ends the command with one signal' group
record -o run -- sh -c 'grep -i "^SigIgn\|^SigBlk" /proc/self/status; sleep 0'
check 'no signal is blocked or ignored' sh -c '[ "$(grep -c 0000000000000000 out)" -eq 2 ]'
orphan() {
	rm -f ready got
	"$inquest" record -o run -- sh waiter.sh >out 2>err &
	child=$!
	until [ -e ready ]; do sleep 0.05; done
	kill -KILL $child
	wait $child 2>/dev/null
	sleep 1
	[ "$(wc -l <got)" -eq 1 ]
}
check 'a killed parent ends the command' orphan

# Refusals.
rm -rf run
CUDA_INJECTION64_PATH=/other.so record -o run -- touch ran
check "another tool's injection is refused" returns 2
check 'and named' says 'CUDA_INJECTION64_PATH is /other.so'
check 'in one line' [ "$(wc -l <err)" -eq 1 ]
NVTX_INJECTION64_PATH=/other.so record -o run -- touch ran
check "another tool's NVTX is refused" returns 2
INQUEST_RECORD_PARENT=1 record -o run -- touch ran
check 'a recording in a recording is refused' returns 2
record -o run touch ran
check 'a command without -- is refused' returns 2
record -o run --
check 'no command is refused' returns 2
for steps in 5 5:5 7:3 3:5,4:6 a:b '3:5,' :; do
	record -o run --steps $steps -- touch ran
	check "--steps $steps is refused" returns 2
done
record -o run python3 -c 'print(1)'
check 'a command without -- is refused' returns 2
check 'by its name, whatever its options' says "'--' belongs before the command 'python3'"
record -o run --after x -- touch ran
check '--after x is refused' returns 2
check 'nothing of it made a folder or ran' [ ! -e run ] && [ ! -e ran ]
record -o /proc/nowhere/run -- touch ran
check 'a folder that can not be made is 3' returns 3
record -o libinquest-collect.so -- touch ran
check 'a file in place of the folder is 3' returns 3
INQUEST_RECORD_COLLECTOR=$scratch/not-there record -o run -- true
check 'a missing collector is 5, or one beside the program is taken' \
	sh -c "[ $code -eq 5 ] || [ $code -eq 0 ]"
mkdir -p alone/bin
cp "$inquest" alone/bin/inquest
code=0
env -u INQUEST_RECORD_COLLECTOR alone/bin/inquest record -o run -- true >out 2>err || code=$?
check 'a program without its recorder is 5' returns 5
check 'and what to do is said' says "build it with 'ninja -C build'"

# Files.
rm -rf run
record -o run -- sh -c "'$python' '$here/standin_rank.py' 0 killed; '$python' '$here/standin_rank.py' 1 closed; exit 3"
check 'two files, and the exit code stays' returns 3
check 'a line a rank' [ "$(grep -c '^inquest: ' err)" -eq 2 ]
check 'with steps and what was dropped' grep -q \
	'^inquest: run/rank1.inq: [0-9.]* KiB, 2 steps, [0-9.]* KiB a step, 0 records dropped$' err
check 'and who was cut' grep -q \
	'^inquest: run/rank0.inq: .*, 0 records dropped; cut: its process was killed, or did not' err
check 'which inquest says as well' sh -c \
	"'$inquest' info --format json run/rank0.inq | grep -q '\"kind\": \"recording_cut\"'"
check 'but not of the other' sh -c \
	"! '$inquest' info --format json run/rank1.inq | grep -q '\"kind\": \"recording_cut\"'"
check 'the log of the killed one is folded in' [ ! -e run/rank0.inq-wal ]
check 'no other file is left' [ "$(find run -type f | wc -l)" -eq 2 ]
for n in 0 1; do
	file=run/rank$n.inq
	check "rank $n is sealed" asks "$file" "SELECT value FROM meta WHERE key = 'sealed'" 1
	check "rank $n says where it is from" asks "$file" \
		"SELECT value FROM meta WHERE key = 'source'" recorder
	check "rank $n keeps its writer's facts" asks "$file" \
		"SELECT value FROM meta WHERE key = 'writer_cpu_ns'" 12345
	check "rank $n names no place" asks "$file" \
		"SELECT value IS NULL FROM meta WHERE key = 'file'" 1
	check "rank $n is sorted and joined" asks "$file" \
		"SELECT group_concat(g.start_ns || ' ' || a.start_ns) FROM gpu_op g JOIN api_call a ON a.id = g.api_call_id" \
		'200 100,400 300'
	check "rank $n has names as people write them" asks "$file" \
		"SELECT DISTINCT s.value FROM gpu_op g JOIN string s ON s.id = g.name_id" \
		'void at::native::vectorized_elementwise_kernel<4, float>(int)'
	check "rank $n has no string that nothing uses" asks "$file" \
		"SELECT count(*) FROM string WHERE value LIKE '\\_ZN%' ESCAPE '\\'" 0
	check "rank $n keeps what only looks mangled" asks "$file" \
		"SELECT count(*) FROM string WHERE value = '_Z_is_no_kernel'" 1
	check "rank $n is sound" asks "$file" 'PRAGMA integrity_check' ok
done
check 'inquest reads them' "$inquest" info run

record -o run -- touch ran
check 'a folder with a run is refused' returns 2
check 'and --force is named' says '--force'
check 'and the command did not run' [ ! -e ran ]
record -o run --force --compress -- sh -c "'$python' '$here/standin_rank.py' 0 killed"
check '--force replaces it, --compress packs it' [ "$(ls run)" = rank0.inq.zst ]
check 'the packed file is named' says 'rank0.inq.zst: '
check 'inquest reads it' "$inquest" info run

rm -rf run
record -o run -- "$python" "$here/standin_rank.py" 0 stopped
check 'a recorder that gave up says why' says \
	'7 records dropped; the recorder stopped early: No space left on device'
check 'the file says it too' asks run/rank0.inq \
	"SELECT meaning FROM diagnostic WHERE kind = 'recorder_stopped'" 'No space left on device'
check 'and inquest does' sh -c "'$inquest' info --format json run | grep -q '\"kind\": \"recorder_stopped\"'"
for end in empty bare; do
	rm -rf run
	record -o run -- "$python" "$here/standin_rank.py" 0 $end
	check "a file that is $end is removed" says 'rank0.inq: nothing was recorded; removed'
	check "and nothing is left ($end)" [ ! -e run ]
done
record -o run -- sh -c "'$python' '$here/standin_rank.py' 0 damaged; '$python' '$here/standin_rank.py' 1 killed; exit 0"
check 'a damaged file is named' says 'rank0.inq: '
check 'and stays as it is' [ -e run/rank0.inq ]
check 'and does not keep the others from being finished' asks run/rank1.inq \
	"SELECT value FROM meta WHERE key = 'sealed'" 1
check 'and the exit code is the command'"'"'s' returns 0
rm -rf run
# A process of the run lives on: its file is not touched.
record -o run -- sh -c "'$python' '$here/standin_rank.py' 0 open >/dev/null 2>&1 & until [ -s run/rank0.inq-wal ]; do sleep 0.05; done; sleep 0.2"
check 'a file that is still written is left alone' says 'its process still runs and writes it'
wait

# A rank that was started again.
# lives END...: rank 0 lives as often, rank 1 once.
lives() {
	for end; do
		set -- "$@" "'$python' '$here/standin_rank.py' 0 $end;"
		shift
	done
	# shellcheck disable=SC2086 # several words
	record -o run $options -- sh -c "$* '$python' '$here/standin_rank.py' 1 closed"
}
begins() { asks "$1" "SELECT value FROM meta WHERE key = 'base_unix_ns'" "$2"; }
options=''
rm -rf run
lives killed killed closed helper empty
check 'the last life with a step is the rank' begins run/rank0.inq 3
check 'a run has a file a rank' [ "$(cd run && echo *)" = 'earlier rank0.inq rank1.inq' ]
check 'the others are kept' [ "$(cd run/earlier && echo *)" = 'rank0-2.inq rank0-4.inq rank0.inq' ]
check 'the first life is as it was' begins run/earlier/rank0.inq 1
check 'it is said where' says \
	'inquest: rank 0 was started 4 times: run/rank0.inq is the last with a step, run/earlier has the rest'
check 'and how much was in each' grep -q '^inquest: run/earlier/rank0-2.inq: .* 2 steps, ' err
check 'inquest reads the run' "$inquest" breakdown run
check 'and the earlier ones' "$inquest" info run/earlier/rank0.inq
record -o run -- touch ran
check 'it is a run like others' returns 2
options='--force --compress'
lives helper helper
check 'without steps the last life counts' [ "$(cd run && echo *)" = \
	'earlier rank0.inq.zst rank1.inq.zst' ]
check 'and is named so' says 'rank 0 was started 2 times: run/rank0.inq.zst is the last, run/earlier has'
check '--force has removed the earlier ones' [ "$(ls run/earlier)" = rank0.inq.zst ]
rm run/*.zst
record -o run -- touch ran
check 'earlier ones alone are a run' returns 2
options='--force'
lives damaged killed closed
check 'a damaged life stays where it is' [ "$(cd run && echo *)" = \
	'earlier rank0-3.inq rank0.inq rank1.inq' ]
rm -rf run
touch in_the_way
lives 'killed; mv "$INQUEST_RECORD_DIR/../in_the_way" "$INQUEST_RECORD_DIR/earlier"; true' killed
check 'what is in the way is named' says "can't be left with one file: run/earlier/rank0.inq: Not a dir"
check 'and nothing is lost' [ "$(cd run && echo *)" = 'earlier rank0-2.inq rank0.inq rank1.inq' ]

# Folders.
record -o a/b//c/run/ -- sh -c "'$python' '$here/standin_rank.py' 0 closed"
check 'the folders above are made' [ -e a/b/c/run/rank0.inq ]
record -o a/b/c/run/rank0.inq/run -- touch ran
check 'a file among them is 3' returns 3
check 'and named' says 'a/b/c/run/rank0.inq/run: '

# Python.
cat >show.py <<-'END'
	import sys
	print("path", any(p.endswith("hook") for p in sys.path))
	print("imports", "inquest_imports" in sys.modules, "inquest_hook" in sys.modules)
	print("chained", getattr(sys, "was_chained", False))
END
mkdir site
echo 'import sys; sys.was_chained = True' >site/sitecustomize.py
rm -rf run
PYTHONPATH=$scratch/site record -o run -- "$python" show.py
check 'the hook waits for torch' prints 'imports True False'
check 'the path is as it would have been' prints 'path False'
check 'the sitecustomize that was there runs' prints 'chained True'
check 'Python says nothing of it' [ "$(cat err)" = \
	'inquest: nothing was recorded: no process of the command used CUDA' ]
record -o run --no-python -- "$python" show.py
check '--no-python: no hook' prints 'imports False False'

echo "1..$count"
[ "$failed" -eq 0 ]
