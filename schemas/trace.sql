-- One rank's trace, and what was found in it, as SQLite: the format of .inq files.
--
-- A .inq file is such a database; a .inq.zst file is one compressed with zstd.  Look at it with any
-- SQLite shell (3.37 or newer), best through the views at the end of this file:
--
--	sqlite3 -box rank0.inq 'SELECT * FROM steps'
--	sqlite3 -box rank0.inq 'SELECT * FROM parts_by_step WHERE step_id = 1'
--
-- Rules:
--   * Every table is always there, empty where a trace has nothing of the kind.
--   * Times are integer nanoseconds since meta's base_unix_ns; NULL is "unknown" or "none".
--   * Every raw table's id is its row number, from 0 without a gap.  NAME_id refers to the id of
--     NAME, and columns documented as "string:" to string.id, whose 0 is the empty text.
--   * Enumerations are integers; the table word has their words, and the views show them.
--   * Raw tables are what was recorded; the results (step, unit, gpu_op_phase, part, gather, flop)
--     are what the program makes of it, and it makes them anew when the rules or itself changed.
--   * What spans several ranks (the job path, the causes of a difference) is not here.
--
-- The raw tables are made from the column lists of src/trace/columns.h; a test compares them.

PRAGMA application_id = 0x494e5154; -- "INQT"
PRAGMA user_version = 1;            -- of this schema; a program refuses a newer one

-- Facts of the whole trace.  Keys:
--   program            what wrote the file, and its version
--   sealed             1 when the raw tables are sorted and joined; 0 from the recorder itself
--   source             kineto, nsys, recorder or unknown: where the recording came from
--   file               the trace as it was named when it was read; NULL for the recorder's own
--   rank, world_size   NULL if unknown
--   data_parallel      ranks that train on different tokens, NULL if unknown
--   base_unix_ns       trace time 0 as CLOCK_REALTIME, 0 if the trace does not say
--   event_count        every whole element of the source's event list
--   host_event_count   host ops, annotations and API calls of the source, kept here or not
--   gpu                the device's name, empty if unknown
--   gpu_memory_bytes   the device's memory, NULL if unknown
--   has_shapes, has_memory, has_stacks, has_sync_edges, has_nccl
--                      1 when the recording was asked to hold that
-- and of the results, absent while there are none:
--   rules              hash of the name rules the results were made with, as hexadecimal text
--   steps_how          what told the steps: ProfilerStep, marker, optimizer, period or unknown
--   steps_used         how many steps the totals below are of
--   peak_allocated_bytes, peak_reserved_bytes   NULL if unknown
--   alloc_retries      groups of a failed cudaMalloc, frees, and another cudaMalloc
--   alloc_stall_ns     starved in the allocator and until the host was ahead again
--   achieved_flop_per_s, mfu   a real number each (mfu 0..1), NULL if unknown
CREATE TABLE meta (
	key TEXT PRIMARY KEY NOT NULL,
	value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE string ( -- each distinct text once
	id INTEGER PRIMARY KEY,            -- from 0 without a gap; 0 is the empty text
	value TEXT NOT NULL
) STRICT;

CREATE TABLE word ( -- what the integers of enumerations mean
	domain TEXT NOT NULL,              -- the enumeration
	value INTEGER NOT NULL,
	word TEXT NOT NULL,
	PRIMARY KEY (domain, value)
) STRICT, WITHOUT ROWID;

-- Dirt in the data, by kind: what was lost or is doubtful.  Only the reading's; the analysis makes
-- its own anew.
CREATE TABLE diagnostic (
	kind TEXT PRIMARY KEY NOT NULL,    -- a word, as in the JSON output
	severity TEXT NOT NULL,            -- info, data_loss or error
	count INTEGER NOT NULL,
	first_file TEXT,                   -- where it was seen first
	first_byte INTEGER,                -- in that file, uncompressed; NULL where a byte means nothing
	meaning TEXT NOT NULL              -- one sentence
) STRICT, WITHOUT ROWID;

-- Raw tables.

CREATE TABLE thread ( -- a thread of the host
	id INTEGER PRIMARY KEY,            -- row number, from 0
	pid INTEGER,                       -- process id as the trace says it
	os_tid INTEGER,                    -- thread id as the trace says it
	name_id INTEGER NOT NULL,          -- string: the thread's name, empty if none
	role INTEGER NOT NULL              -- enum thread_role
) STRICT;

CREATE TABLE stream ( -- a CUDA stream
	id INTEGER PRIMARY KEY,            -- row number, from 0
	device INTEGER,                    -- GPU ordinal
	context INTEGER,                   -- CUDA context id, null if unknown
	cuda_stream INTEGER,               -- stream id as the trace says it
	priority INTEGER                   -- CUDA stream priority, null if unknown
) STRICT;

CREATE TABLE host_op ( -- what ran on a thread: ops, annotations, Python frames
	id INTEGER PRIMARY KEY,            -- row number, from 0
	start_ns INTEGER NOT NULL,         -- start
	end_ns INTEGER NOT NULL,           -- end, never before the start
	sequence INTEGER,                  -- autograd sequence number, null if none
	thread_id INTEGER NOT NULL,        -- thread
	name_id INTEGER NOT NULL,          -- string: the op's or range's name
	shapes_id INTEGER NOT NULL,        -- string: 'Input Dims' JSON, a newline, 'Input type'
	                                   -- JSON; kept for ops whose tokens or FLOPs are counted;
	                                   -- empty if none
	forward_thread INTEGER,            -- record-function id of the thread that ran the forward
	                                   -- op; 0 for a forward op; null if none
	kind INTEGER NOT NULL              -- enum host_kind
) STRICT;

CREATE TABLE api_call ( -- calls of the CUDA runtime and driver: launches, syncs, allocations
	id INTEGER PRIMARY KEY,            -- row number, from 0
	start_ns INTEGER NOT NULL,         -- start
	end_ns INTEGER NOT NULL,           -- end: the call's return
	thread_id INTEGER NOT NULL,        -- thread
	name_id INTEGER NOT NULL,          -- string: the call's name
	correlation INTEGER,               -- joins the call with the GPU ops it launched; null if
	                                   -- none
	result INTEGER                     -- CUDA's return code, null if unknown
) STRICT;

CREATE TABLE gpu_op ( -- what ran on the GPU: kernels (collectives too), copies, memsets
	id INTEGER PRIMARY KEY,            -- row number, from 0
	start_ns INTEGER NOT NULL,         -- start on the GPU
	end_ns INTEGER NOT NULL,           -- end on the GPU, never before the start
	bytes INTEGER,                     -- bytes moved by a copy or a memset, null for kernels
	graph_node INTEGER,                -- CUDA graph node id, null if none
	stream_id INTEGER NOT NULL,        -- stream
	name_id INTEGER NOT NULL,          -- string: the kernel's name
	correlation INTEGER,               -- as in api_call, null if none
	api_call_id INTEGER,               -- api_call that launched it, null if not recorded
	grid_x INTEGER,                    -- blocks, null if unknown
	grid_y INTEGER,                    -- blocks, null if unknown
	grid_z INTEGER,                    -- blocks, null if unknown
	block_x INTEGER,                   -- threads, null if unknown
	block_y INTEGER,                   -- threads, null if unknown
	block_z INTEGER,                   -- threads, null if unknown
	shared_bytes INTEGER,              -- shared memory a block, null if unknown
	kind INTEGER NOT NULL              -- enum gpu_kind
) STRICT;

CREATE TABLE collective ( -- one of NCCL; several may share a gpu_op
	id INTEGER PRIMARY KEY,            -- row number, from 0
	sequence INTEGER,                  -- number within its communicator where the trace says
	                                   -- one, else null
	send_bytes INTEGER,                -- bytes this rank contributes, null if unknown
	recv_bytes INTEGER,                -- bytes this rank ends with, null if unknown
	gpu_op_id INTEGER,                 -- gpu_op that carries it, null if none was seen
	communicator_id INTEGER NOT NULL,  -- string: process group and its ranks, empty if unknown
	dtype_id INTEGER NOT NULL,         -- string: element type, empty if unknown
	algorithm_id INTEGER NOT NULL,     -- string: NCCL algorithm, empty if unknown
	protocol_id INTEGER NOT NULL,      -- string: NCCL protocol, empty if unknown
	group_size INTEGER,                -- ranks in the communicator, null if unknown
	kind INTEGER NOT NULL              -- enum collective_kind
) STRICT;

CREATE TABLE stream_wait ( -- a stream told to wait for an event of another
	id INTEGER PRIMARY KEY,            -- row number, from 0
	api_call_id INTEGER,               -- api_call that asked for the wait, null if not recorded
	waiting_stream_id INTEGER,         -- stream that waits, null if unknown
	recorded_stream_id INTEGER,        -- stream whose event is waited for, null if unknown
	record_call_id INTEGER,            -- api_call that recorded the event, null if unknown
	event INTEGER                      -- event id, null if unknown
) STRICT;

CREATE TABLE marker ( -- ranges that the recorder marked
	id INTEGER PRIMARY KEY,            -- row number, from 0
	start_ns INTEGER NOT NULL,         -- start
	end_ns INTEGER NOT NULL,           -- end, never before the start
	region INTEGER,                    -- checkpoint region or unit number, null if none
	value INTEGER,                     -- a number the marker carries, null if none
	thread_id INTEGER NOT NULL,        -- thread
	name_id INTEGER NOT NULL,          -- string: what it marks, as a unit's name
	kind INTEGER NOT NULL              -- enum marker_kind
) STRICT;

CREATE TABLE memory ( -- what the caching allocator did
	id INTEGER PRIMARY KEY,            -- row number, from 0
	at_ns INTEGER NOT NULL,            -- when
	address INTEGER,                   -- device address, null if none
	bytes INTEGER,                     -- allocated, negative when freed
	allocated_bytes INTEGER,           -- allocated on the device after it, null if unknown
	reserved_bytes INTEGER,            -- reserved on the device after it, null if unknown
	device INTEGER                     -- GPU ordinal
) STRICT;

CREATE TABLE clock ( -- the clocks, sampled
	id INTEGER PRIMARY KEY,            -- row number, from 0
	at_ns INTEGER NOT NULL,            -- trace time
	realtime_ns INTEGER NOT NULL,      -- CLOCK_REALTIME at that time
	monotonic_ns INTEGER NOT NULL      -- CLOCK_MONOTONIC at that time
) STRICT;

-- Results.

CREATE TABLE step ( -- windows of the optimizer steps, on the GPU's timeline
	id INTEGER PRIMARY KEY,            -- from 0, in order of time
	name TEXT NOT NULL,
	start_ns INTEGER NOT NULL,         -- end of the last compute-stream op of the step before
	end_ns INTEGER NOT NULL,           -- end of this step's last compute-stream op
	closed INTEGER NOT NULL,           -- 1 when both ends are in the trace
	used INTEGER NOT NULL              -- 1 when it counts in statistics
) STRICT;

CREATE TABLE unit ( -- modules that FSDP gathers as a whole
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL                 -- "unknown" where it can't be told, "(root)" for the root
) STRICT;

CREATE TABLE gpu_op_phase ( -- what each GPU op was for
	gpu_op_id INTEGER PRIMARY KEY,
	phase INTEGER,                     -- word phase; NULL for collectives and copies
	how INTEGER,                       -- word how: how the phase was reached
	step_id INTEGER,                   -- the step whose host launched it, NULL if none
	unit_id INTEGER
) STRICT;

-- Every nanosecond of a step's window has one owner: the intervals of a step touch one another, and
-- their sum is the window.
CREATE TABLE part (
	id INTEGER PRIMARY KEY,            -- by step, then by time
	step_id INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	state INTEGER NOT NULL,            -- word state: busy, blocked, starved
	phase INTEGER,                     -- word phase: of busy, and of starved dispatch
	blocked_on INTEGER,                -- word holder: what holds the link or the engine ("on")
	waits_for INTEGER,                 -- word holder: what the next op waits for ("for")
	gather_reason INTEGER,             -- word gather_reason: of blocked on an all_gather
	starve_reason INTEGER,             -- word starve_reason: of starved
	how INTEGER,                       -- word how
	gpu_op_id INTEGER,                 -- the busy op, or the one that holds the link
	unit_id INTEGER,                   -- the unit of the gather that holds the link
	collective_id INTEGER              -- the all-gather that is billed for it: blocked on it,
	                                   -- busy with its copies, starved inside its range
) STRICT;

CREATE TABLE gather ( -- the ledger: totals over the used steps
	id INTEGER PRIMARY KEY,
	unit_id INTEGER NOT NULL,
	reason INTEGER NOT NULL,           -- word gather_reason
	how INTEGER NOT NULL,              -- word how
	prefetched INTEGER NOT NULL,       -- 1 or 0
	count INTEGER NOT NULL,
	bytes INTEGER NOT NULL,            -- gathered: this rank's output
	kernel_ns INTEGER NOT NULL,
	blocked_ns INTEGER NOT NULL,       -- the step waited for it
	peer_wait_ns INTEGER,              -- it waited for a late rank; NULL if unknown
	queued_behind_ns INTEGER NOT NULL  -- it waited behind others of its communicator
) STRICT;

CREATE TABLE flop ( -- floating point operations of a step, averaged over the used steps
	id INTEGER PRIMARY KEY,
	phase INTEGER,                     -- word phase; NULL for ops that are not counted
	op TEXT,                           -- kind of op whose FLOPs are not known, else NULL
	count INTEGER,                     -- such ops, else NULL
	flop INTEGER                       -- NULL if unknown
) STRICT;

-- Views: names joined, words for numbers, durations beside starts.  Milliseconds are for reading;
-- sums are exact in nanoseconds.  Names of kernels are long, so they stand last.

-- A step a row.  unowned_ns is 0, always: the parts add up to the window.
CREATE VIEW steps AS
SELECT s.id, s.name, s.start_ns, s.end_ns, s.end_ns - s.start_ns AS duration_ns,
	round((s.end_ns - s.start_ns) / 1e6, 3) AS duration_ms,
	round(total(p.busy) / 1e6, 3) AS busy_ms, round(total(p.blocked) / 1e6, 3) AS blocked_ms,
	round(total(p.starved) / 1e6, 3) AS starved_ms,
	s.end_ns - s.start_ns - coalesce(sum(p.ns), 0) AS unowned_ns,
	s.closed, s.used
FROM step AS s
LEFT JOIN (
	SELECT p.step_id, p.end_ns - p.start_ns AS ns,
		(p.end_ns - p.start_ns) * (w.word = 'busy') AS busy,
		(p.end_ns - p.start_ns) * (w.word = 'blocked') AS blocked,
		(p.end_ns - p.start_ns) * (w.word = 'starved') AS starved
	FROM part AS p
	JOIN word AS w ON w.domain = 'state' AND w.value = p.state
) AS p ON p.step_id = s.id
GROUP BY s.id
ORDER BY s.id;

-- The partition of each step, largest first; the words are those of the JSON output.
CREATE VIEW parts_by_step AS
SELECT s.id AS step_id, s.name AS step, state.word AS state, phase.word AS phase,
	holder.word AS blocked_on, awaited.word AS waits_for,
	coalesce(gathered.word, starved.word) AS reason, how.word AS how,
	p.intervals, p.ns, round(p.ns / 1e6, 3) AS ms,
	round(100.0 * p.ns / (s.end_ns - s.start_ns), 2) AS percent
FROM (
	SELECT step_id, state, phase, blocked_on, waits_for, gather_reason, starve_reason, how,
		count(*) AS intervals, sum(end_ns - start_ns) AS ns
	FROM part
	GROUP BY step_id, state, phase, blocked_on, waits_for, gather_reason, starve_reason, how
) AS p
JOIN step AS s ON s.id = p.step_id
JOIN word AS state ON state.domain = 'state' AND state.value = p.state
LEFT JOIN word AS phase ON phase.domain = 'phase' AND phase.value = p.phase
LEFT JOIN word AS holder ON holder.domain = 'holder' AND holder.value = p.blocked_on
LEFT JOIN word AS awaited ON awaited.domain = 'holder' AND awaited.value = p.waits_for
LEFT JOIN word AS gathered
	ON gathered.domain = 'gather_reason' AND gathered.value = p.gather_reason
LEFT JOIN word AS starved ON starved.domain = 'starve_reason' AND starved.value = p.starve_reason
LEFT JOIN word AS how ON how.domain = 'how' AND how.value = p.how
ORDER BY s.id, p.ns DESC;

-- Every GPU op, in every step and outside.  kind is kernel, memcpy, memset, or collective for the kernels that NCCL runs; only
-- compute ops have a phase.
CREATE VIEW kernels AS
SELECT g.id AS gpu_op_id,
	CASE WHEN EXISTS (SELECT 1 FROM collective AS c WHERE c.gpu_op_id = g.id)
		THEN 'collective' ELSE kind.word END AS kind,
	phase.word AS phase, how.word AS how, s.id AS step_id, s.name AS step, u.name AS unit,
	stream.device, stream.cuda_stream AS stream, g.start_ns, g.end_ns,
	g.end_ns - g.start_ns AS duration_ns, g.bytes,
	g.grid_x || 'x' || g.grid_y || 'x' || g.grid_z AS grid,
	g.block_x || 'x' || g.block_y || 'x' || g.block_z AS block, name.value AS name
FROM gpu_op AS g
JOIN string AS name ON name.id = g.name_id
JOIN stream ON stream.id = g.stream_id
JOIN word AS kind ON kind.domain = 'gpu_kind' AND kind.value = g.kind
LEFT JOIN gpu_op_phase AS o ON o.gpu_op_id = g.id
LEFT JOIN step AS s ON s.id = o.step_id
LEFT JOIN unit AS u ON u.id = o.unit_id
LEFT JOIN word AS phase ON phase.domain = 'phase' AND phase.value = o.phase
LEFT JOIN word AS how ON how.domain = 'how' AND how.value = o.how;

-- Every stream that ran something, over the whole recording.  role is what it ran for most of its time: compute, collectives,
-- or copies, memsets among them.
CREATE VIEW streams AS
SELECT s.id AS stream_id, s.device, s.context, s.cuda_stream AS stream, s.priority,
	CASE WHEN r.collective_ns > max(r.compute_ns, r.copy_ns) THEN 'collectives'
		WHEN r.copy_ns > r.compute_ns THEN 'copies' ELSE 'compute' END AS role,
	r.ops, r.compute_ns, r.collective_ns, r.copy_ns
FROM (
	SELECT g.stream_id, count(*) AS ops,
		sum((g.end_ns - g.start_ns) * (kind.word = 'kernel' AND c.gpu_op_id IS NULL))
			AS compute_ns,
		sum((g.end_ns - g.start_ns) * (c.gpu_op_id IS NOT NULL)) AS collective_ns,
		sum((g.end_ns - g.start_ns) * (kind.word <> 'kernel' AND c.gpu_op_id IS NULL))
			AS copy_ns
	FROM gpu_op AS g
	JOIN word AS kind ON kind.domain = 'gpu_kind' AND kind.value = g.kind
	LEFT JOIN (SELECT DISTINCT gpu_op_id FROM collective) AS c ON c.gpu_op_id = g.id
	GROUP BY g.stream_id
) AS r
JOIN stream AS s ON s.id = r.stream_id
ORDER BY r.compute_ns DESC, s.id;

-- Compute ops by phase and name, over the whole recording, steps that don't count among them; the
-- longest first.
CREATE VIEW kernels_by_phase AS
SELECT phase.word AS phase, k.count, k.total_ns, round(k.total_ns / 1e6, 3) AS total_ms,
	k.total_ns / k.count AS mean_ns, k.min_ns, k.max_ns, name.value AS name
FROM (
	SELECT o.phase, g.name_id, count(*) AS count, sum(g.end_ns - g.start_ns) AS total_ns,
		min(g.end_ns - g.start_ns) AS min_ns, max(g.end_ns - g.start_ns) AS max_ns
	FROM gpu_op_phase AS o
	JOIN gpu_op AS g ON g.id = o.gpu_op_id
	WHERE o.phase IS NOT NULL
	GROUP BY o.phase, g.name_id
) AS k
JOIN string AS name ON name.id = k.name_id
JOIN word AS phase ON phase.domain = 'phase' AND phase.value = k.phase
ORDER BY k.total_ns DESC, phase, name;

-- The gather ledger: how often each unit was gathered, and why; over the used steps alone.
CREATE VIEW gathers_by_unit AS
SELECT u.name AS unit, reason.word AS reason, how.word AS how, g.prefetched, g.count, g.bytes,
	g.kernel_ns, g.blocked_ns, g.peer_wait_ns, g.queued_behind_ns,
	round(g.kernel_ns / 1e6, 3) AS kernel_ms, round(g.blocked_ns / 1e6, 3) AS blocked_ms
FROM gather AS g
JOIN unit AS u ON u.id = g.unit_id
JOIN word AS reason ON reason.domain = 'gather_reason' AND reason.value = g.reason
JOIN word AS how ON how.domain = 'how' AND how.value = g.how
ORDER BY u.name, g.reason, g.prefetched;

-- Every collective with the GPU op that carries it; several of one op share its time.
CREATE VIEW collectives AS
SELECT c.id AS collective_id, c.gpu_op_id, kind.word AS kind, communicator.value AS communicator,
	c.sequence, c.group_size, dtype.value AS dtype, c.send_bytes, c.recv_bytes,
	s.id AS step_id, s.name AS step, u.name AS unit, stream.cuda_stream AS stream,
	g.start_ns, g.end_ns, g.end_ns - g.start_ns AS duration_ns, name.value AS name,
	algorithm.value AS algorithm, protocol.value AS protocol
FROM collective AS c
JOIN word AS kind ON kind.domain = 'collective_kind' AND kind.value = c.kind
JOIN string AS communicator ON communicator.id = c.communicator_id
JOIN string AS dtype ON dtype.id = c.dtype_id
JOIN string AS algorithm ON algorithm.id = c.algorithm_id
JOIN string AS protocol ON protocol.id = c.protocol_id
LEFT JOIN gpu_op AS g ON g.id = c.gpu_op_id
LEFT JOIN string AS name ON name.id = g.name_id
LEFT JOIN stream ON stream.id = g.stream_id
LEFT JOIN gpu_op_phase AS o ON o.gpu_op_id = g.id
LEFT JOIN step AS s ON s.id = o.step_id
LEFT JOIN unit AS u ON u.id = o.unit_id;

-- Every GPU op whose launch call was recorded, in every step and outside.  ahead_ns is how long it lay launched before it ran:
-- near 0 on an idle GPU, the host is late there.
CREATE VIEW launches AS
SELECT a.id AS api_call_id, g.id AS gpu_op_id, call.value AS call, t.os_tid AS thread,
	a.start_ns, a.end_ns, a.end_ns - a.start_ns AS duration_ns,
	g.start_ns AS gpu_start_ns, g.end_ns - g.start_ns AS gpu_duration_ns,
	g.start_ns - a.end_ns AS ahead_ns, phase.word AS phase, s.id AS step_id, s.name AS step,
	name.value AS name
FROM gpu_op AS g
JOIN api_call AS a ON a.id = g.api_call_id
JOIN string AS call ON call.id = a.name_id
JOIN string AS name ON name.id = g.name_id
JOIN thread AS t ON t.id = a.thread_id
LEFT JOIN gpu_op_phase AS o ON o.gpu_op_id = g.id
LEFT JOIN step AS s ON s.id = o.step_id
LEFT JOIN word AS phase ON phase.domain = 'phase' AND phase.value = o.phase;

-- Peaks of the caching allocator by device, over the whole recording: of its events, or of the
-- marks that the recorder's hook leaves, whose device is that of most GPU ops; events counts either.
-- Empty without both.
CREATE VIEW memory_peaks AS
WITH seen AS (
	SELECT device, at_ns, allocated_bytes, reserved_bytes
	FROM memory
	UNION ALL
	SELECT (SELECT s.device FROM gpu_op AS g JOIN stream AS s ON s.id = g.stream_id
			GROUP BY s.device ORDER BY count(*) DESC, s.device LIMIT 1),
		m.start_ns, CASE WHEN name.value = 'peak_allocated_bytes' THEN m.value END,
		CASE WHEN name.value = 'peak_reserved_bytes' THEN m.value END
	FROM marker AS m
	JOIN string AS name ON name.id = m.name_id
	WHERE name.value IN ('peak_allocated_bytes', 'peak_reserved_bytes')
		AND m.value IS NOT NULL
)
SELECT p.device, p.events, p.peak_allocated_bytes,
	(SELECT min(m.at_ns) FROM seen AS m WHERE m.device IS p.device
		AND m.allocated_bytes = p.peak_allocated_bytes) AS peak_allocated_at_ns,
	p.peak_reserved_bytes,
	(SELECT min(m.at_ns) FROM seen AS m WHERE m.device IS p.device
		AND m.reserved_bytes = p.peak_reserved_bytes) AS peak_reserved_at_ns
FROM (
	SELECT device, count(*) AS events, max(allocated_bytes) AS peak_allocated_bytes,
		max(reserved_bytes) AS peak_reserved_bytes
	FROM seen
	GROUP BY device
) AS p;

-- The words, by enumeration.

INSERT INTO word (domain, value, word) VALUES
	('thread_role', 0, 'unknown'),
	('thread_role', 1, 'main'),
	('thread_role', 2, 'autograd'),
	('host_kind', 0, 'op'),
	('host_kind', 1, 'annotation'),
	('host_kind', 2, 'python'),
	('gpu_kind', 0, 'kernel'),
	('gpu_kind', 1, 'memcpy'),
	('gpu_kind', 2, 'memset'),
	('collective_kind', 0, 'other_collective'),
	('collective_kind', 1, 'all_gather'),
	('collective_kind', 2, 'reduce_scatter'),
	('collective_kind', 3, 'all_reduce'),
	('collective_kind', 4, 'send_recv'),
	('collective_kind', 5, 'broadcast'),
	('marker_kind', 0, 'other'),
	('marker_kind', 1, 'step'),
	('marker_kind', 2, 'forward'),
	('marker_kind', 3, 'backward'),
	('marker_kind', 4, 'optimizer'),
	('marker_kind', 5, 'checkpoint'),
	('marker_kind', 6, 'recompute'),
	('marker_kind', 7, 'unit'),
	('state', 0, 'busy'),
	('state', 1, 'blocked'),
	('state', 2, 'starved'),
	('phase', 0, 'forward'),
	('phase', 1, 'recompute'),
	('phase', 2, 'backward'),
	('phase', 3, 'optimizer'),
	('phase', 4, 'fsdp'),
	('phase', 5, 'unknown'),
	('holder', 0, 'all_gather'),
	('holder', 1, 'reduce_scatter'),
	('holder', 2, 'all_reduce'),
	('holder', 3, 'send_recv'),
	('holder', 4, 'broadcast'),
	('holder', 5, 'other_collective'),
	('holder', 6, 'copy'),
	('holder', 7, 'latency'),
	('holder', 8, 'unexplained'),
	('gather_reason', 0, 'forward'),
	('gather_reason', 1, 'backward'),
	('gather_reason', 2, 'repeat'),
	('gather_reason', 3, 'unknown'),
	('starve_reason', 0, 'dispatch'),
	('starve_reason', 1, 'allocator'),
	('starve_reason', 2, 'lead_lost'),
	('starve_reason', 3, 'sync'),
	('starve_reason', 4, 'data'),
	('starve_reason', 5, 'gc'),
	('how', 0, 'marked'),
	('how', 1, 'structural'),
	('how', 2, 'matched'),
	('how', 3, 'inferred'),
	('how', 4, 'exact'),
	('how', 5, 'unknown');
