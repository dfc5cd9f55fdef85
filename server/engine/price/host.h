/** Blocks that run on the host: its seconds and bytes, and what goes there and back. */
#ifndef SL_ENGINE_HOST_H
#define SL_ENGINE_HOST_H

#include "engine/memory/memory.h"

/** Of one micro-batch through chunks of one pipeline rank, but for the last two. */
typedef struct sl_host_time {
    double forward_s; /* computing and sending */
    double backward_s;
    double recompute_s;
    double sends;      /* and so often */
    double sent_bytes; /* hidden states and their gradients over the device's link */
    double sent_s;     /* of the seconds above */
    double parameters; /* of the blocks there [count] */
    double sweep_s;    /* reading one byte of each parameter */
} sl_host_time;

/**
 * A block takes the slower of its FLOPs at the processors' rate and its bytes, weights once and
 * twice what it keeps, at the memory's; backward both twice. A run of blocks receives the output of
 * the block before it and sends its own, in backward the gradients of both, over the device's
 * link. The device waits.
 *
 * Assumed where the plan does not say: 7.2e12 FLOP/s, half the fp32 peak of two 56-core processors
 * with two 512-bit multiply-add units a core at 2.0 GHz (Xeon 8480C, in a DGX H100), and 4.9e11
 * bytes/s, 0.8 of their 16 channels of DDR5-4800. Source: Intel and NVIDIA datasheets; the shares
 * are assumptions. One node's processors work for one device at a time.
 */
sl_host_time sl_host_measure(const sl_memory_case *c, const sl_held *held);

/**
 * Bytes in the node's memory for the blocks of one rank: all states of their parameters, what
 * `in_flight` micro-batches keep, and what the largest of them rebuilds.
 */
double sl_host_bytes(const sl_memory_case *c, uint32_t rank, double in_flight);

#endif
