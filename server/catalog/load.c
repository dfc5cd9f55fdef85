/* Rows of the embedded tables into structs. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "catalog/row.h"

const char *const sl_catalog_kernels[SL_ATTENTION_KERNEL_COUNT] = {
    [SL_ATTENTION_UNFUSED] = "unfused", [SL_ATTENTION_FLASH1] = "flash1",
    [SL_ATTENTION_FLASH2] = "flash2",   [SL_ATTENTION_FLASH3] = "flash3",
    [SL_ATTENTION_CUDNN] = "cudnn",     [SL_ATTENTION_EFFICIENT] = "efficient",
};

static sl_code
read_table(sl_catalog *catalog, const sl_embedded_set *files, const char *file, sl_row_reader read,
           sl_errors *err)
{
    const sl_embedded *const found = sl_embedded_find(files, file);
    if (found == NULL)
        return sl_fail(err, SL_E_INTERNAL, "bad_catalog", "", "%s is not compiled in", file);
    sl_row t = {.catalog = catalog, .file = file, .err = err, .code = SL_OK};
    sl_code code = sl_csv_open(&t.csv, (const char *)found->data, found->size, catalog->arena, err);
    bool more = code == SL_OK;
    while (more) {
        code = sl_csv_next(&t.csv, &more, err);
        if (code != SL_OK)
            return code;
        if (more)
            read(&t);
    }
    return code != SL_OK ? code : t.code;
}

static void
add_name(sl_row *t, const char *name, uint32_t part)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->name_count == catalog->name_limit) {
        sl_row_fault(t, "aliases", "there are too many names");
        return;
    }
    sl_name_forms *const forms = &catalog->name_forms[catalog->name_count];
    for (sl_name_form form = 0; form < SL_NAME_FORM_COUNT; form++) {
        char text[SL_CATALOG_NAME_SIZE];
        sl_name_write(form, name, text);
        forms->text[form] = sl_arena_copy(catalog->arena, text);
        if (forms->text[form] == NULL) {
            sl_row_fault(t, "aliases", "does not fit");
            return;
        }
        forms->key[form] = sl_index_key(text);
    }
    catalog->names[catalog->name_count] = name;
    catalog->name_parts[catalog->name_count++] = part;
}

/* Splits the aliases at | and lists them, with id and name, among the names of the part. */
static void
read_names(sl_row *t, sl_part *part, uint32_t index)
{
    sl_catalog *const catalog = t->catalog;
    add_name(t, part->accelerator.id, index);
    add_name(t, part->accelerator.name, index);
    const uint32_t first = catalog->name_count;
    for (const char *at = sl_row_text(t, "aliases"); *at != '\0';) {
        const size_t length = strcspn(at, "|");
        const char *const name = sl_arena_copy_bytes(catalog->arena, at, length);
        if (name == NULL) {
            sl_row_fault(t, "aliases", "does not fit");
            return;
        }
        add_name(t, name, index);
        at += length + (at[length] == '|');
    }
    part->aliases = &catalog->names[first];
    part->alias_count = catalog->name_count - first;
}

/* A total nobody printed is taken as the decimal gigabytes of the name, which promises less than
 * the part has; so is one per cent kept by the driver, which is what the parts read keep. */
static void
read_memory(sl_row *t, sl_part *part)
{
    sl_accelerator *const a = &part->accelerator;
    a->memory_bytes = sl_row_whole(t, "memory_bytes", 1e15);
    a->nominal_bytes = sl_row_whole(t, "nominal_bytes", 1e15);
    part->memory_assumed = a->memory_bytes == 0;
    if (part->memory_assumed)
        a->memory_bytes = a->nominal_bytes;
    if (a->memory_bytes == 0)
        sl_row_fault(t, "memory_bytes", "must be known, at least by name");
    a->reserved_bytes = sl_row_whole(t, "reserved_bytes", 1e15);
    a->reserved_assumed = *sl_row_text(t, "reserved_bytes") == '\0';
    if (a->reserved_assumed)
        a->reserved_bytes = sl_accelerator_reserved_guess(a->memory_bytes);
}

sl_own
sl_row_own(sl_row *t)
{
    return (sl_own){
        .revision = sl_row_whole(t, "revision", 9e15),
        .spec = sl_row_text(t, "spec"),
        .created_at = sl_row_text(t, "created_at"),
        .updated_at = sl_row_text(t, "updated_at"),
    };
}

void
sl_read_part(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->part_count == catalog->part_limit) {
        sl_row_fault(t, "id", "there are too many parts");
        return;
    }
    const uint32_t index = catalog->part_count++;
    sl_part *const part = &catalog->parts[index];
    sl_accelerator *const a = &part->accelerator;
    (void)sl_row_required(t, "id");
    sl_row_copy(t, "id", a->id, sizeof a->id);
    sl_row_copy(t, "name", a->name, sizeof a->name);
    sl_row_copy(t, "vendor", a->vendor, sizeof a->vendor);
    sl_row_copy(t, "arch", a->arch, sizeof a->arch);
    sl_row_copy(t, "source", a->source, sizeof a->source);
    sl_row_copy(t, "provenance", a->provenance, sizeof a->provenance);
    read_memory(t, part);
    a->memory_bytes_per_s = sl_row_number(t, "memory_bytes_per_s");
    a->peak_flops_per_s[SL_PRECISION_BF16] = sl_row_number(t, "bf16_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_FP16] = sl_row_number(t, "fp16_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_TF32] = sl_row_number(t, "tf32_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_FP32] = sl_row_number(t, "fp32_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_FP8] = sl_row_number(t, "fp8_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_MXFP8] = sl_row_number(t, "mxfp8_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_NVFP4] = sl_row_number(t, "nvfp4_flops_per_s");
    a->scale_up_bytes_per_s = sl_row_number(t, "scale_up_bytes_per_s");
    a->scale_up_pair_bytes_per_s = sl_row_number(t, "scale_up_pair_bytes_per_s");
    a->scale_up_domain = sl_row_whole32(t, "scale_up_domain");
    if (a->scale_up_domain == 0)
        sl_row_fault(t, "scale_up_domain", "must be at least 1");
    a->host_bytes_per_s = sl_row_number(t, "host_bytes_per_s");
    a->reducing_ranks = sl_row_whole32(t, "reducing_ranks");
    a->power_w = sl_row_number(t, "power_w");
    a->release_year = sl_row_whole32(t, "release_year");
    a->any_layout = sl_row_flag(t, "any_layout");
    part->status = sl_row_text(t, "status");
    part->scale_up_link = sl_row_text(t, "scale_up_link");
    part->recalled = sl_row_text(t, "recalled");
    part->note = sl_row_text(t, "note");
    part->own = sl_row_own(t);
    part->like = sl_row_text(t, "like");
    part->like_assumed = sl_row_flag(t, "like_assumed");
    part->scaled = sl_row_text(t, "scaled");
    catalog->laws[index] = (sl_law_names){
        .sustained = a->id,
        .gemm = sl_row_text(t, "gemm_law"),
        .attention = sl_row_text(t, "attention_law"),
        .attention_kernels = sl_row_text(t, "attention_kernels"),
        .collective = sl_row_text(t, "collective_law"),
        .achieved_flops_per_s = sl_row_number(t, "achieved_flops_per_s"),
        .achieved_as = sl_row_text(t, "achieved_as"),
    };
    read_names(t, part, index);
}

void
sl_read_node(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->node_count == catalog->node_limit) {
        sl_row_fault(t, "id", "there are too many node types");
        return;
    }
    const char *const accelerator = sl_row_text(t, "accelerator");
    const char *const currency = sl_row_text(t, "price_currency");
    const sl_part *const part = sl_catalog_part_by_id(catalog, accelerator);
    if (part == NULL && *accelerator != '\0')
        sl_row_fault(t, "accelerator", "is not among the accelerators");
    catalog->nodes[catalog->node_count++] = (sl_node_type){
        .id = sl_row_required(t, "id"),
        .aliases = sl_row_text(t, "aliases"),
        .operator_name = sl_row_text(t, "operator"),
        .accelerator = part != NULL ? &part->accelerator : NULL,
        .accelerators = sl_row_whole32(t, "accelerators"),
        .reference = sl_row_whole32(t, "reference") == 1,
        .scale_up_domain = sl_row_whole32(t, "scale_up_domain"),
        .scale_up_pair_bytes_per_s = sl_row_number(t, "scale_up_pair_bytes_per_s"),
        .power_limit_w = sl_row_number(t, "power_limit_w"),
        .nic_count = sl_row_whole32(t, "nic_count"),
        .nic_bytes_per_s = sl_row_number(t, "nic_bytes_per_s"),
        .nic_kind = sl_row_text(t, "nic_kind"),
        .amd_host = sl_text_equal(sl_row_text(t, "host_cpu"), "amd"),
        .host_memory_bytes = sl_row_whole(t, "host_memory_bytes", 1e15),
        .vcpus = sl_row_whole32(t, "vcpus"),
        .price_per_node_hour = sl_row_number(t, "price_per_node_hour"),
        .price_currency = *currency != '\0' ? currency : "USD",
        .price_date = sl_row_text(t, "price_date"),
        .source = sl_row_text(t, "source"),
        .provenance = sl_row_text(t, "provenance"),
        .recalled = sl_row_text(t, "recalled"),
        .note = sl_row_text(t, "note"),
        .own = sl_row_own(t),
    };
}

static void
read_source(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->source_count == SL_CATALOG_SOURCES_MAX) {
        sl_row_fault(t, "code", "there are too many sources");
        return;
    }
    catalog->sources[catalog->source_count++] = (sl_source){
        .code = sl_row_required(t, "code"),
        .where = sl_row_required(t, "where"),
        .what = sl_row_required(t, "what"),
    };
}

/* Values of one field of one part stand together: that is how they are handed out. */
static void
read_conflict(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->conflict_count == SL_CATALOG_CONFLICTS_MAX) {
        sl_row_fault(t, "part", "there are too many values");
        return;
    }
    const sl_conflict read = {
        .id = sl_row_required(t, "part"),
        .field = sl_row_required(t, "field"),
        .value = sl_row_number(t, "value"),
        .source = sl_row_required(t, "source"),
        .why = sl_row_text(t, "why"),
    };
    if (catalog->conflict_count == 0 ||
        !sl_text_equal(catalog->conflicts[catalog->conflict_count - 1].id, read.id))
        for (uint32_t i = 0; i < catalog->conflict_count; i++)
            if (sl_text_equal(catalog->conflicts[i].id, read.id))
                sl_row_fault(t, "part", "must stand beside its other rows");
    (void)sl_row_required(t, "value");
    catalog->conflicts[catalog->conflict_count++] = read;
}

static int
read_attention(sl_row *t)
{
    const char *const field = sl_row_text(t, "attention");
    const int kernel = sl_text_index(field, sl_catalog_kernels, SL_ATTENTION_KERNEL_COUNT);
    if (kernel < 0 && *field != '\0')
        sl_row_fault(t, "attention", "is not a kernel we know");
    return kernel;
}

static int
read_dropout(sl_row *t)
{
    const char *const field = sl_row_text(t, "dropout");
    if (sl_text_equal(field, "-1"))
        return -1;
    return sl_row_whole32(t, "dropout") == 1;
}

/* A column that holds one of a few words, numbered as the enumeration is. */
static uint32_t
read_word(sl_row *t, const char *column, const char *const *words, size_t count, const char *fault)
{
    const int word = sl_text_index(sl_row_text(t, column), words, count);

    if (word < 0)
        sl_row_fault(t, column, fault);
    return word < 0 ? 0 : (uint32_t)word;
}

static sl_norm_keeps
read_norm_keeps(sl_row *t)
{
    static const char *const words[] = {[SL_NORM_KEEPS_INPUT] = "input",
                                        [SL_NORM_KEEPS_CAST] = "cast",
                                        [SL_NORM_KEEPS_WIDE] = "wide"};
    return read_word(t, "norm_keeps", words, sizeof words / sizeof words[0],
                     "is not input, cast or wide");
}

static sl_root_keeps
read_root_keeps(sl_row *t)
{
    static const char *const words[] = {
        [SL_ROOT_KEEPS_ALL] = "all", [SL_ROOT_KEEPS_HEAD] = "head", [SL_ROOT_KEEPS_NONE] = "none"};
    return read_word(t, "root_keeps", words, sizeof words / sizeof words[0],
                     "is not all, head or none");
}

static sl_apart
read_apart(sl_row *t)
{
    static const char *const words[] = {[SL_APART_NEVER] = "never",
                                        [SL_APART_ALWAYS] = "always",
                                        [SL_APART_WITHOUT_FP4] = "without_fp4",
                                        [SL_APART_LOOPED] = "looped"};
    return read_word(t, "experts_apart", words, sizeof words / sizeof words[0],
                     "is not never, always, without_fp4 or looped");
}

static void
read_software(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->software_count == SL_CATALOG_SOFTWARE_MAX) {
        sl_row_fault(t, "name", "there are too many profiles");
        return;
    }
    sl_software *const s = &catalog->software[catalog->software_count];
    sl_row_copy(t, "name", s->name, sizeof s->name);
    sl_row_copy(t, "framework", s->framework, sizeof s->framework);
    sl_row_copy(t, "date", s->date, sizeof s->date);
    s->year = (uint32_t)strtoul(s->date, NULL, 10); /* the digits before the dash */
    sl_row_copy(t, "source", s->source, sizeof s->source);
    s->attention = read_attention(t);
    s->dropout = read_dropout(t);
    s->streaming.norm_ratio = sl_row_number(t, "norm_ratio");
    s->streaming.activation_ratio = sl_row_number(t, "activation_ratio");
    s->streaming.rotary_ratio = sl_row_number(t, "rotary_ratio");
    s->streaming.softmax_ratio = sl_row_number(t, "softmax_ratio");
    s->streaming.residual_ratio = sl_row_number(t, "residual_ratio");
    s->loss_fused = sl_row_flag(t, "loss_fused");
    s->metrics_entropies = sl_row_number(t, "metrics_entropies");
    s->logits_peak_bytes = sl_row_number(t, "logits_peak_bytes");
    s->fused_logits_peak_bytes = sl_row_number(t, "fused_logits_peak_bytes");
    s->chunked_logits_peak_bytes = sl_row_number(t, "chunked_logits_peak_bytes");
    s->loss_chunked = sl_row_flag(t, "loss_chunked");
    s->loss_compiled = sl_row_flag(t, "loss_compiled");
    s->holds_logits = sl_row_flag(t, "holds_logits");
    s->fragmentation_ratio = sl_row_number(t, "fragmentation_ratio");
    s->fragmentation_low_ratio = sl_row_number(t, "fragmentation_low_ratio");
    s->fragmentation_high_ratio = sl_row_number(t, "fragmentation_high_ratio");
    s->eager_activations = sl_row_flag(t, "eager_activations");
    s->norm_keeps = read_norm_keeps(t);
    s->gradients_stay = sl_row_flag(t, "gradients_stay");
    s->cuts_experts = sl_row_flag(t, "cuts_experts");
    s->stepped_stay = sl_row_flag(t, "stepped_stay");
    s->root_keeps = read_root_keeps(t);
    s->calls_flash_attn = sl_row_flag(t, "calls_flash_attn");
    s->relays_outputs = 1.0; /* SDPA's way */
    s->repeats_keys = sl_row_number(t, "repeats_keys");
    s->traced_sharding = sl_row_flag(t, "traced_sharding");
    s->exchange_kept = sl_row_flag(t, "exchange_kept");
    s->sums_kept = sl_row_flag(t, "sums_kept");
    s->rebuild_stops = sl_row_flag(t, "rebuild_stops");
    s->splits_products = sl_row_flag(t, "splits_products");
    s->gradient_accumulation_fusion = sl_row_number(t, "gradient_accumulation_fusion");
    s->dummy_weight_gradients = sl_row_flag(t, "dummy_weight_gradients");
    s->pytorch_workspaces = sl_row_number(t, "pytorch_workspaces");
    s->engine_workspaces = sl_row_number(t, "engine_workspaces");
    s->expert_workspaces = sl_row_number(t, "expert_workspaces");
    s->sequence_first = sl_row_flag(t, "sequence_first");
    s->masks_whole = sl_row_flag(t, "masks_whole");
    s->lists_parts = sl_row_flag(t, "lists_parts");
    s->whole_owners = sl_row_flag(t, "whole_owners");
    s->divides_in_groups = sl_row_flag(t, "divides_in_groups");
    s->named_only = sl_row_flag(t, "named_only");
    s->on_deepspeed = sl_row_flag(t, "on_deepspeed");
    s->double_buffers = sl_row_flag(t, "double_buffers");
    s->own_bf16 = sl_row_flag(t, "own_bf16");
    s->overlap_gradient_reduce = sl_row_flag(t, "overlap_gradient_reduce");
    s->overlap_parameter_gather = sl_row_flag(t, "overlap_parameter_gather");
    s->splits_sequence = sl_row_flag(t, "splits_sequence");
    s->regathers_inputs = sl_row_flag(t, "regathers_inputs");
    s->gathers_heads = sl_row_flag(t, "gathers_heads");
    s->scatter_sends = sl_row_flag(t, "scatter_sends");
    s->overlap_pipeline = sl_row_flag(t, "overlap_pipeline");
    s->overlap_tensor_backward = sl_row_flag(t, "overlap_tensor_backward");
    s->overlap_loss_ratio = sl_row_number(t, "overlap_loss_ratio");
    s->step_overhead_s = sl_row_number(t, "step_overhead_s");
    s->step_lists = sl_row_number(t, "step_lists");
    s->sends_once = sl_row_flag(t, "sends_once");
    s->route_forward_bytes = sl_row_number(t, "route_forward_bytes");
    s->route_backward_bytes = sl_row_number(t, "route_backward_bytes");
    s->deals_in_turn = sl_row_flag(t, "deals_in_turn");
    s->experts_apart = read_apart(t);
    s->host_operator_s = sl_row_number(t, "host_operator_s");
    s->expert_operator_s = sl_row_number(t, "expert_operator_s");
    s->module_operators = sl_row_number(t, "module_operators");
    s->unit_operators = sl_row_number(t, "unit_operators");
    catalog->software_aliases[catalog->software_count++] = sl_row_text(t, "aliases");
}

static void
read_sustained(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->sustained_count == SL_CATALOG_ARCHES_MAX) {
        sl_row_fault(t, "part", "there are too many parts");
        return;
    }
    catalog->sustained[catalog->sustained_count++] = (sl_sustained){
        .part = sl_row_required(t, "part"),
        .ratio = sl_row_number(t, "sustained_ratio"),
        .low_ratio = sl_row_number(t, "low_ratio"),
        .high_ratio = sl_row_number(t, "high_ratio"),
    };
}

static void
read_workspace(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->workspace_count == SL_CATALOG_ARCHES_MAX) {
        sl_row_fault(t, "arch", "there are too many architectures");
        return;
    }
    catalog->workspaces[catalog->workspace_count++] = (sl_workspace_row){
        .arch = sl_row_required(t, "arch"),
        .pytorch_bytes = sl_row_number(t, "pytorch_bytes"),
        .engine_bytes = sl_row_number(t, "transformer_engine_bytes"),
    };
    (void)sl_row_required(t, "source");
}

static void
read_fabric(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->fabric_count == SL_CATALOG_FABRICS_MAX) {
        sl_row_fault(t, "kind", "there are too many kinds of network");
        return;
    }
    sl_fabric_row *const row = &catalog->fabrics[catalog->fabric_count++];
    row->aliases = sl_row_text(t, "aliases");
    row->fabric = (sl_fabric){
        .line_rate_ratio = sl_row_number(t, "line_rate_ratio"),
        .pair_rate_ratio = sl_row_number(t, "pair_rate_ratio"),
        .latency_ratio = sl_row_number(t, "latency_ratio"),
        .small_ratio = sl_row_number(t, "small_ratio"),
        .small_bytes = sl_row_number(t, "small_bytes"),
        .congestion_ratio = sl_row_number(t, "congestion_ratio"),
        .large_congestion_ratio = sl_row_number(t, "large_congestion_ratio"),
        .ring_only = sl_row_flag(t, "ring_only"),
        .guessed = sl_text_equal(sl_row_required(t, "basis"), "guess"),
        .low_ratio = sl_row_number(t, "low_ratio"),
        .high_ratio = sl_row_number(t, "high_ratio"),
    };
    (void)sl_row_required(t, "source");
    sl_row_copy(t, "kind", row->fabric.kind, sizeof row->fabric.kind);
}

sl_code
sl_catalog_load(sl_catalog *catalog, const sl_embedded_set *files, sl_errors *err)
{
    assert(catalog != NULL && files != NULL && err != NULL);

    /* Accelerators first: the other tables name them. */
    static const struct {
        const char *file;
        sl_row_reader read;
    } tables[] = {
        {"sources.csv", read_source},
        {"accelerators.csv", sl_read_part},
        {"nodes.csv", sl_read_node},
        {"conflicts.csv", read_conflict},
        {"gemm_laws.csv", sl_read_gemm_law},
        {"gemm_surfaces.csv", sl_read_gemm_surface},
        {"attention_laws.csv", sl_read_attention_law},
        {"collective_laws.csv", sl_read_collective_law},
        {"fabrics.csv", read_fabric},
        {"sustained.csv", read_sustained},
        {"workspaces.csv", read_workspace},
        {"software.csv", read_software},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const sl_code code = read_table(catalog, files, tables[i].file, tables[i].read, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}
