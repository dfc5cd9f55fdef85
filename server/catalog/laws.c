/* Laws for parts that nobody measured: those of the nearest measured part, moved by datasheets. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "catalog/internal.h"
#include "engine/price/kernel.h"

/* The link its collectives run over: between peers where there is one, else through the host. */
static double
link_rate(const sl_accelerator *a)
{
    const bool peers = a->scale_up_bytes_per_s > 0;
    return peers ? a->scale_up_bytes_per_s : a->host_bytes_per_s;
}

static void
scale_memory(sl_gemm_law *law, double ratio)
{
    law->bandwidth_bytes_per_s *= ratio;
    law->cast_values_per_s *= ratio;
}

/* What a table has beyond the law is of its part alone: surfaces of another generation do not
 * help. */
static void
forget_table(sl_gemm_law *law)
{
    law->surface = NULL;
    law->hot_ratio = 0;
}

/* A part whose best product is another share of its datasheet than the law's part has that other
 * share in low precision and in attention as well: cards that multiply at half rate with fp32 sums
 * reach all of it, where the law's, at full rate, meets its power limit. */
static double
share_of_best(const sl_accelerator *a, const sl_accelerator *law, double achieved_flops_per_s)
{
    if (achieved_flops_per_s <= 0)
        return 1;
    return achieved_flops_per_s / sl_kernel_half_peak(a) /
           (law->gemm.peak_flops_per_s / sl_kernel_half_peak(law));
}

static void
scale_gemm(sl_accelerator *a, const sl_accelerator *law, double achieved_flops_per_s)
{
    const double rate = sl_kernel_half_peak(a);
    if (rate <= 0) {
        a->gemm_origin = SL_ORIGIN_DATASHEET; /* no 16-bit rate: no law, and none invented */
        return;
    }
    a->gemm = law->gemm;
    forget_table(&a->gemm);
    a->gemm.peak_flops_per_s = achieved_flops_per_s > 0
                                   ? achieved_flops_per_s
                                   : law->gemm.peak_flops_per_s * rate / sl_kernel_half_peak(law);
    scale_memory(&a->gemm, a->memory_bytes_per_s / law->memory_bytes_per_s);
    const double share = share_of_best(a, law, achieved_flops_per_s);
    for (uint32_t i = 0; i < SL_LOW_PRODUCT_COUNT; i++) {
        const sl_precision precision =
            i == SL_LOW_PRODUCT_NVFP4 ? SL_PRECISION_NVFP4 : SL_PRECISION_FP8;
        if (law->low_gemm[i].peak_flops_per_s <= 0 || a->peak_flops_per_s[precision] <= 0)
            continue;
        a->low_gemm[i] = law->low_gemm[i];
        a->low_gemm[i].peak_flops_per_s *=
            share * a->peak_flops_per_s[precision] / law->peak_flops_per_s[precision];
        forget_table(&a->low_gemm[i]);
        scale_memory(&a->low_gemm[i], a->memory_bytes_per_s / law->memory_bytes_per_s);
    }
    a->gemm_origin = SL_ORIGIN_SCALED;
}

static void
scale_attention(sl_accelerator *a, const sl_accelerator *law, const sl_law_names *names)
{
    a->attention_origin = SL_ORIGIN_SCALED;
    const double rate = sl_kernel_half_peak(a);
    if (rate <= 0)
        return;
    const double ratio =
        rate / sl_kernel_half_peak(law) * share_of_best(a, law, names->achieved_flops_per_s);
    for (uint32_t kernel = 0; kernel < SL_ATTENTION_KERNEL_COUNT; kernel++) {
        if (!sl_catalog_lists(names->attention_kernels, sl_catalog_kernels[kernel]))
            continue;
        for (uint32_t width = 0; width < SL_ATTENTION_WIDTHS_MAX; width++) {
            sl_attention_laws laws = law->attention[kernel][width];
            laws.forward.peak_flops_per_s *= ratio;
            laws.backward.peak_flops_per_s *= ratio;
            a->attention[kernel][width] = laws;
        }
    }
}

static void
scale_buses(sl_accelerator *a, double ratio)
{
    for (uint32_t op = 0; op < SL_COLLECTIVE_COUNT; op++) {
        for (uint32_t size = 0; size < SL_COLLECTIVE_SIZES; size++)
            a->collective[op][size].bus_bytes_per_s *= ratio;
    }
    a->collective_origin = SL_ORIGIN_SCALED;
}

static void
scale_collectives(sl_accelerator *a, const sl_accelerator *law)
{
    memcpy(a->collective, law->collective, sizeof a->collective);
    scale_buses(a, link_rate(a) / link_rate(law));
}

static sl_code
law_part(const sl_catalog *catalog, const sl_accelerator *a, const char *id,
         const sl_accelerator **out, sl_errors *err)
{
    const sl_part *const part = sl_catalog_part_by_id(catalog, id);
    if (part == NULL)
        return sl_fail(err, SL_E_INTERNAL, "bad_catalog", "", "%s: there is no law part \"%s\"",
                       a->id, id);
    *out = &part->accelerator;
    return SL_OK;
}

/* Of rows that name one thing each, "*" any other. */
static bool
is_row_of(const char *named, const char *name, bool found)
{
    return sl_text_equal(named, name) || (!found && sl_text_equal(named, "*"));
}

static void
attach_sustained(const sl_catalog *catalog, const char *id, sl_accelerator *a)
{
    const sl_sustained *found = NULL;
    for (uint32_t i = 0; i < catalog->sustained_count; i++) {
        const sl_sustained *const row = &catalog->sustained[i];
        if (is_row_of(row->part, id, found != NULL))
            found = row;
    }
    assert(found != NULL);
    a->sustained_ratio = found->ratio;
    a->sustained_low_ratio = found->low_ratio;
    a->sustained_high_ratio = found->high_ratio;
}

static void
attach_workspaces(const sl_catalog *catalog, sl_accelerator *a)
{
    const sl_workspace_row *found = NULL;
    for (uint32_t i = 0; i < catalog->workspace_count; i++) {
        const sl_workspace_row *const row = &catalog->workspaces[i];
        if (is_row_of(row->arch, a->arch, found != NULL))
            found = row;
    }
    assert(found != NULL);
    a->pytorch_workspace_bytes = found->pytorch_bytes;
    a->engine_workspace_bytes = found->engine_bytes;
}

static sl_code
attach_best_product(sl_catalog *catalog, uint32_t index, sl_errors *err)
{
    const sl_accelerator *const a = &catalog->parts[index].accelerator;
    sl_law_names *const names = &catalog->laws[index];
    if (*names->achieved_as == '\0')
        return SL_OK;

    const sl_part *const part = sl_catalog_part_by_id(catalog, names->achieved_as);
    const sl_law_names *const from = part != NULL ? &catalog->laws[part - catalog->parts] : NULL;
    if (from == NULL || *from->achieved_as != '\0' || from->achieved_flops_per_s <= 0)
        return sl_fail(err, SL_E_INTERNAL, "bad_catalog", "",
                       "%s: nobody found a best product of \"%s\"", a->id, names->achieved_as);
    names->achieved_flops_per_s = from->achieved_flops_per_s * sl_kernel_half_peak(a) /
                                  sl_kernel_half_peak(&part->accelerator);
    return SL_OK;
}

static sl_code
attach_products(sl_catalog *catalog, uint32_t index, sl_errors *err)
{
    sl_accelerator *const a = &catalog->parts[index].accelerator;
    const sl_law_names *const names = &catalog->laws[index];
    const sl_accelerator *law = NULL;

    const sl_code code = law_part(catalog, a, names->gemm, &law, err);
    if (code != SL_OK)
        return code;
    assert(law != NULL);
    if (law != a)
        scale_gemm(a, law, names->achieved_flops_per_s);
    if (!sl_text_copy(a->law_part, sizeof a->law_part, names->gemm))
        return sl_fail(err, SL_E_INTERNAL, "bad_catalog", "", "%s: a law name is too long", a->id);
    return SL_OK;
}

/* After the products of all parts, whose rates those of attention are scaled by. */
static sl_code
attach(sl_catalog *catalog, uint32_t index, sl_errors *err)
{
    sl_accelerator *const a = &catalog->parts[index].accelerator;
    const sl_law_names *const names = &catalog->laws[index];
    const sl_accelerator *law = NULL;
    sl_code code = SL_OK;

    if (*names->attention == '\0') {
        a->attention_origin = SL_ORIGIN_DATASHEET;
    } else {
        code = law_part(catalog, a, names->attention, &law, err);
        if (code != SL_OK)
            return code;
        assert(law != NULL);
        if (law != a)
            scale_attention(a, law, names);
    }

    if (*names->collective == '\0') {
        a->collective_origin = SL_ORIGIN_DATASHEET;
        return SL_OK;
    }
    code = law_part(catalog, a, names->collective, &law, err);
    if (code != SL_OK)
        return code;
    assert(law != NULL);
    if (law != a)
        scale_collectives(a, law);
    a->host_collectives = law->scale_up_bytes_per_s <= 0;
    return SL_OK;
}

sl_code
sl_catalog_attach_laws(sl_catalog *catalog, sl_errors *err)
{
    assert(catalog != NULL && err != NULL);

    for (uint32_t i = 0; i < catalog->part_count; i++) {
        const sl_code code = attach_best_product(catalog, i, err);
        if (code != SL_OK)
            return code;
    }
    for (uint32_t i = 0; i < catalog->part_count; i++) {
        const sl_code code = attach_products(catalog, i, err);
        if (code != SL_OK)
            return code;
    }
    for (uint32_t i = 0; i < catalog->part_count; i++) {
        const sl_code code = attach(catalog, i, err);
        if (code != SL_OK)
            return code;
        attach_sustained(catalog, catalog->laws[i].sustained, &catalog->parts[i].accelerator);
        attach_workspaces(catalog, &catalog->parts[i].accelerator);
    }
    return SL_OK;
}

uint64_t
sl_accelerator_reserved_guess(uint64_t memory_bytes)
{
    return memory_bytes / 100;
}

void
sl_accelerator_set_memory_rate(sl_accelerator *accelerator, double bytes_per_s)
{
    assert(accelerator != NULL && bytes_per_s > 0);

    if (accelerator->memory_bytes_per_s > 0) {
        const double ratio = bytes_per_s / accelerator->memory_bytes_per_s;
        scale_memory(&accelerator->gemm, ratio);
        for (uint32_t i = 0; i < SL_LOW_PRODUCT_COUNT; i++)
            scale_memory(&accelerator->low_gemm[i], ratio);
    }
    accelerator->memory_bytes_per_s = bytes_per_s;
    if (accelerator->gemm_origin < SL_ORIGIN_SCALED)
        accelerator->gemm_origin = SL_ORIGIN_SCALED;
}

void
sl_accelerator_set_attention_ratio(sl_accelerator *accelerator, double ratio)
{
    assert(accelerator != NULL && ratio > 0);

    for (uint32_t i = 0; i < SL_ATTENTION_KERNEL_COUNT; i++)
        for (uint32_t j = 0; j < SL_ATTENTION_WIDTHS_MAX; j++) {
            accelerator->attention[i][j].forward.peak_flops_per_s *= ratio;
            accelerator->attention[i][j].backward.peak_flops_per_s *= ratio;
        }
    if (accelerator->attention_origin < SL_ORIGIN_SCALED)
        accelerator->attention_origin = SL_ORIGIN_SCALED;
}

double
sl_accelerator_power_clock(double share, double still)
{
    assert(share > still && still < 1.0);
    return cbrt((share - still) / (1.0 - still));
}

void
sl_accelerator_set_power(sl_accelerator *accelerator, double watts)
{
    assert(accelerator != NULL && watts > 0 && watts <= accelerator->power_w);

    const double share = watts / accelerator->power_w;
    accelerator->power_limit_w = watts;
    accelerator->limited_clock_ratio = sl_accelerator_power_clock(share, 0.3);
    accelerator->sustained_low_ratio *= sl_accelerator_power_clock(share, 0.4);
    accelerator->sustained_ratio *= accelerator->limited_clock_ratio;
    accelerator->sustained_high_ratio *= sl_accelerator_power_clock(share, 0.2);
}

void
sl_accelerator_set_scale_up(sl_accelerator *accelerator, double bytes_per_s)
{
    assert(accelerator != NULL && bytes_per_s > 0);

    /* Laws of the host's links say nothing about links between peers. */
    const double known = accelerator->scale_up_bytes_per_s;
    if (!accelerator->host_collectives && known > 0 && known != bytes_per_s)
        scale_buses(accelerator, bytes_per_s / known);
    if (known > 0)
        accelerator->scale_up_pair_bytes_per_s *= bytes_per_s / known;
    accelerator->scale_up_bytes_per_s = bytes_per_s;
}

void
sl_accelerator_set_pair(sl_accelerator *accelerator, double bytes_per_s)
{
    assert(accelerator != NULL && bytes_per_s >= 0);

    /* Laws were measured over switches. */
    if (bytes_per_s > 0 && bytes_per_s < accelerator->scale_up_bytes_per_s &&
        accelerator->collective_origin < SL_ORIGIN_SCALED)
        accelerator->collective_origin = SL_ORIGIN_SCALED;
    accelerator->scale_up_pair_bytes_per_s = bytes_per_s;
}
