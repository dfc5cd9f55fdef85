#include "codec/cross_check.h"

#include <assert.h>

#include "base/text.h"

/* All causes together stay inside what a total may be. */
enum { CAUSES = 4, ELEMENTS_MAX_BITS = 62, CAUSE_MAX_BITS = 60, SCALE_WEIGHTS_MIN = 8 };

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

static int64_t
magnitude(int64_t value)
{
    return value < 0 ? -value : value;
}

/* The causes, one bit each, that leave least of the difference. A copy needs what it comes with. */
static uint32_t
choose(const cause causes[CAUSES], int64_t difference, int64_t *rest)
{
    uint32_t best = 0;
    uint32_t best_size = 0;
    *rest = difference;
    for (uint32_t set = 1; set < 1U << CAUSES; set++) {
        int64_t left = difference;
        uint32_t size = 0;
        bool possible = (set & 4U) == 0 || (set & 2U) != 0;
        for (uint32_t i = 0; i < CAUSES; i++) {
            if ((set & 1U << i) == 0)
                continue;
            possible = possible && causes[i].elements > 0 &&
                       causes[i].elements < UINT64_C(1) << CAUSE_MAX_BITS;
            left -= possible ? (int64_t)causes[i].elements : 0;
            size++;
        }
        if (possible &&
            (magnitude(left) < magnitude(*rest) || (left == *rest && size < best_size))) {
            best = set;
            best_size = size;
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

/* What a quantised checkpoint makes of the weights: fewer elements, or scales beside them. */
static void
explain_quantization(const sl_model *model, sl_cross_check *check)
{
    const int64_t rest = check->unexplained;
    if (rest < 0)
        (void)sl_text_format(explain(check, "packed_weights", rest)->detail,
                             sizeof check->explained[0].detail,
                             "%s packs several weights into one stored element: the count of the "
                             "checkpoint is too small, ours is right",
                             model->quantization.method);
    else if (rest > 0 && (uint64_t)rest <= check->computed / SCALE_WEIGHTS_MIN)
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
    const uint32_t chosen = choose(causes, check.difference, &rest);
    for (uint32_t i = 0; i < CAUSES; i++) {
        if ((chosen & 1U << i) != 0)
            (void)sl_text_copy(
                explain(&check, causes[i].reason, (int64_t)causes[i].elements)->detail,
                sizeof check.explained[0].detail, causes[i].detail);
    }
    assert(check.unexplained == rest);
    if (model->quantization.method[0] != '\0')
        explain_quantization(model, &check);
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
