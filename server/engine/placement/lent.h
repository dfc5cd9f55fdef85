/**
 * torch.nn.DataParallel: one process and one device that holds the model. Each forward pass
 * broadcasts it to the other devices, which give their outputs back and their gradients after.
 */
#ifndef SL_ENGINE_LENT_H
#define SL_ENGINE_LENT_H

#include "engine/placement/gather.h"

/** Devices of DataParallel that are lent what they hold; 0 where there are none. */
uint32_t sl_lent_devices(const sl_workload *workload, const sl_plan *plan);

/** One node, and nothing but states at their place: rules one_node, not_modelled. */
sl_code sl_check_lent(const sl_question *question, sl_errors *err) SL_MUST_CHECK;

/**
 * Beside what a device holds at rest (n parameters of p bytes, g of a gradient):
 *   other devices  n (p + those of the 16-bit cast) from forward on; n g until backward ends
 *   first device   n g of its own replica, and n g of the sum where earlier micro-batches have left
 *                  theirs
 * Gradients of a replica are the inputs of one function, which runs when all are there.
 * Source: PyTorch nn/parallel/data_parallel.py, replicate.py, _functions.py (Broadcast).
 */
void sl_lent_measure(const sl_memory_case *c, double elements, sl_gathered *out);

/**
 * Logits of a device's own batch become those it has at the loss: the first gathers everybody's and
 * keeps its own output beside them, the others have their output. Any framework; `own` elsewhere.
 */
double sl_lent_logits(const sl_memory_case *c, double own);

/** Bytes of each of sl_lent_logits, of `loss` that the loss takes. */
double sl_lent_logit_bytes(const sl_memory_case *c, double loss);

/** Role and ranks of the device that the case is of. */
void sl_lent_name(const sl_memory_case *c, sl_rank_memory *rank);

/** What one micro-batch sends, in this order and nothing of it hidden: parameters, inputs, outputs
 * and their gradients, gradients of parameters. Source: data_parallel.py (replicate, scatter,
 * gather). */
typedef struct sl_lent_traffic {
    double parameter_bytes, gradient_bytes;
    double input_bytes;  /* numbers of tokens, from the first device; of a plain model unknown: 0 */
    double output_bytes; /* onto the first device, and their gradients back */
    double parameter_s, gradient_s, input_s, output_s;
} sl_lent_traffic;

sl_lent_traffic sl_lent_send(const sl_memory_case *c);

#endif
