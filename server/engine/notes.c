#include <assert.h>
#include <stddef.h>

#include "engine/evaluate.h"

static void
add(sl_estimate *out, bool warning, const char *code, const char *text)
{
    assert(out->note_count < SL_NOTES_MAX);
    out->notes[out->note_count++] = (sl_note){code, warning, text};
}

static void
note_unknown(const sl_question *question, sl_estimate *out)
{
    static const struct {
        sl_unknown field;
        const char *code, *text;
    } fields[] = {
        {SL_UNKNOWN_SOFTWARE, "software_open",
         "software was not given: every profile of the framework was evaluated"},
        {SL_UNKNOWN_RECOMPUTE, "recompute_open",
         "recompute was not given: none, selective and full were evaluated"},
        {SL_UNKNOWN_ATTENTION, "attention_open",
         "attention was not given: the kernels the software may pick were evaluated"},
        {SL_UNKNOWN_DROPOUT, "dropout_open",
         "dropout was not given: what the software profile says, or both, was evaluated"},
        {SL_UNKNOWN_MICRO_BATCH, "micro_batch_size_open",
         "micro_batch_size was not given: 1, 2, 4 and 8 were evaluated where they divide"},
        {SL_UNKNOWN_SEQUENCE, "sequence_open",
         "parallelism.sequence was not given: off and on were evaluated"},
        {SL_UNKNOWN_ZERO_STAGE, "zero_stage_open",
         "zero_stage was not given: 0 and 1 were evaluated"},
    };

    for (uint32_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if ((question->unknown & (uint32_t)fields[i].field) != 0)
            add(out, false, fields[i].code, fields[i].text);
    if (out->evaluated > 1)
        add(out, false, "median_of_open_fields",
            "the answer is the combination with the median step among those that fit (all, when "
            "none fits); the interval spans them");
}

static void
note_hardware(const sl_question *question, sl_estimate *out)
{
    const sl_cluster *cluster = question->cluster;
    const sl_accelerator *part = &cluster->accelerator;

    if (part->gemm_origin == SL_ORIGIN_SCALED)
        add(out, true, "products_scaled",
            "matrix products of this part were not measured: the law of the nearest measured part "
            "was scaled by the datasheets");
    else if (part->gemm_origin == SL_ORIGIN_DATASHEET)
        add(out, true, "products_from_datasheet",
            "matrix products of this part are a generic share of the datasheet peak");
    if (part->attention_origin != SL_ORIGIN_MEASURED &&
        out->workload.attention != SL_ATTENTION_UNFUSED)
        add(out, true, "attention_scaled",
            "fused attention of this part was not measured: the nearest law was scaled");
    if (part->collective_origin != SL_ORIGIN_MEASURED && cluster->accelerators_per_node > 1)
        add(out, true, "collectives_scaled",
            "collectives inside a node of this part were not measured: the nearest law was scaled "
            "by the link rate");
    if (part->reserved_assumed)
        add(out, false, "reserved_assumed",
            "what the driver reserves was not read for this part: 1 % of its memory is assumed");
    if (cluster->nics_assumed && cluster->nodes > 1)
        add(out, false, "nics_assumed",
            "network cards were not given: those of the accelerator's reference node are assumed");
    add(out, false, "sustained_clock",
        "kernels are priced at the clock held over hours; the interval spans its stated range");
}

static void
note_model(const sl_question *question, sl_estimate *out)
{
    const sl_model *model = question->model;
    const sl_plan *plan = &out->plan;

    if (model->position_limit > 0 && question->workload.sequence_length > model->position_limit)
        add(out, true, "beyond_declared_context",
            "the sequence is longer than the context the config declares");
    if (plan->tensor > question->cluster->accelerators_per_node &&
        plan->tensor > question->cluster->accelerator.scale_up_domain)
        add(out, true, "tensor_crosses_nodes",
            "the tensor group crosses nodes: its collectives run over the network every layer");
    if (model->kv_heads % plan->tensor != 0)
        add(out, true, "key_values_gathered",
            "fewer key-value heads than tensor ranks: Megatron gathers the mixed projection, a "
            "collective that is not priced");
    if (question->workload.framework == SL_FRAMEWORK_DDP)
        add(out, true, "eager_host",
            "eager DDP may be bound by the host that launches kernels: that lane is not modelled, "
            "small models can take longer");
    if (!out->fits)
        add(out, true, "does_not_fit",
            "the plan needs more device memory than is usable: times are those of a run that "
            "cannot start");
}

void
sl_evaluate_notes(const sl_question *question, sl_estimate *out)
{
    out->note_count = 0;
    note_unknown(question, out);
    note_hardware(question, out);
    note_model(question, out);
    add(out, true, "not_modelled",
        "stragglers, failures, data loading, host-bound launches and contention between "
        "collectives are not modelled yet");
}
