/**
 * Each layer kind priced once: parameters, kept bytes, FLOPs and seconds of one micro-batch on one
 * rank. Stages then only add kinds up.
 */
#ifndef SL_ENGINE_PRICE_H
#define SL_ENGINE_PRICE_H

#include "engine/links/collective.h"
#include "engine/price/kernel.h"

/** What the tensor group sends, a place for each kind of collective, and what experts with a cut of
 * their own gather and scatter over its ranks. */
enum { SL_SENT_EXPERT_GATHER = SL_COLLECTIVE_COUNT, SL_SENT_EXPERT_SCATTER, SL_SENT_COUNT };

/** One kind of collective, per micro-batch and layer. */
typedef struct sl_traffic {
    double calls;
    double bytes;
    double busy_s;    /* without any overlap */
    double exposed_s; /* what computing does not hide */
} sl_traffic;

/** One pass of a micro-batch through a layer, as what it is made of comes to (sl_price_passes).
 * What runs again is issued in one go with backward, and late with it. */
typedef struct sl_pass_price {
    double computing_s;
    double tensor_s; /* what computing does not hide of all collectives of the tensor group, */
    double context_s;
    double expert_s; /* ... and of the other two groups' */
    double issued_s; /* what the host takes to issue it */
    double late_s;   /* what the host takes longer to issue it than the device beside it */
} sl_pass_price;

/** A part of one layer's forward pass that backward runs again, per micro-batch, when layers are
 * rebuilt one by one. */
typedef struct sl_rerun {
    double forward_s;
    double issued;       /* operators */
    double awaited_s;    /* the device waits for their issue */
    double matmul_flops; /* of the whole layer, like those of sl_kind_price */
    double attention_flops;
    sl_traffic tensor[SL_SENT_COUNT];
    sl_traffic context;
    sl_traffic expert;
    sl_pass_price pass;
    double kept_bytes; /* by the layer, of one micro-batch ... */
    double live_bytes; /* ... and beyond that, rebuilt at once */
} sl_rerun;

typedef struct sl_kind_price {
    double elements;               /* parameters on this rank */
    double adapter_elements;       /* beside them: what trains of a frozen model */
    double adapter_routed;         /* ... of it what is beside routed experts */
    double adapter_factored;       /* ... and of all of it Adafactor's moments */
    double adapter_frozen;         /* ... and what adapters have that does not */
    double adapter_routed_frozen;  /* ... of that what is beside routed experts */
    double adapter_buffers;        /* ... what is no parameter of the module */
    double adapter_shared_inputs;  /* longest sides of matrices, where all share one copy ... */
    double adapter_shared_outputs; /* ... of what does not train (sl_adapter_shared) */
    double routed_elements;        /* of them, in routed experts */
    double largest_matrix;         /* elements of the largest of them */
    double matrix_elements;        /* of them, weights of linear layers */
    double low_elements;           /* ... which low precisions quantise */
    double shape_elements;         /* of weights of products, one of each shape (shapes.h) */
    bool lone_shape;               /* that is one, and no other kind has it */
    double factored_elements;      /* rows and columns of matrices, and whole vectors */
    double routed_matrices;        /* of matrix_elements, those of routed experts ... */
    double routed_factored;        /* ... and of factored_elements */
    double saved_bytes;            /* kept for backward, nothing recomputed, loss apart */
    double core_bytes;             /* of them, what selective recomputation drops */
    double input_bytes;            /* what full recomputation keeps instead */
    double products_bytes;         /* what recomputation by operators keeps instead */
    bool keeps_exchange;           /* ... with it what went to experts and back */
    double modules_bytes;          /* of saved_bytes, what the slice's recompute_modules drop */
    double module_live_bytes;      /* the most of it that one module rebuilds */
    sl_rerun again;                /* what a layer that is rebuilt runs again */
    sl_rerun tail;                 /* of its forward, what a rebuild that stops leaves out ... */
    sl_rerun grouped;              /* ... and of what comes before that, products of experts */
    double output_bytes;           /* for the layer after it, before any split over ranks */
    double logits;                 /* elements of the loss input on this rank; 0 elsewhere */
    double operand_bytes;          /* inputs and output gradients of all products: what gradients
                                      of weights wait with */
    double largest_gradient_bytes; /* gradient of the widest activation input, live in backward;
                                      or what adapters make of a weight, if more */
    double foreign_bytes;   /* of other ranks, live in its backward: keys and values, or an input */
    double matmul_flops;    /* forward products, or all of a plain layer, per micro-batch; whole
                               model layer (all ranks) */
    double tiled_flops;     /* of them, what tiles run again in every backward */
    double attention_flops; /* like matmul_flops, scores and values over all s x s pairs */
    double causal_flops;    /* likewise, only the pairs a causal mask keeps */
    double forward_s;
    double core_forward_s; /* attention core alone */
    double backward_s;
    double weight_s;       /* of it, gradients of weights */
    double forward_issued; /* operators that the host issues, collectives apart */
    double backward_issued;
    double forward_awaited_s; /* the device waits while the host issues products of experts */
    double backward_awaited_s;
    sl_traffic tensor_forward[SL_SENT_COUNT];
    sl_traffic tensor_backward[SL_SENT_COUNT];
    sl_collective context_collective; /* of the ranks that share a sequence */
    sl_traffic context_forward;
    sl_traffic context_backward;
    sl_traffic expert_forward; /* all-to-all, there and back */
    sl_traffic expert_backward;
    sl_pass_price forward, backward;
} sl_kind_price;

/** What a part of some traffic leaves of it. */
sl_traffic sl_price_traffic_less(const sl_traffic *all, const sl_traffic *part);

/** Seconds of all collectives that computing does not hide. */
double sl_price_exposed_s(const sl_traffic traffic[SL_SENT_COUNT]);

/** The release's overlap_loss_ratio, below 1. */
double sl_price_loss_ratio(const sl_software *software);

/** The part of a collective of `collective_s` that stays visible beside `cover_s` of computing:
 * what does not fit under it, and the release's overlap_loss_ratio of what does, which computing
 * loses. */
double sl_price_visible_s(const sl_software *software, double collective_s, double cover_s,
                          bool overlapped);

/** The product that an operator is in forward, on one device; unaligned where one of those is that
 * it is issued as. */
sl_product sl_price_product(const sl_slice *slice, const sl_operator *op);

/** Parameters and bytes of a kind, into an *out whose output_bytes and input_bytes are those of any
 * block. */
void sl_price_memory(const sl_slice *slice, const sl_layer_kind *kind, sl_kind_price *out);

/** What forward, backward and what runs again come to, and what the latter keeps: last, when all
 * else is there. */
void sl_price_passes(const sl_slice *slice, sl_kind_price *out);

/** One operator of a kind alone: seconds, FLOPs and traffic of all of them add up to the kind's.
 * What is held in memory is the whole kind's. */
void sl_price_one(const sl_cluster *cluster, const sl_plan *plan, const sl_slice *slice,
                  const sl_layer_kind *kind, uint32_t index, sl_kind_price *out);

/** Prices every kind of the model, a slice of `plan`; out has SL_KINDS_MAX entries. */
void sl_price_kinds(const sl_model *model, const sl_cluster *cluster, const sl_plan *plan,
                    const sl_slice *slice, sl_kind_price out[SL_KINDS_MAX]);

#endif
