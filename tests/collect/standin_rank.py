"""A training process whose recorder left a file behind, for record_test.sh.

Usage: standin_rank.py RANK END: writes what the collector writes for that rank into
INQUEST_RECORD_DIR, in WAL mode and under the first free name, and ends:
  killed    by SIGKILL, with everything in the log
  closed    orderly
  helper    orderly, without steps
  stopped   orderly, the recorder having given up
  empty     orderly, without a row
  bare      killed before the schema was there
  open      orderly, but ten seconds after it has written
  damaged   with bytes in the file that are no database
"""

import os
import pathlib
import signal
import sqlite3
import sys
import time

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "trace.sql"
MANGLED = "_ZN2at6native29vectorized_elementwise_kernelILi4EfEEvi"
STRINGS = ["", "main", MANGLED, "cudaLaunchKernel", "inquest:step:0", "_Z_is_no_kernel"]
ROWS = {
    # id, pid, os_tid, name, role
    "thread": [(0, 10, 11, 1, 1)],
    # id, device, context, cuda_stream, priority
    "stream": [(0, 0, 1, 7, 0)],
    # id, start, end, sequence, thread, name, shapes, forward_thread, kind
    "host_op": [(0, 50, 950, None, 0, 4, 0, None, 1), (1, 60, 70, None, 0, 5, 0, None, 1)],
    # id, start, end, thread, name, correlation, result; out of order, as buffers come
    "api_call": [(0, 300, 310, 0, 3, 2, 0), (1, 100, 110, 0, 3, 1, 0)],
    # id, start, end, bytes, graph_node, stream, name, correlation, api_call, grid, block, shared, kind
    "gpu_op": [(0, 400, 500, None, None, 0, 2, 2, None, 8, 1, 1, 64, 1, 1, 0, 0),
               (1, 200, 300, None, None, 0, 2, 1, None, 8, 1, 1, 64, 1, 1, 0, 0)],
    # id, start, end, region, value, thread, name, kind
    # two steps with two optimizers each, and one that has only begun
    "marker": [(0, 50, 550, None, 0, 0, 0, 1), (1, 550, 950, None, 1, 0, 0, 1),
               (2, 500, 510, None, None, 0, 0, 4), (3, 520, 530, None, None, 0, 0, 4),
               (4, 900, 910, None, None, 0, 0, 4), (5, 920, 930, None, None, 0, 0, 4),
               (6, 950, 960, None, 2, 0, 0, 1)],
}


def fill(db, rank, life, end):
    db.executescript("BEGIN;" + SCHEMA.read_text() + "COMMIT;")
    facts = {"sealed": 0, "source": "recorder", "rank": rank, "world_size": 2, "gpu": "",
             "base_unix_ns": life, "event_count": 6, "writer_cpu_ns": 12345}
    if end == "stopped":
        facts["recorder_stopped"] = "No space left on device"
        db.execute("INSERT INTO diagnostic (kind, severity, count, meaning)"
                   " VALUES ('recorder_stopped', 'data_loss', 1, 'No space left on device')")
        db.execute("INSERT INTO diagnostic (kind, severity, count, meaning)"
                   " VALUES ('dropped_records', 'data_loss', 7, '')")
    if end == "killed":
        db.execute("INSERT INTO diagnostic (kind, severity, count, meaning)"
                   " VALUES ('recording_cut', 'data_loss', 1, '')")
    db.executemany("INSERT INTO meta VALUES (?, ?)", facts.items())
    db.executemany("INSERT INTO string VALUES (?, ?)", enumerate(STRINGS))
    if end != "empty":
        for table, rows in ROWS.items():
            if table == "marker" and end == "helper":
                continue
            marks = ", ".join("?" * len(rows[0]))
            db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def main():
    rank, end = int(sys.argv[1]), sys.argv[2]
    folder = pathlib.Path(os.environ["INQUEST_RECORD_DIR"])
    life, path = 1, folder / f"rank{rank}.inq"
    while path.exists():
        life += 1
        path = folder / f"rank{rank}-{life}.inq"
    if end == "damaged":
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
        return
    db = sqlite3.connect(path)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = WAL")
    if end != "bare":
        fill(db, rank, life, end)
        db.commit()
    if end in ("killed", "bare"):
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "open":
        time.sleep(10)
    db.close()


if __name__ == "__main__":
    main()
