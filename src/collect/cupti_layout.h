/*
 * CUPTI's activity records and callbacks in bytes: kinds, and offsets that hold from the version
 * named in brackets on.  The kind is the first word of each.  Facts about the binary interface,
 * nothing else.
 */
#pragma once

#define KIND_MEMCPY	     1u
#define KIND_MEMSET	     2u
#define KIND_DRIVER	     4u
#define KIND_RUNTIME	     5u
#define KIND_DEVICE	     8u
#define KIND_CONTEXT	     9u
#define KIND_KERNEL	     10u /* CONCURRENT_KERNEL: plain KERNEL (3) would run them one by one */
#define KIND_OVERHEAD	     17u
#define KIND_MEMCPY2	     22u /* from one GPU to another */
#define KIND_CUDA_EVENT	     36u
#define KIND_SYNCHRONIZATION 38u
#define KIND_EXTERNAL	     39u
#define KIND_MEMORY2	     49u

/* kernel (11.0) */
#define KERNEL_START	      16
#define KERNEL_END	      24
#define KERNEL_DEVICE	      40
#define KERNEL_CONTEXT	      44
#define KERNEL_STREAM	      48
#define KERNEL_GRID	      52
#define KERNEL_BLOCK	      64
#define KERNEL_STATIC_SHARED  76
#define KERNEL_DYNAMIC_SHARED 80
#define KERNEL_CORRELATION    92
#define KERNEL_NAME	      104
#define KERNEL_GRAPH_NODE     144

/* copy (11.1), and between GPUs (11.1) where it differs */
#define MEMCPY_COPY_KIND    4
#define MEMCPY_FROM_KIND    5
#define MEMCPY_TO_KIND	    6
#define MEMCPY_BYTES	    8
#define MEMCPY_START	    16
#define MEMCPY_END	    24
#define MEMCPY_DEVICE	    32
#define MEMCPY_CONTEXT	    36
#define MEMCPY_STREAM	    40
#define MEMCPY_CORRELATION  44
#define MEMCPY_GRAPH_NODE   64
#define MEMCPY2_CORRELATION 60
#define MEMCPY2_GRAPH_NODE  72

/* memset (11.1) */
#define MEMSET_BYTES	   8
#define MEMSET_START	   16
#define MEMSET_END	   24
#define MEMSET_DEVICE	   32
#define MEMSET_CONTEXT	   36
#define MEMSET_STREAM	   40
#define MEMSET_CORRELATION 44
#define MEMSET_MEMORY_KIND 50
#define MEMSET_GRAPH_NODE  64

/* call of the runtime or the driver (any) */
#define API_CBID	4
#define API_START	8
#define API_END		16
#define API_THREAD	28
#define API_CORRELATION 32
#define API_RESULT	36

/* synchronisation (any; its id 12.8) */
#define SYNC_TYPE	 4
#define SYNC_CORRELATION 24
#define SYNC_CONTEXT	 28
#define SYNC_STREAM	 32
#define SYNC_EVENT	 36
#define SYNC_ID		 40

/* event record (any; its id 12.8) */
#define EVENT_CORRELATION 4
#define EVENT_CONTEXT	  8
#define EVENT_STREAM	  12
#define EVENT_EVENT	  16
#define EVENT_SYNC_ID	  48

/* external correlation (any) */
#define EXTERNAL_KIND	     4
#define EXTERNAL_ID	     8
#define EXTERNAL_CORRELATION 16
#define EXTERNAL_KIND_OURS   5u /* CUSTOM2: Kineto uses CUSTOM0 and CUSTOM1 */

/* overhead (any) */
#define OVERHEAD_KIND  4
#define OVERHEAD_START 24
#define OVERHEAD_END   32

/* memory (11.2) */
#define MEMORY_OPERATION   4
#define MEMORY_KIND	   8
#define MEMORY_ADDRESS	   16
#define MEMORY_BYTES	   24
#define MEMORY_AT	   32
#define MEMORY_DEVICE	   52
#define MEMORY_ALLOCATION  1u
#define MEMORY_RELEASE	   2u
#define MEMORY_KIND_DEVICE 3u

/* device (any) */
#define DEVICE_MEMORY_BYTES 16
#define DEVICE_ID	    112
#define DEVICE_NAME	    136

/* context (any) */
#define CONTEXT_ID     4
#define CONTEXT_DEVICE 8

/* what comes with a callback (any) */
#define CALLBACK_DRIVER	      1
#define CALLBACK_RUNTIME      2
#define CALLBACK_SITE	      0
#define CALLBACK_SITE_EXIT    1u
#define CALLBACK_RETURN_VALUE 24
#define CALLBACK_CORRELATION  64
