#include "codec/answer/cross_check.h"

#include <assert.h>

#include "base/text.h"

/* All causes together stay inside what a total may be. */
enum { CAUSES = 4, ELEMENTS_MAX_BITS = 61, CAUSE_MAX_BITS = 60 };

/* Something of known size that a checkpoint may hold beyond what the class counts. */
typedef struct cause {
    const char *reason;
    const char *detail;
    uint64_t elements;
} cause;

/* Elements of the head where it shares the embedding's storage. */
static uint64_t
tied_elements(const sl_model *model)
{
    uint64_t sum = 0, elements = 0;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        const sl_layer_kind *const kind = &model->kinds[model->layers[layer]];
        for (uint32_t i = 0; i < kind->tensor_count; i++) {
            const bool head = kind->tensors[i].component == SL_COMPONENT_LM_HEAD;
            if (head && kind->tensors[i].tied &&
                sl_tensor_elements(&kind->tensors[i], &elements) == SL_OK)
                sum += elements;
        }
    }
    return sum;
}

static void
list_causes(const sl_model *model, const sl_model_counts *counts, cause out[CAUSES])
{
    const uint64_t ends =
        counts->component[SL_COMPONENT_EMBEDDING] + counts->component[SL_COMPONENT_LM_HEAD];
    out[0] =
        (cause){"persistent_buffers", "buffers that a checkpoint stores and that are no parameters",
                counts->persistent_buffers};
    out[1] =
        (cause){"mtp_layers", "layers for multi-token prediction, which the class does not have",
                model->mtp_parameters};
    out[2] = (cause){"mtp_shared_copies",
                     "embedding and head, stored once more with the multi-token layers",
                     model->mtp_parameters > 0 ? ends : 0};
    out[3] = (cause){"tied_head_stored_again",
                     "the head shares the embedding's weights and is stored all the same",
                     tied_elements(model)};
}

/* What quantisation makes of the elements: words that hold several weights, and beside them scales,
 * of which the bytes are known and each takes at least one. A quarter more is for the scales of
 * multi-token layers. Both are 0 where nothing is quantised, or nobody knows how. */
typedef struct packing {
    uint64_t saved;
    uint64_t scales_max;
} packing;

static packing
packing_of(const sl_model *model)
{
    const sl_quantization *of = &model->quantization;

    if (of->format_count == 0)
        return (packing){0, 0};
    const uint64_t weights = of->formats[of->main_format].word_weights;
    return (packing){of->quantized_parameters - of->quantized_parameters / weights,
                     of->scale_bytes + of->scale_bytes / 4};
}

/* What is left of the difference when the causes of a set are taken away, and the smallest of them.
 * False for a set that cannot be: a copy without what it comes with, or a cause there is none
 * of. */
static bool
take_away(const cause causes[CAUSES], uint32_t set, int64_t *left, uint64_t *smallest)
{
    *smallest = UINT64_MAX;
    if ((set & 4U) != 0 && (set & 2U) == 0)
        return false;
    for (uint32_t i = 0; i < CAUSES; i++) {
        if ((set & 1U << i) == 0)
            continue;
        if (causes[i].elements == 0 || causes[i].elements >= UINT64_C(1) << CAUSE_MAX_BITS)
            return false;
        *left -= (int64_t)causes[i].elements;
        if (causes[i].elements < *smallest)
            *smallest = causes[i].elements;
    }
    return true;
}

/* The causes, one bit each, that explain most. What they leave is nothing, or no more than there
 * can be scales; or else less than the least of them, so that none is named that is not seen. */
static uint32_t
choose(const cause causes[CAUSES], int64_t difference, uint64_t scales_max, int64_t *rest)
{
    uint32_t best = 0;
    bool best_fits = difference >= 0 && (uint64_t)difference <= scales_max;

    *rest = difference;
    for (uint32_t set = 1; set < 1U << CAUSES; set++) {
        int64_t left = difference;
        uint64_t smallest = 0;
        if (!take_away(causes, set, &left, &smallest) || left < 0)
            continue;
        const bool fits = (uint64_t)left <= scales_max;
        if (!fits && (best_fits || (uint64_t)left >= smallest))
            continue;
        if ((fits && !best_fits) || best == 0 || left < *rest) {
            best = set;
            best_fits = fits;
            *rest = left;
        }
    }
    return best;
}

static sl_explanation *
explain(sl_cross_check *check, const char *reason, int64_t elements)
{
    assert(check->explained_count < SL_EXPLANATIONS_MAX);
    sl_explanation *const added = &check->explained[check->explained_count++];
    *added = (sl_explanation){.reason = reason, .elements = elements};
    check->unexplained -= elements;
    return added;
}

static void
explain_packing(const sl_model *model, uint64_t saved, sl_cross_check *check)
{
    if (saved != 0)
        (void)sl_text_format(explain(check, "packed_weights", -(int64_t)saved)->detail,
                             sizeof check->explained[0].detail,
                             "%s packs several weights into one stored element: the count of the "
                             "checkpoint is too small, ours is right",
                             model->quantization.method);
}

static void
explain_scales(const sl_model *model, uint64_t scales_max, sl_cross_check *check)
{
    const int64_t rest = check->unexplained;
    if (rest > 0 && (uint64_t)rest <= scales_max)
        (void)sl_text_format(explain(check, "quantization_scales", rest)->detail,
                             sizeof check->explained[0].detail,
                             "%s stores scales beside the weights, which are no parameters",
                             model->quantization.method);
}

sl_code
sl_cross_check_make(const sl_model *model, const sl_model_counts *counts,
                    const sl_checkpoint *checkpoint, sl_cross_check *out)
{
    assert(model != NULL && counts != NULL && checkpoint != NULL && out != NULL);
    assert(checkpoint->source != NULL);

    const uint64_t most = UINT64_C(1) << ELEMENTS_MAX_BITS;
    if (counts->total > most || checkpoint->total > most)
        return SL_E_RANGE;

    cause causes[CAUSES];
    int64_t rest = 0;
    sl_cross_check check = {.computed = counts->total,
                            .difference = (int64_t)checkpoint->total - (int64_t)counts->total};
    check.unexplained = check.difference;
    list_causes(model, counts, causes);
    const packing packed = packing_of(model);
    const int64_t unpacked = check.difference + (int64_t)packed.saved;
    const uint32_t chosen = choose(causes, unpacked, packed.scales_max, &rest);
    for (uint32_t i = 0; i < CAUSES; i++) {
        if ((chosen & 1U << i) != 0)
            (void)sl_text_copy(
                explain(&check, causes[i].reason, (int64_t)causes[i].elements)->detail,
                sizeof check.explained[0].detail, causes[i].detail);
    }
    /* Fewer elements than packing leaves would mean that some are missing. */
    if (rest >= 0)
        explain_packing(model, packed.saved, &check);
    explain_scales(model, packed.scales_max, &check);
    *out = check;
    return SL_OK;
}

void
sl_gated_write(sl_writer *writer, const char *gated)
{
    sl_write_key(writer, "gated");
    if (gated != NULL && (sl_text_equal(gated, "true") || sl_text_equal(gated, "false")))
        sl_write_bool(writer, sl_text_equal(gated, "true"));
    else
        sl_write_text(writer, gated);
}

static void
write_check(sl_writer *writer, const sl_checkpoint *checkpoint, const sl_cross_check *check)
{
    sl_write_object(writer);
    sl_put_text(writer, "source", checkpoint->source);
    sl_put_uint(writer, "total", checkpoint->total);
    sl_write_key(writer, "dtypes");
    sl_write_object(writer);
    for (uint32_t i = 0; i < checkpoint->dtype_count; i++)
        sl_put_uint(writer, checkpoint->dtypes[i].name, checkpoint->dtypes[i].elements);
    sl_write_object_end(writer);
    sl_put_uint(writer, "computed", check->computed);
    sl_put_int(writer, "difference", check->difference);
    sl_write_key(writer, "explained");
    sl_write_array(writer);
    for (uint32_t i = 0; i < check->explained_count; i++) {
        sl_write_object(writer);
        sl_put_text(writer, "reason", check->explained[i].reason);
        sl_put_int(writer, "elements", check->explained[i].elements);
        sl_put_text(writer, "detail", check->explained[i].detail);
        sl_write_object_end(writer);
    }
    sl_write_array_end(writer);
    sl_put_int(writer, "unexplained", check->unexplained);
    sl_write_object_end(writer);
}

void
sl_checkpoint_write(sl_writer *writer, const sl_model *model, const sl_model_counts *counts,
                    const sl_checkpoint *checkpoint)
{
    sl_cross_check check;
    sl_gated_write(writer, checkpoint != NULL ? checkpoint->gated : NULL);
    sl_write_key(writer, "cross_check");
    if (checkpoint != NULL && checkpoint->source != NULL &&
        sl_cross_check_make(model, counts, checkpoint, &check) == SL_OK)
        write_check(writer, checkpoint, &check);
    else
        sl_write_null(writer);
}
