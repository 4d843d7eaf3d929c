/*
 * NVTX's side of the collector: the entry points that each object compiled with NVTX calls once,
 * and the functions they put into that object's tables.  Ranges and marks become notes; nothing
 * here knows of CUDA or files.
 *
 * What the notes say:
 *   - every NOTE_POP closes a NOTE_PUSH of its thread: a range that opened while nothing was
 *     recorded leaves neither, and one that outlives its window of steps still closes;
 *   - texts of the default domain are kept as they are, those of another domain begin with its name
 *     and a colon ("NCCL:ncclAllGather"), so that no library's text can pass for a marker;
 *   - a number that came with the text follows it in brackets ("batch [32]");
 *   - wide texts become UTF-8, and all are cut at NOTE_TEXT_MAX bytes.
 *
 * Ranges by start and end, which may end on another thread, are counted and not kept.
 */
#pragma once

#include <stdint.h>

/* What NVTX hands over: the table of that number, NULL if it has none. */
typedef const void *(*nvtx_export_table)(uint32_t id);

/* NVTX 3's entry, and NVTX 1 and 2's; 0 tells NVTX to make its functions empty. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_export_table tables);
__attribute__((visibility("default"))) int InitializeInjectionNvtx(nvtx_export_table tables);

/* Ranges by start and end that were left out while recording. */
uint64_t nvtx_ranges_left_out(void);
