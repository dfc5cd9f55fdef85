/** States kept off the device: what the host's memory and its disks hold, and what that costs. */
#ifndef SL_ENGINE_OFFLOAD_H
#define SL_ENGINE_OFFLOAD_H

#include "engine/placement/states.h"

/** Of one rank, in bytes. */
typedef struct sl_offloaded {
    double state_bytes;  /* in the memory of its node */
    double buffer_bytes; /* there too, of what passes through on the way to disks */
    double nvme_bytes;   /* on its disks */
} sl_offloaded;

/**
 * Of one rank, with o elements of the optimizer's part (of adapters, where they train) and p of the
 * parameters', adapters' among them:
 *   optimizer   (weight + states + gradient) away * o
 *   parameters  bytes per parameter * p
 * away      sl_states_away, all of it but for a fraction under Megatron
 * weight    the master weight; without one the parameter, unless the host has that anyway
 * gradient  4 bytes to step on; fsdp's has the width it has on a device. Megatron's is a copy: the
 *           device keeps its own.
 * On NVMe (ZeRO-Infinity) the host keeps 4 buffers of fp32 values, as large as a sub-group of at
 * most 1e9 elements; of the parameters 1e9 elements (max_in_cpu) and 5 buffers of 1e8.
 * Source: DeepSpeed zero/config.py, zero/offload_config.py, its config-json documents; Ren 2021;
 * Megatron-LM cpu_offloading/hybrid_optimizer.py; PyTorch FullyShardedDataParallel.
 */
sl_offloaded sl_offload_states(const sl_workload *workload, const sl_plan *plan,
                               const sl_elements *elements);

/** What DeepSpeed's estimators add to states in a host for buffers, bytes: half as much again
 * (additional_buffer_factor); 0 of others. */
double sl_offload_spare_bytes(const sl_workload *workload, const sl_offloaded *of);

/** What a rank builds in the host's memory outside of DeepSpeed's zero.Init, bytes: 4 of each element
 * that its part of the model has; 0 of others, and beside adapters, whose base is loaded as stored. */
double sl_offload_start_bytes(const sl_workload *workload, const sl_elements *elements);

/** The step of an optimizer on the host. */
typedef struct sl_host_step {
    double update_s;
    double gradients_s;  /* down to the host, of the whole step */
    double parameters_s; /* up again; 0 where they stay with the host */
} sl_host_step;

/**
 * with o the elements whose states are away:
 *   update_s      o * ranks of a node / 4e9, what one node updates in a second
 *   gradients_s   bytes as they are reduced, Megatron's 4, * o * rounds / host link
 *   parameters_s  bytes per parameter * o / host link
 * rounds  how often gradients are sent down: with every micro-batch where they are divided, and
 *         once by Megatron, which sums them on the device
 * The rate is that of DeepSpeed's CPU Adam on a machine of two sockets, 10 billion parameters in
 * 2.6 s (Ren 2021); other hosts differ. 0 throughout where the part's host link is not known.
 */
sl_host_step sl_offload_step(const sl_question *question, const sl_workload *workload,
                             const sl_plan *plan, const sl_elements *elements, double rounds);

/** Seconds in which a rank's part of the parameters comes up over the host's link, before it is
 * gathered; 0 where the device has it, and where that link is not known. */
double sl_offload_fetch_s(const sl_cluster *cluster, const sl_workload *workload,
                          const sl_plan *plan, const sl_elements *elements);

/** Of the blocks of a stage, how many have their activations leave: all, or as many as are said. */
uint32_t sl_offload_leaving(const sl_workload *workload, uint32_t blocks);

/** Whether what the last of the blocks keeps, which is wanted again at once, stays: where all
 * leave. */
bool sl_offload_last_stays(const sl_workload *workload, uint32_t blocks);

/** Seconds in which what a block keeps of a micro-batch goes down over the host's link, or comes
 * up; 0 where it stays on the device, and where that link is not known. */
double sl_offload_kept_s(const sl_cluster *cluster, const sl_workload *workload, double bytes);

/** Rules of what leaves: parameters only where their framework divides them, and never without what
 * steps on them; NVMe: nvme_not_of_framework but for DeepSpeed's stage 3; layers whose activations
 * leave: out_of_range beyond the model's. */
sl_code sl_check_offload(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

#endif
