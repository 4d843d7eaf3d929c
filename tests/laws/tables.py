"""What the numbers must show, as tables.  Times in milliseconds a step unless a name says else.

The runs are real: see README.md beside the shared traces for what each one is.
"""

EVERY = ["big_ac_block", "big_ac_block_mb4", "big_none", "f1_ac_block",
         "f1_ac_block_reentrant_outside", "f1_none", "f2_ac_block", "f2_ac_block_compile",
         "f2_ac_block_reentrant", "f2_none", "f2_none_accum2", "f2_none_compile", "f2_none_mb4",
         "f2_none_noreshard", "f2_none_root", "press_ac_a", "press_none_a", "slow1_ac_inside",
         "slow1_ac_reentrant_outside", "slow1_none", "slow2_ac_block", "slow2_ac_block_accum2",
         "slow2_ac_block_mb2", "slow2_none", "slow2_none_noreshard", "stack_ac_block",
         "steps8_ac_block", "steps8_none"]
SAMPLES = ["big_none", "big_ac_block", "big_ac_block_mb4"]

PARTITION_TOLERANCE = 0.02  # of the window, against the independent reading
PATH_TOLERANCE = 0.04  # of the step
DAYS_TOLERANCE = 0.03  # of the step, between two days and two recorders
# Host and allocator take turns within microseconds there: only the sum is a fact.
STARVED_AS_A_WHOLE = {"press_none_a"}
# The reading's path starts at the end of rank 0's window.  Ours from a given rank starts where the
# windows of all ranks reach; the one step here ends 8 ms apart, so the job's own path is compared.
PATH_AS_THE_JOB = {"stack_ac_block"}
# The reading tells contexts by the launching call alone: in compiled blocks it calls backward what
# we call recompute or unknown.
HIDES_RECOMPUTATION = {"f2_none_compile", "f2_ac_block_compile"}

SMALL_FORWARD_MS = (9.4, 9.8)  # busy forward on the path, two sequences a rank, eager f1_ and f2_

CAUSES = ["recompute", "recompute_dispatch", "repeated_all_gather", "lost_overlap",
          "unit_overhead", "wrapper_dispatch", "kernel_speed", "other_work", "host_speed",
          "allocator", "host", "copies", "other"]

# One row a pair.  `causes`: cause to (low, high).  `gathers`: (role, reason) to gathers a step on
# each rank.  `says`: patterns that the text answer must hold.  `noise`: its method.
PAIRS = [
    dict(base="big_none", checkpointed="big_ac_block", delta=(27, 29.5),
         shares={"extra FLOPs": (0.90, 1.15)},
         path={("checkpointed", "busy/recompute"): (29.0, 30.0)}),
    dict(base="slow2_none", checkpointed="slow2_ac_block", delta=(4, 6),
         causes={"recompute": (13, 15), "lost_overlap": (-10.5, -8.5)},
         says=[r"hidden", r"noise"], noise="floor", in_noise=True),
    dict(base="slow2_none", checkpointed="slow2_none_noreshard", delta=(-22, -20),
         causes={"repeated_all_gather": (-24.5, -19.5), "lost_overlap": (2, 6)},
         gathers={("base", "backward"): 5, ("checkpointed", "backward"): 0}),
    dict(base="slow1_ac_inside", checkpointed="slow1_ac_reentrant_outside", delta=(48, 52),
         causes={"repeated_all_gather": (17, 21), "lost_overlap": (28, 34),
                 "recompute": (2.5, 4.5)},
         gathers={("base", "repeat"): 0, ("checkpointed", "repeat"): 4},
         says=[r"queue|waited behind", r"reduce.scatter"],
         advice=[r"FSDP\(checkpoint\(block\)\)", r"non-reentrant"]),
    dict(base="f1_none", checkpointed="f1_ac_block_reentrant_outside",
         gathers={("base", "repeat"): 0, ("checkpointed", "repeat"): 8}),
    dict(base="f2_none", checkpointed="f2_ac_block",
         larger=[("recompute_dispatch", "recompute")],
         gathers={("base", "repeat"): 0, ("checkpointed", "repeat"): 0},
         says=[r"wrapper_dispatch", r"profiler's own\s+cost", r"estimated\s+[\d.]+\s+to\s+[\d.]+\s+ms"]),
    dict(base="f2_none", checkpointed="f2_ac_block_reentrant",
         gathers={("checkpointed", "repeat"): 0}),
    dict(base="f2_none_mb4", checkpointed="press_none_a", blamed="allocator",
         calls={"alloc_retries": ("checkpointed", 2)},
         says=[r"14 (cudaFree|cudaMalloc)|(cudaFree|cudaMalloc)\D*14"]),
    dict(base="press_none_a", checkpointed="press_ac_a",
         calls={"alloc_retries": ("checkpointed", 0)}, says=[r"give\s+--memory-limit"]),
    dict(base="slow2_none_noreshard", checkpointed="slow2_ac_block",
         says=[r"^unspent: the runs also differ in resharding after forward"]),
    dict(base="f2_none", checkpointed="f2_ac_block_compile",
         says=[r"^inconclusive: the runs also differ in torch.compile"]),
]

# Starved in the allocator in a rank's own partition, the mean of its windows: the independent
# reading's 12.05 and 6.87 ms, give or take 2 % of the window.
ALLOCATOR_MS = {("press_none_a", 0): (9.8, 14.3), ("press_none_a", 1): (4.6, 9.1),
                ("press_ac_a", 0): (0, 0.05), ("press_ac_a", 1): (0, 0.05)}

# Runs, objective, further options, the word, the exit code.  TRUTH gives --step-time of each role.
TRUTH = "--step-time from truth.jsonl"
VERDICTS = [
    (("big_none", "big_ac_block", "big_ac_block_mb4"), "throughput", (), "failed", 1),
    (("big_none", "big_ac_block"), "throughput", (), "unspent", 0),
    (("big_none", "big_ac_block"), "memory", (), "worked", 0),
    (("big_none", "big_ac_block"), None, (), "no-objective", 0),
    (("big_none", "big_ac_block"), "fit", (), "inconclusive", 4),
    (("big_none", "big_ac_block", "big_ac_block_mb4"), "batch", (), "failed", 1),
    (("slow2_none", "slow2_ac_block", "slow2_ac_block_mb2"), "throughput", (), "worked", 0),
    (("slow2_none", "slow2_ac_block", "slow2_ac_block_mb2"), "batch", (), "worked", 0),
    (("slow2_ac_block_accum2", "slow2_ac_block_mb2"), "throughput", (), "worked", 0),
    (("f2_none", "f2_ac_block"), "throughput", (), "inconclusive", 4),
    (("f2_none", "f2_ac_block"), "throughput", TRUTH, "unspent", 0),
    (("f2_none", "f2_ac_block"), "memory", (), "worked", 0),
    (("big_none", "big_ac_block", "big_ac_block_mb4"), "fit", ("--memory-limit", "18GiB"),
     "failed", 1),
    (("steps8_none", "steps8_ac_block"), "batch", (), "inconclusive", 4),
    (("slow2_none", "slow2_none_noreshard"), "throughput", (), "inconclusive", 4),
    (("big_none", "big_ac_block"), "throughput",
     ("--step-time", "base=0.13", "--step-time", "checkpointed=0.16"), "inconclusive", 4),
]

# Two runs that no split can compare: other models.
EVIDENCE = [
    (("f2_none_compile", "f2_ac_block_compile"), "notes_are_of_rows"),
    (("f2_none", "f2_ac_block_compile"), "notes_are_of_rows"),
    (("slow1_ac_inside", "slow1_ac_reentrant_outside"), "notes_are_of_rows"),
    (("f2_none", "f2_none_accum2"), "host_evidence"),
    (("f2_none_noreshard", "f2_none_accum2"), "host_evidence"),
    (("f2_none_mb4", "press_none_a"), "host_evidence"),
    (("slow2_none", "slow2_none_noreshard"), "dearest_first"),
    (("slow1_ac_inside", "slow1_ac_reentrant_outside"), "dearest_first"),
]

# The host can't keep up with the GPU there.
LAUNCH_BOUND = ["f1_none", "f1_ac_block", "f1_ac_block_reentrant_outside", "f2_none",
                "f2_none_compile", "f2_none_mb4", "f2_none_accum2", "f2_none_noreshard",
                "f2_none_root", "f2_ac_block", "f2_ac_block_compile", "f2_ac_block_reentrant",
                "press_none_a", "press_ac_a", "stack_ac_block", "steps8_none", "steps8_ac_block"]

NOT_COMPARABLE = [("big_none", "f2_ac_block"), ("f2_none", "steps8_ac_block")]

# Recordings of others: what `info` answers, and whether a breakdown is to be had of them.
PUBLIC = {
    "hta/cuda_event_sync.json.gz": (0, 0),
    "hta/distributed_info_not_found.json.gz": (0, None),
    "hta/large_integer_rank70.json.gz": (0, 3),
    "hta/memory_timeline.raw.gz": (3, 3),
    "hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz": (0, None),
    "hta/nccl_data.json.gz": (0, None),
    "hta/ns_resolution_rank0.json.gz": (0, 0),
    "hta/rank_not_found.json.gz": (0, None),
    "hta/trace_diff_control.json.gz": (0, 0),
    "kineto/tb_resnet50_string_tids.json.gz": (0, 0),
    "kineto/tb_resnet50_toplevel_array.json.gz": (0, 0),
    "tracelens/b200_eager_trace.json.gz": (0, 0),
    "tracelens/resnet_act_checkpoint.json.gz": (0, 0),
}
# Another project's own reading of its recording with Python stacks: GPU time of recomputation.
PUBLIC_RECOMPUTE_MS = {"tracelens/resnet_act_checkpoint.json.gz": (4.08, 4.16)}
