/**
 * Our count of parameters beside the elements that the checkpoint's files hold. They differ for
 * reasons that are known: what a checkpoint stores and a class does not count, and what packing
 * makes of several weights. Pure.
 */
#ifndef SL_CODEC_CROSS_CHECK_H
#define SL_CODEC_CROSS_CHECK_H

#include "shardline/model.h"
#include "json/writer.h"

enum { SL_CHECKPOINT_DTYPES_MAX = 24, SL_EXPLANATIONS_MAX = 6 };

/** What is known of a checkpoint beside its config. */
typedef struct sl_checkpoint {
    const char *gated;  /* "false", "true", "auto", "manual"; NULL when unknown */
    const char *source; /* who counted: "safetensors_metadata", "safetensors_headers"; NULL: nobody,
                           and nothing below is known */
    uint64_t total;     /* elements of all tensors */
    uint32_t dtype_count;
    struct {
        const char *name; /* "BF16" */
        uint64_t elements;
    } dtypes[SL_CHECKPOINT_DTYPES_MAX];
} sl_checkpoint;

typedef struct sl_explanation {
    const char *reason;
    int64_t elements; /* what it adds to the checkpoint; negative where that holds fewer */
    char detail[192];
} sl_explanation;

typedef struct sl_cross_check {
    uint64_t computed;
    int64_t difference; /* the checkpoint's total less ours */
    uint32_t explained_count;
    sl_explanation explained[SL_EXPLANATIONS_MAX];
    int64_t unexplained; /* what of the difference is left */
} sl_cross_check;

/**
 * Compares and explains.
 *
 *   difference = total - computed = sum of explained elements + unexplained
 *
 * The causes of known size are persistent buffers, layers for multi-token prediction, the copies of
 * embedding and head those layers come with, and a tied head that was stored again. A quantised
 * checkpoint whose layout is known holds fewer elements by its packing, exactly, and more by its
 * scales, of which there are at most as many as they take bytes, and a quarter more for multi-token
 * layers. Of the causes that set is taken that leaves least, and leaves nothing but such scales, or
 * less than the least of its members; otherwise none.
 *
 * counts    of the model; total at most 2^61, like that of the checkpoint: more is SL_E_RANGE
 * Source: derived; DeepSeek-V3 README_WEIGHTS for what multi-token prediction stores.
 */
sl_code sl_cross_check_make(const sl_model *model, const sl_model_counts *counts,
                            const sl_checkpoint *checkpoint, sl_cross_check *out) SL_MUST_CHECK;

/** Writes the member "gated": false, true, or how access is given; null for NULL. */
void sl_gated_write(sl_writer *writer, const char *gated);

/** Writes the members "gated" and "cross_check"; null without what they need. */
void sl_checkpoint_write(sl_writer *writer, const sl_model *model, const sl_model_counts *counts,
                         const sl_checkpoint *checkpoint);

#endif
