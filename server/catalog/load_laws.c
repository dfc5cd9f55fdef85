/* Rows of measured laws into the parts they were fitted on. */
#include <assert.h>

#include "base/text.h"
#include "catalog/row.h"
#include "engine/price/surface.h"

static sl_accelerator *
law_owner(sl_row *t)
{
    sl_part *const part = sl_catalog_part_by_id(t->catalog, sl_row_required(t, "part"));
    if (part == NULL)
        sl_row_fault(t, "part", "is not among the accelerators");
    return part != NULL ? &part->accelerator : NULL;
}

static sl_gemm_law *
law_named(sl_row *t, sl_accelerator *a)
{
    static const char *const precisions[] = {"fp8", "fp8_kept", "nvfp4", "bf16"};
    _Static_assert(sizeof precisions / sizeof precisions[0] == SL_LOW_PRODUCT_COUNT + 1,
                   "a word for each law");
    const int low =
        sl_text_index(sl_row_required(t, "precision"), precisions, SL_LOW_PRODUCT_COUNT + 1);

    if (low < 0) {
        sl_row_fault(t, "precision", "is none of bf16, fp8, fp8_kept and nvfp4");
        return NULL;
    }
    return low < SL_LOW_PRODUCT_COUNT ? &a->low_gemm[low] : &a->gemm;
}

void
sl_read_gemm_law(sl_row *t)
{
    sl_accelerator *const a = law_owner(t);
    if (a == NULL)
        return;
    sl_gemm_law *const law = law_named(t, a);
    if (law == NULL)
        return;
    *law = (sl_gemm_law){
        .multiprocessors = sl_row_number(t, "multiprocessors"),
        .peak_flops_per_s = sl_row_number(t, "peak_flops_per_s"),
        .prologue_k = sl_row_number(t, "prologue_k"),
        .launch_s = sl_row_number(t, "launch_s"),
        .bandwidth_bytes_per_s = sl_row_number(t, "bandwidth_bytes_per_s"),
        .rate_128x128_ratio = sl_row_number(t, "rate_128x128_ratio"),
        .rate_128x64_ratio = sl_row_number(t, "rate_128x64_ratio"),
        .rate_64x64_ratio = sl_row_number(t, "rate_64x64_ratio"),
        .words_rate_ratio = sl_row_number(t, "words_rate_ratio"),
        .unaligned_rate_ratio = sl_row_number(t, "unaligned_rate_ratio"),
        .cast_values_per_s = sl_row_number(t, "cast_values_per_s"),
        .hot_ratio = sl_row_number(t, "hot_ratio"),
        .hot_flops = sl_row_number(t, "hot_flops"),
    };
}

/* Of a law; a flat one where it has none yet. */
static sl_gemm_surface *
surface_of(sl_row *t, sl_gemm_law *law)
{
    sl_catalog *const catalog = t->catalog;

    for (uint32_t i = 0; i < catalog->surface_count; i++)
        if (law->surface == &catalog->surfaces[i])
            return &catalog->surfaces[i];
    if (catalog->surface_count == SL_CATALOG_SURFACES_MAX) {
        sl_row_fault(t, "part", "there are too many surfaces");
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
node_named(sl_row *t, const char *column, const double *nodes, uint32_t count)
{
    const double value = sl_row_number(t, column);
    uint32_t i = 0;

    while (i < count && nodes[i] != value)
        i++;
    if (i == count)
        sl_row_fault(t, column, "is no node of a surface");
    return i;
}

void
sl_read_gemm_surface(sl_row *t)
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
        const double ratio = sl_row_number(t, columns[m]);
        if (ratio < 0.1 || ratio > 10.0)
            sl_row_fault(t, columns[m], "must be from 0.1 to 10");
        surface->ratio[n][k][m] = ratio;
    }
    if (law == &a->gemm)
        a->gemm_origin = SL_ORIGIN_INTERPOLATED;
}

/* One row that another part had a hand in decides what the laws of a part are called. */
static void
weaken(sl_row *t, sl_origin *origin)
{
    if (sl_text_equal(sl_row_required(t, "basis"), "scaled"))
        *origin = SL_ORIGIN_SCALED;
}

void
sl_read_attention_law(sl_row *t)
{
    sl_accelerator *const a = law_owner(t);
    const int kernel =
        sl_text_index(sl_row_required(t, "kernel"), sl_catalog_kernels, SL_ATTENTION_KERNEL_COUNT);
    if (a == NULL || kernel < 0) {
        sl_row_fault(t, "kernel", "is not a kernel we know");
        return;
    }
    uint32_t slot = 0;
    while (slot < SL_ATTENTION_WIDTHS_MAX && a->attention[kernel][slot].head_dim != 0)
        slot++;
    if (slot == SL_ATTENTION_WIDTHS_MAX) {
        sl_row_fault(t, "head_dim", "there are too many widths");
        return;
    }
    a->attention[kernel][slot] = (sl_attention_laws){
        .head_dim = sl_row_whole32(t, "head_dim"),
        .forward = {sl_row_number(t, "forward_peak_flops_per_s"),
                    sl_row_number(t, "forward_half_length"), sl_row_number(t, "forward_launch_s")},
        .backward = {sl_row_number(t, "backward_peak_flops_per_s"),
                     sl_row_number(t, "backward_half_length"),
                     sl_row_number(t, "backward_launch_s")},
    };
    weaken(t, &a->attention_origin);
}

void
sl_read_collective_law(sl_row *t)
{
    static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter",
                                        "send_receive", "all_to_all"};
    _Static_assert(sizeof names / sizeof names[0] == SL_COLLECTIVE_BROADCAST,
                   "every collective with a law has a name");
    sl_accelerator *const a = law_owner(t);
    const int collective =
        sl_text_index(sl_row_required(t, "collective"), names, SL_COLLECTIVE_BROADCAST);
    static const uint32_t sizes[SL_COLLECTIVE_SIZES] = {2, 4, 8, 72};
    const uint32_t ranks = sl_row_whole32(t, "ranks");
    uint32_t size = 0;
    while (size < SL_COLLECTIVE_SIZES && sizes[size] != ranks)
        size++;
    if (a == NULL || collective < 0 || size == SL_COLLECTIVE_SIZES) {
        sl_row_fault(t, "collective", "is not one we know over 2, 4, 8 or 72 ranks");
        return;
    }
    const sl_collective_law law = {sl_row_number(t, "latency_s"),
                                   sl_row_number(t, "bus_bytes_per_s"),
                                   sl_row_number(t, "ramp_s_per_sqrt_byte")};
    a->collective[collective][size] = law;
    weaken(t, &a->collective_origin);
}
