/* Rows of the embedded tables into structs. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/text.h"
#include "catalog/internal.h"
#include "engine/surface.h"

const char *const sl_catalog_kernels[SL_ATTENTION_KERNEL_COUNT] = {
    [SL_ATTENTION_UNFUSED] = "unfused", [SL_ATTENTION_FLASH1] = "flash1",
    [SL_ATTENTION_FLASH2] = "flash2",   [SL_ATTENTION_FLASH3] = "flash3",
    [SL_ATTENTION_CUDNN] = "cudnn",
};

/* One table being read. A fault of a field sets `code` and reading goes on, so that one run names
 * every fault of a table. */
typedef struct table {
    sl_catalog *catalog;
    const char *file;
    sl_csv csv;
    sl_errors *err;
    sl_code code;
} table;

static void
fault(table *t, const char *column, const char *what)
{
    t->code = sl_fail(t->err, SL_E_INTERNAL, "bad_catalog", "", "%s line %u, %s: %s", t->file,
                      t->csv.line, column, what);
}

static double
number(table *t, const char *column)
{
    double value = 0;
    const sl_code code = sl_csv_number(&t->csv, column, 0, &value, t->err);
    if (code != SL_OK)
        t->code = code;
    if (value < 0)
        fault(t, column, "must not be negative");
    return value;
}

static uint64_t
whole(table *t, const char *column, double max)
{
    const double value = number(t, column);
    if (value > max || floor(value) != value) {
        fault(t, column, "must be a whole number in range");
        return 0;
    }
    return (uint64_t)value;
}

static uint32_t
whole32(table *t, const char *column)
{
    return (uint32_t)whole(t, column, 1e9);
}

static const char *
text(table *t, const char *column)
{
    return sl_csv_get(&t->csv, column);
}

static void
copy(table *t, const char *column, char *to, size_t size)
{
    if (!sl_text_copy(to, size, text(t, column)))
        fault(t, column, "is too long");
}

static const char *
required(table *t, const char *column)
{
    const char *const field = text(t, column);
    if (*field == '\0')
        fault(t, column, "must not be empty");
    return field;
}

typedef void (*row_reader)(table *t);

static sl_code
read_table(sl_catalog *catalog, const sl_embedded_set *files, const char *file, row_reader read,
           sl_errors *err)
{
    const sl_embedded *const found = sl_embedded_find(files, file);
    if (found == NULL)
        return sl_fail(err, SL_E_INTERNAL, "bad_catalog", "", "%s is not compiled in", file);
    table t = {.catalog = catalog, .file = file, .err = err, .code = SL_OK};
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
add_name(table *t, const char *name, uint32_t part)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->name_count == SL_CATALOG_NAMES_MAX) {
        fault(t, "aliases", "there are too many names");
        return;
    }
    catalog->names[catalog->name_count] = name;
    catalog->name_parts[catalog->name_count++] = part;
}

/* Splits the aliases at | and lists them, with id and name, among the names of the part. */
static void
read_names(table *t, sl_part *part, uint32_t index)
{
    sl_catalog *const catalog = t->catalog;
    add_name(t, part->accelerator.id, index);
    add_name(t, part->accelerator.name, index);
    const uint32_t first = catalog->name_count;
    for (const char *at = text(t, "aliases"); *at != '\0';) {
        const size_t length = strcspn(at, "|");
        const char *const name = sl_arena_copy_bytes(catalog->arena, at, length);
        if (name == NULL) {
            fault(t, "aliases", "does not fit");
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
read_memory(table *t, sl_accelerator *a)
{
    a->memory_bytes = whole(t, "memory_bytes", 1e15);
    a->nominal_bytes = whole(t, "nominal_bytes", 1e15);
    if (a->memory_bytes == 0)
        a->memory_bytes = a->nominal_bytes;
    if (a->memory_bytes == 0)
        fault(t, "memory_bytes", "must be known, at least by name");
    a->reserved_bytes = whole(t, "reserved_bytes", 1e15);
    a->reserved_assumed = a->reserved_bytes == 0;
    if (a->reserved_assumed)
        a->reserved_bytes = a->memory_bytes / 100;
}

static void
read_part(table *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->part_count == SL_CATALOG_PARTS_MAX) {
        fault(t, "id", "there are too many parts");
        return;
    }
    const uint32_t index = catalog->part_count++;
    sl_part *const part = &catalog->parts[index];
    sl_accelerator *const a = &part->accelerator;
    (void)required(t, "id");
    copy(t, "id", a->id, sizeof a->id);
    copy(t, "name", a->name, sizeof a->name);
    copy(t, "vendor", a->vendor, sizeof a->vendor);
    copy(t, "arch", a->arch, sizeof a->arch);
    copy(t, "source", a->source, sizeof a->source);
    copy(t, "provenance", a->provenance, sizeof a->provenance);
    read_memory(t, a);
    a->memory_bytes_per_s = number(t, "memory_bytes_per_s");
    a->peak_flops_per_s[SL_PRECISION_BF16] = number(t, "bf16_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_FP16] = number(t, "fp16_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_TF32] = number(t, "tf32_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_FP32] = number(t, "fp32_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_FP8] = number(t, "fp8_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_MXFP8] = number(t, "mxfp8_flops_per_s");
    a->peak_flops_per_s[SL_PRECISION_NVFP4] = number(t, "nvfp4_flops_per_s");
    a->scale_up_bytes_per_s = number(t, "scale_up_bytes_per_s");
    a->scale_up_domain = whole32(t, "scale_up_domain");
    if (a->scale_up_domain == 0)
        fault(t, "scale_up_domain", "must be at least 1");
    a->host_bytes_per_s = number(t, "host_bytes_per_s");
    a->reducing_ranks = whole32(t, "reducing_ranks");
    a->power_w = number(t, "power_w");
    a->release_year = whole32(t, "release_year");
    part->status = text(t, "status");
    part->scale_up_link = text(t, "scale_up_link");
    part->recalled = text(t, "recalled");
    part->note = text(t, "note");
    catalog->laws[index] = (sl_law_names){
        .gemm = text(t, "gemm_law"),
        .attention = text(t, "attention_law"),
        .attention_kernels = text(t, "attention_kernels"),
        .collective = text(t, "collective_law"),
        .achieved_flops_per_s = number(t, "achieved_flops_per_s"),
    };
    read_names(t, part, index);
}

static void
read_node(table *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->node_count == SL_CATALOG_NODES_MAX) {
        fault(t, "id", "there are too many node types");
        return;
    }
    const char *const accelerator = text(t, "accelerator");
    const sl_part *const part = sl_catalog_part_by_id(catalog, accelerator);
    if (part == NULL && *accelerator != '\0')
        fault(t, "accelerator", "is not among the accelerators");
    catalog->nodes[catalog->node_count++] = (sl_node_type){
        .id = required(t, "id"),
        .aliases = text(t, "aliases"),
        .operator_name = text(t, "operator"),
        .accelerator = part != NULL ? &part->accelerator : NULL,
        .accelerators = whole32(t, "accelerators"),
        .reference = whole32(t, "reference") == 1,
        .scale_up_domain = whole32(t, "scale_up_domain"),
        .nic_count = whole32(t, "nic_count"),
        .nic_bytes_per_s = number(t, "nic_bytes_per_s"),
        .nic_kind = text(t, "nic_kind"),
        .amd_host = sl_text_equal(text(t, "host_cpu"), "amd"),
        .host_memory_bytes = whole(t, "host_memory_bytes", 1e15),
        .vcpus = whole32(t, "vcpus"),
        .price_per_node_hour_usd = number(t, "price_per_node_hour_usd"),
        .price_date = text(t, "price_date"),
        .source = text(t, "source"),
        .provenance = text(t, "provenance"),
        .note = text(t, "note"),
    };
}

static int
read_attention(table *t)
{
    const char *const field = text(t, "attention");
    const int kernel = sl_text_index(field, sl_catalog_kernels, SL_ATTENTION_KERNEL_COUNT);
    if (kernel < 0 && *field != '\0')
        fault(t, "attention", "is not a kernel we know");
    return kernel;
}

static int
read_dropout(table *t)
{
    const char *const field = text(t, "dropout");
    if (sl_text_equal(field, "-1"))
        return -1;
    return whole32(t, "dropout") == 1;
}

static sl_apart
read_apart(table *t)
{
    static const char *const words[] = {"never", "always", "without_fp4"};
    const int word = sl_text_index(text(t, "experts_apart"), words, sizeof words / sizeof words[0]);

    if (word < 0)
        fault(t, "experts_apart", "is not never, always or without_fp4");
    return word < 0 ? SL_APART_NEVER : (sl_apart)word;
}

static bool
flag(table *t, const char *column)
{
    return whole32(t, column) == 1;
}

static void
read_software(table *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->software_count == SL_CATALOG_SOFTWARE_MAX) {
        fault(t, "name", "there are too many profiles");
        return;
    }
    sl_software *const s = &catalog->software[catalog->software_count];
    copy(t, "name", s->name, sizeof s->name);
    copy(t, "framework", s->framework, sizeof s->framework);
    copy(t, "date", s->date, sizeof s->date);
    s->year = (uint32_t)strtoul(s->date, NULL, 10); /* the digits before the dash */
    copy(t, "source", s->source, sizeof s->source);
    s->attention = read_attention(t);
    s->dropout = read_dropout(t);
    s->streaming.norm_ratio = number(t, "norm_ratio");
    s->streaming.activation_ratio = number(t, "activation_ratio");
    s->streaming.rotary_ratio = number(t, "rotary_ratio");
    s->streaming.softmax_ratio = number(t, "softmax_ratio");
    s->streaming.residual_ratio = number(t, "residual_ratio");
    s->loss_forward_bytes_per_logit = number(t, "loss_forward_bytes_per_logit");
    s->loss_backward_bytes_per_logit = number(t, "loss_backward_bytes_per_logit");
    s->logits_peak_bytes = number(t, "logits_peak_bytes");
    s->fused_logits_peak_bytes = number(t, "fused_logits_peak_bytes");
    s->chunked_logits_peak_bytes = number(t, "chunked_logits_peak_bytes");
    s->loss_compiled = flag(t, "loss_compiled");
    s->fragmentation_ratio = number(t, "fragmentation_ratio");
    s->fragmentation_low_ratio = number(t, "fragmentation_low_ratio");
    s->fragmentation_high_ratio = number(t, "fragmentation_high_ratio");
    s->eager_activations = flag(t, "eager_activations");
    s->traced_sharding = flag(t, "traced_sharding");
    s->exchange_kept = flag(t, "exchange_kept");
    s->weight_gradient_fused = flag(t, "weight_gradient_fused");
    s->dummy_weight_gradients = flag(t, "dummy_weight_gradients");
    s->single_rail = flag(t, "single_rail");
    s->overlap_gradient_reduce = flag(t, "overlap_gradient_reduce");
    s->overlap_parameter_gather = flag(t, "overlap_parameter_gather");
    s->splits_sequence = flag(t, "splits_sequence");
    s->scatter_sends = flag(t, "scatter_sends");
    s->overlap_pipeline = flag(t, "overlap_pipeline");
    s->overlap_tensor_backward = flag(t, "overlap_tensor_backward");
    s->overlap_loss_ratio = number(t, "overlap_loss_ratio");
    s->step_overhead_s = number(t, "step_overhead_s");
    s->sends_once = flag(t, "sends_once");
    s->experts_apart = read_apart(t);
    s->host_operator_s = number(t, "host_operator_s");
    catalog->software_aliases[catalog->software_count++] = text(t, "aliases");
}

static void
read_sustained(table *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->sustained_count == SL_CATALOG_ARCHES_MAX) {
        fault(t, "part", "there are too many parts");
        return;
    }
    catalog->sustained[catalog->sustained_count++] = (sl_sustained){
        .part = required(t, "part"),
        .ratio = number(t, "sustained_ratio"),
        .low_ratio = number(t, "low_ratio"),
        .high_ratio = number(t, "high_ratio"),
    };
}

static void
read_fabric(table *t)
{
    sl_catalog *const catalog = t->catalog;
    if (catalog->fabric_count == SL_CATALOG_FABRICS_MAX) {
        fault(t, "kind", "there are too many kinds of network");
        return;
    }
    sl_fabric_row *const row = &catalog->fabrics[catalog->fabric_count++];
    row->aliases = text(t, "aliases");
    row->fabric = (sl_fabric){
        .line_rate_ratio = number(t, "line_rate_ratio"),
        .pair_rate_ratio = number(t, "pair_rate_ratio"),
        .latency_ratio = number(t, "latency_ratio"),
        .small_ratio = number(t, "small_ratio"),
        .small_bytes = number(t, "small_bytes"),
        .congestion_ratio = number(t, "congestion_ratio"),
        .large_congestion_ratio = number(t, "large_congestion_ratio"),
        .ring_only = flag(t, "ring_only"),
        .guessed = sl_text_equal(required(t, "basis"), "guess"),
        .low_ratio = number(t, "low_ratio"),
        .high_ratio = number(t, "high_ratio"),
    };
    (void)required(t, "source");
    copy(t, "kind", row->fabric.kind, sizeof row->fabric.kind);
}

static sl_accelerator *
law_owner(table *t)
{
    sl_part *const part = sl_catalog_part_by_id(t->catalog, required(t, "part"));
    if (part == NULL)
        fault(t, "part", "is not among the accelerators");
    return part != NULL ? &part->accelerator : NULL;
}

static sl_gemm_law *
law_named(table *t, sl_accelerator *a)
{
    static const char *const precisions[] = {"fp8", "fp8_kept", "nvfp4", "bf16"};
    _Static_assert(sizeof precisions / sizeof precisions[0] == SL_LOW_PRODUCT_COUNT + 1,
                   "a word for each law");
    const int low = sl_text_index(required(t, "precision"), precisions, SL_LOW_PRODUCT_COUNT + 1);

    if (low < 0) {
        fault(t, "precision", "is none of bf16, fp8, fp8_kept and nvfp4");
        return NULL;
    }
    return low < SL_LOW_PRODUCT_COUNT ? &a->low_gemm[low] : &a->gemm;
}

static void
read_gemm_law(table *t)
{
    sl_accelerator *const a = law_owner(t);
    if (a == NULL)
        return;
    sl_gemm_law *const law = law_named(t, a);
    if (law == NULL)
        return;
    *law = (sl_gemm_law){
        .multiprocessors = number(t, "multiprocessors"),
        .peak_flops_per_s = number(t, "peak_flops_per_s"),
        .prologue_k = number(t, "prologue_k"),
        .launch_s = number(t, "launch_s"),
        .bandwidth_bytes_per_s = number(t, "bandwidth_bytes_per_s"),
        .rate_128x128_ratio = number(t, "rate_128x128_ratio"),
        .rate_128x64_ratio = number(t, "rate_128x64_ratio"),
        .rate_64x64_ratio = number(t, "rate_64x64_ratio"),
        .cast_values_per_s = number(t, "cast_values_per_s"),
        .hot_ratio = number(t, "hot_ratio"),
        .hot_flops = number(t, "hot_flops"),
    };
}

/* Of a law; a flat one where it has none yet. */
static sl_gemm_surface *
surface_of(table *t, sl_gemm_law *law)
{
    sl_catalog *const catalog = t->catalog;

    for (uint32_t i = 0; i < catalog->surface_count; i++)
        if (law->surface == &catalog->surfaces[i])
            return &catalog->surfaces[i];
    if (catalog->surface_count == SL_CATALOG_SURFACES_MAX) {
        fault(t, "part", "there are too many surfaces");
        return NULL;
    }
    sl_gemm_surface *const surface = &catalog->surfaces[catalog->surface_count++];
    for (uint32_t n = 0; n < SL_SURFACE_COLUMNS; n++)
        for (uint32_t k = 0; k < SL_SURFACE_DEPTHS; k++)
            for (uint32_t m = 0; m < SL_SURFACE_ROWS; m++)
                surface->ratio[n][k][m] = 1.0;
    law->surface = surface;
    return surface;
}

static uint32_t
node_named(table *t, const char *column, const double *nodes, uint32_t count)
{
    const double value = number(t, column);
    uint32_t i = 0;

    while (i < count && nodes[i] != value)
        i++;
    if (i == count)
        fault(t, column, "is no node of a surface");
    return i;
}

static void
read_gemm_surface(table *t)
{
    static const char *const columns[SL_SURFACE_ROWS] = {"rows_16",   "rows_128",  "rows_512",
                                                         "rows_2048", "rows_8192", "rows_32768"};
    sl_accelerator *const a = law_owner(t);
    sl_gemm_law *const law = a != NULL ? law_named(t, a) : NULL;
    sl_gemm_surface *const surface = law != NULL ? surface_of(t, law) : NULL;
    const uint32_t n = node_named(t, "n", sl_surface_columns, SL_SURFACE_COLUMNS);
    const uint32_t k = node_named(t, "k", sl_surface_depths, SL_SURFACE_DEPTHS);

    if (surface == NULL || n == SL_SURFACE_COLUMNS || k == SL_SURFACE_DEPTHS)
        return;
    for (uint32_t m = 0; m < SL_SURFACE_ROWS; m++) {
        const double ratio = number(t, columns[m]);
        if (ratio < 0.1 || ratio > 10.0)
            fault(t, columns[m], "must be from 0.1 to 10");
        surface->ratio[n][k][m] = ratio;
    }
    if (law == &a->gemm)
        a->gemm_origin = SL_ORIGIN_INTERPOLATED;
}

/* One row that another part had a hand in decides what the laws of a part are called. */
static void
weaken(table *t, sl_origin *origin)
{
    if (sl_text_equal(required(t, "basis"), "scaled"))
        *origin = SL_ORIGIN_SCALED;
}

static void
read_attention_law(table *t)
{
    sl_accelerator *const a = law_owner(t);
    const int kernel =
        sl_text_index(required(t, "kernel"), sl_catalog_kernels, SL_ATTENTION_KERNEL_COUNT);
    if (a == NULL || kernel < 0) {
        fault(t, "kernel", "is not a kernel we know");
        return;
    }
    uint32_t slot = 0;
    while (slot < SL_ATTENTION_WIDTHS_MAX && a->attention[kernel][slot].head_dim != 0)
        slot++;
    if (slot == SL_ATTENTION_WIDTHS_MAX) {
        fault(t, "head_dim", "there are too many widths");
        return;
    }
    a->attention[kernel][slot] = (sl_attention_laws){
        .head_dim = whole32(t, "head_dim"),
        .forward = {number(t, "forward_peak_flops_per_s"), number(t, "forward_half_length"),
                    number(t, "forward_launch_s")},
        .backward = {number(t, "backward_peak_flops_per_s"), number(t, "backward_half_length"),
                     number(t, "backward_launch_s")},
    };
    weaken(t, &a->attention_origin);
}

static void
read_collective_law(table *t)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                        "send_receive", "all_to_all"};
    _Static_assert(sizeof names / sizeof names[0] == SL_COLLECTIVE_BROADCAST,
                   "every collective with a law has a name");
    sl_accelerator *const a = law_owner(t);
    const int collective = sl_text_index(required(t, "collective"), names, SL_COLLECTIVE_BROADCAST);
    static const uint32_t sizes[SL_COLLECTIVE_SIZES] = {2, 4, 8, 72};
    const uint32_t ranks = whole32(t, "ranks");
    uint32_t size = 0;
    while (size < SL_COLLECTIVE_SIZES && sizes[size] != ranks)
        size++;
    if (a == NULL || collective < 0 || size == SL_COLLECTIVE_SIZES) {
        fault(t, "collective", "is not one we know over 2, 4, 8 or 72 ranks");
        return;
    }
    const sl_collective_law law = {number(t, "latency_s"), number(t, "bus_bytes_per_s"),
                                   number(t, "ramp_s_per_sqrt_byte")};
    a->collective[collective][size] = law;
    weaken(t, &a->collective_origin);
}

sl_code
sl_catalog_load(sl_catalog *catalog, const sl_embedded_set *files, sl_errors *err)
{
    assert(catalog != NULL && files != NULL && err != NULL);

    /* Accelerators first: the other tables name them. */
    static const struct {
        const char *file;
        row_reader read;
    } tables[] = {
        {"accelerators.csv", read_part},
        {"nodes.csv", read_node},
        {"gemm_laws.csv", read_gemm_law},
        {"gemm_surfaces.csv", read_gemm_surface},
        {"attention_laws.csv", read_attention_law},
        {"collective_laws.csv", read_collective_law},
        {"fabrics.csv", read_fabric},
        {"sustained.csv", read_sustained},
        {"software.csv", read_software},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const sl_code code = read_table(catalog, files, tables[i].file, tables[i].read, err);
        if (code != SL_OK)
            return code;
    }
    return SL_OK;
}
