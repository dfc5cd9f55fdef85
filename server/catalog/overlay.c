#include "catalog/overlay.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "catalog/row.h"
#include "engine/price/kernel.h"

enum {
    ARENA_BYTES = 8 << 20,
    ARENA_ROW_BYTES = 104 << 10, /* of a user's row with everything it may say, and its copies */
    ROW_TEXT_BYTES = 64 << 10,
    TEXT_BYTES = 64 << 20
};

struct sl_overlay {
    sl_catalog *catalog;
    sl_buffer text; /* every row added, for the revision */
};

/* A table of one row, written column by column. */
typedef struct line {
    sl_buffer header;
    sl_buffer fields;
} line;

static const char *const rate_columns[SL_PRECISION_COUNT] = {
    [SL_PRECISION_BF16] = "bf16_flops_per_s",   [SL_PRECISION_FP16] = "fp16_flops_per_s",
    [SL_PRECISION_TF32] = "tf32_flops_per_s",   [SL_PRECISION_FP32] = "fp32_flops_per_s",
    [SL_PRECISION_FP8] = "fp8_flops_per_s",     [SL_PRECISION_MXFP8] = "mxfp8_flops_per_s",
    [SL_PRECISION_NVFP4] = "nvfp4_flops_per_s",
};

/* The same as answers call them. */
static const char *const rate_names[SL_PRECISION_COUNT] = {
    [SL_PRECISION_BF16] = "peak_flops_per_s.bf16",
    [SL_PRECISION_FP16] = "peak_flops_per_s.fp16",
    [SL_PRECISION_TF32] = "peak_flops_per_s.tf32",
    [SL_PRECISION_FP32] = "peak_flops_per_s.fp32",
    [SL_PRECISION_FP8] = "peak_flops_per_s.fp8",
    [SL_PRECISION_MXFP8] = "peak_flops_per_s.mxfp8",
    [SL_PRECISION_NVFP4] = "peak_flops_per_s.nvfp4",
};

sl_own_part
sl_own_part_unsaid(void)
{
    sl_own_part part = {.memory_bytes = -1,
                        .reserved_bytes = -1,
                        .nominal_bytes = -1,
                        .memory_bytes_per_s = -1,
                        .scale_up_bytes_per_s = -1,
                        .scale_up_domain = -1,
                        .scale_up_pair_bytes_per_s = -1,
                        .host_bytes_per_s = -1,
                        .power_w = -1,
                        .release_year = -1};
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++)
        part.peak_flops_per_s[i] = -1;
    return part;
}

sl_own_node
sl_own_node_unsaid(void)
{
    return (sl_own_node){.accelerators = -1,
                         .scale_up_domain = -1,
                         .scale_up_pair_bytes_per_s = -1,
                         .nic_count = -1,
                         .nic_bytes_per_s = -1,
                         .host_memory_bytes = -1,
                         .vcpus = -1,
                         .price_per_node_hour = -1};
}

static void
put_text(line *row, const char *column, const char *text)
{
    const char *const comma = row->header.size > 0 ? "," : "";
    sl_buffer_format(&row->header, "%s%s", comma, column);
    sl_buffer_format(&row->fields, "%s\"", comma);
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        const size_t plain = strcspn(at, "\"");
        sl_buffer_append(&row->fields, at, plain);
        at += plain;
        if (*at == '"') {
            sl_buffer_text(&row->fields, "\"\"");
            at++;
        }
    }
    sl_buffer_text(&row->fields, "\"");
}

/* Nothing for what was not said. 17 digits bring every double back as it was. */
static void
put_number(line *row, const char *column, double value)
{
    char text[32] = "";
    if (value >= 0)
        (void)sl_text_format(text, sizeof text, "%.17g", value);
    put_text(row, column, text);
}

static void
put_own(line *row, const sl_own *own)
{
    put_number(row, "revision", (double)own->revision);
    put_text(row, "created_at", own->created_at);
    put_text(row, "updated_at", own->updated_at);
    put_text(row, "spec", own->spec);
}

static void
line_init(line *row)
{
    sl_buffer_init(&row->header, ROW_TEXT_BYTES);
    sl_buffer_init(&row->fields, ROW_TEXT_BYTES);
}

/* Reads the line as a table of its own and frees it. */
static sl_code
line_read(line *row, sl_overlay *overlay, sl_row_reader read, sl_errors *err)
{
    sl_row t = {.catalog = overlay->catalog, .file = "a user's row", .err = err, .code = SL_OK};
    const size_t before = overlay->text.size;
    bool more = false;

    sl_buffer_append(&overlay->text, row->header.data, row->header.size);
    sl_buffer_text(&overlay->text, "\n");
    sl_buffer_append(&overlay->text, row->fields.data, row->fields.size);
    sl_buffer_text(&overlay->text, "\n");
    const bool whole = !row->header.failed && !row->fields.failed && !overlay->text.failed;
    sl_buffer_clear(&row->header);
    sl_buffer_clear(&row->fields);
    if (!whole)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the row does not fit");

    sl_code code = sl_csv_open(&t.csv, overlay->text.data + before, overlay->text.size - before,
                               overlay->catalog->arena, err);
    if (code == SL_OK)
        code = sl_csv_next(&t.csv, &more, err);
    if (code == SL_OK)
        read(&t);
    return code != SL_OK ? code : t.code;
}

sl_overlay *
sl_overlay_new(uint64_t revision, uint32_t rows, sl_errors *err)
{
    assert(rows <= SL_OWN_ROWS_MAX && err != NULL);

    sl_overlay *const overlay = calloc(1, sizeof *overlay);
    if (overlay == NULL) {
        (void)sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "the catalogue does not fit");
        return NULL;
    }
    sl_buffer_init(&overlay->text, TEXT_BYTES);
    overlay->catalog = sl_catalog_allocate(rows, ARENA_BYTES + (size_t)rows * ARENA_ROW_BYTES, err);
    if (overlay->catalog == NULL ||
        sl_catalog_load(overlay->catalog, &sl_catalog_files, err) != SL_OK) {
        sl_overlay_free(overlay);
        return NULL;
    }
    overlay->catalog->own_revision = revision;
    return overlay;
}

void
sl_overlay_free(sl_overlay *overlay)
{
    if (overlay == NULL)
        return;
    sl_catalog_free(overlay->catalog);
    sl_buffer_clear(&overlay->text);
    free(overlay);
}

const sl_catalog *
sl_overlay_catalog(const sl_overlay *overlay)
{
    assert(overlay != NULL);
    return overlay->catalog;
}

static double
half_peak(const double rates[SL_PRECISION_COUNT])
{
    return fmax(fmax(rates[SL_PRECISION_BF16], rates[SL_PRECISION_FP16]), 0);
}

/* The measured part whose 16-bit rate is nearest, as a ratio. */
static const sl_part *
nearest_measured(const sl_catalog *catalog, double rate)
{
    const sl_part *best = NULL;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < catalog->part_count; i++) {
        const sl_part *const part = &catalog->parts[i];
        const double other = sl_kernel_half_peak(&part->accelerator);
        if (!sl_text_equal(catalog->laws[i].gemm, part->accelerator.id) || other <= 0)
            continue;
        const double distance = fabs(log(rate / other));
        if (distance < least) {
            least = distance;
            best = part;
        }
    }
    return best;
}

sl_code
sl_own_part_like(const sl_catalog *catalog, const sl_own_part *part, const sl_part **like,
                 sl_errors *err)
{
    assert(catalog != NULL && part != NULL && like != NULL && err != NULL);

    if (part->like == NULL) {
        const double rate = half_peak(part->peak_flops_per_s);
        if (rate <= 0)
            return sl_fail(err, SL_E_RANGE, "required_field", "/like",
                           "must name the part whose laws to use: no 16-bit rate says which is "
                           "near");
        *like = nearest_measured(catalog, rate);
        assert(*like != NULL);
        return SL_OK;
    }
    const sl_code code = sl_catalog_find_part(catalog, part->like, "/like", like, err);
    if (code != SL_OK || (*like)->own.revision == 0)
        return code;
    return sl_fail(err, SL_E_RANGE, "not_of_the_catalogue", "/like",
                   "must be a part of the catalogue itself, got the private \"%.60s\"", part->like);
}

/* Of all rates, by the first that both have. 0: they have none in common. */
static double
rate_ratio(const sl_own_part *part, const sl_accelerator *like)
{
    static const sl_precision order[] = {SL_PRECISION_BF16, SL_PRECISION_FP16, SL_PRECISION_FP8,
                                         SL_PRECISION_TF32, SL_PRECISION_FP32, SL_PRECISION_MXFP8,
                                         SL_PRECISION_NVFP4};
    _Static_assert(sizeof order / sizeof order[0] == SL_PRECISION_COUNT, "every precision");
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++) {
        const double own = part->peak_flops_per_s[order[i]];
        if (own > 0 && like->peak_flops_per_s[order[i]] > 0)
            return own / like->peak_flops_per_s[order[i]];
    }
    return 0;
}

/* What was said, or what follows from `like`; the latter is listed, as answers call it. */
static void
put_or_follow(line *row, sl_buffer *scaled, const char *column, const char *name, double said,
              double follows)
{
    if (said < 0 && follows > 0) {
        sl_buffer_format(scaled, "%s%s", scaled->size > 0 ? "|" : "", name);
        put_number(row, column, follows);
    } else {
        put_number(row, column, said);
    }
}

static const char *
or_text(const char *said, const char *otherwise)
{
    return said != NULL ? said : otherwise;
}

/* Joined as that one: in proportion to all links. */
static double
pair_rate(const sl_own_part *part, const sl_accelerator *like)
{
    return part->scale_up_bytes_per_s < 0 || like->scale_up_bytes_per_s <= 0
               ? like->scale_up_pair_bytes_per_s
               : like->scale_up_pair_bytes_per_s * part->scale_up_bytes_per_s /
                     like->scale_up_bytes_per_s;
}

/* like: NULL when nothing but the laws follows from it. */
static void
put_figures(line *row, sl_buffer *scaled, const sl_own_part *part, const sl_accelerator *like)
{
    const double ratio = like != NULL ? rate_ratio(part, like) : 0;

    put_number(row, "memory_bytes", part->memory_bytes);
    put_number(row, "reserved_bytes", part->reserved_bytes);
    put_number(row, "nominal_bytes", part->nominal_bytes);
    put_number(row, "memory_bytes_per_s", part->memory_bytes_per_s);
    for (uint32_t i = 0; i < SL_PRECISION_COUNT; i++)
        put_or_follow(row, scaled, rate_columns[i], rate_names[i], part->peak_flops_per_s[i],
                      like != NULL ? like->peak_flops_per_s[i] * ratio : 0);
    const struct {
        const char *name;
        double said;
        double follows;
    } others[] = {
        {"scale_up_bytes_per_s", part->scale_up_bytes_per_s,
         like != NULL ? like->scale_up_bytes_per_s : 0},
        {"scale_up_pair_bytes_per_s", part->scale_up_pair_bytes_per_s,
         like != NULL ? pair_rate(part, like) : 0},
        {"host_bytes_per_s", part->host_bytes_per_s, like != NULL ? like->host_bytes_per_s : 0},
        {"power_w", part->power_w, like != NULL ? like->power_w : 0},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        put_or_follow(row, scaled, others[i].name, others[i].name, others[i].said,
                      others[i].follows);
    if (like != NULL)
        put_or_follow(row, scaled, "scale_up_domain", "scale_up_domain", part->scale_up_domain,
                      like->scale_up_domain);
    else
        put_number(row, "scale_up_domain", part->scale_up_domain > 0 ? part->scale_up_domain : 1);
    put_number(row, "release_year", part->release_year);
    put_number(row, "reducing_ranks", like != NULL ? like->reducing_ranks : 0);
    put_number(row, "any_layout", like != NULL && like->any_layout);
}

static void
put_part(line *row, const sl_own_part *part, const sl_part *like)
{
    const bool named = part->like != NULL;
    const sl_accelerator *const from = &like->accelerator;
    sl_buffer scaled;

    sl_buffer_init(&scaled, ROW_TEXT_BYTES);
    put_text(row, "id", part->id);
    put_text(row, "name", or_text(part->name, part->id));
    put_text(row, "aliases", part->aliases);
    put_text(row, "vendor", or_text(part->vendor, named ? from->vendor : ""));
    put_text(row, "arch", or_text(part->arch, named ? from->arch : ""));
    put_text(row, "status", or_text(part->status, "private"));
    put_text(row, "scale_up_link", or_text(part->scale_up_link, named ? like->scale_up_link : ""));
    put_figures(row, &scaled, part, named ? from : NULL);
    put_text(row, "source", part->source);
    put_text(row, "provenance", "user");
    put_text(row, "note", part->note);
    put_text(row, "like", from->id);
    put_text(row, "like_assumed", named ? "" : "1");
    put_text(row, "scaled", scaled.data);
    put_own(row, &part->own);
    row->fields.failed = row->fields.failed || scaled.failed;
    sl_buffer_clear(&scaled);
}

/* The laws of the row read last are those of another one; the best product somebody found on that
 * one goes with the 16-bit rate. */
static void
lend_laws(sl_catalog *catalog, const sl_part *like)
{
    const uint32_t index = catalog->part_count - 1;
    const sl_accelerator *const a = &catalog->parts[index].accelerator;
    const sl_law_names *const from = &catalog->laws[like - catalog->parts];
    sl_law_names *const laws = &catalog->laws[index];

    *laws = *from;
    if (from->achieved_flops_per_s > 0)
        laws->achieved_flops_per_s *=
            sl_kernel_half_peak(a) / sl_kernel_half_peak(&like->accelerator);
}

sl_code
sl_overlay_add_part(sl_overlay *overlay, const sl_own_part *part, sl_errors *err)
{
    assert(overlay != NULL && part != NULL && part->id != NULL && err != NULL);

    sl_catalog *const catalog = overlay->catalog;
    const uint32_t parts = catalog->part_count;
    const uint32_t names = catalog->name_count;
    const size_t text = overlay->text.size;
    const sl_part *like = NULL;
    line row;

    sl_code code = sl_own_part_like(catalog, part, &like, err);
    if (code != SL_OK)
        return code;
    line_init(&row);
    put_part(&row, part, like);
    code = line_read(&row, overlay, sl_read_part, err);
    if (code == SL_OK) {
        lend_laws(catalog, like);
        return SL_OK;
    }
    catalog->part_count = parts;
    catalog->name_count = names;
    overlay->text.size = text;
    return code;
}

sl_code
sl_overlay_add_node(sl_overlay *overlay, const sl_own_node *node, sl_errors *err)
{
    assert(overlay != NULL && node != NULL && node->id != NULL && err != NULL);

    const uint32_t nodes = overlay->catalog->node_count;
    const size_t text = overlay->text.size;
    line row;

    line_init(&row);
    put_text(&row, "id", node->id);
    put_text(&row, "aliases", node->aliases);
    put_text(&row, "operator", node->operator_name);
    put_text(&row, "accelerator", node->accelerator);
    put_number(&row, "accelerators", node->accelerators);
    put_text(&row, "reference", node->reference ? "1" : "");
    put_number(&row, "vcpus", node->vcpus);
    put_number(&row, "host_memory_bytes", node->host_memory_bytes);
    put_number(&row, "nic_count", node->nic_count);
    put_number(&row, "nic_bytes_per_s", node->nic_bytes_per_s);
    put_text(&row, "nic_kind", node->nic_kind);
    put_number(&row, "scale_up_domain", node->scale_up_domain);
    put_number(&row, "scale_up_pair_bytes_per_s", node->scale_up_pair_bytes_per_s);
    put_number(&row, "price_per_node_hour", node->price_per_node_hour);
    put_text(&row, "price_currency", node->price_currency);
    put_text(&row, "price_date", node->price_date);
    put_text(&row, "source", node->source);
    put_text(&row, "provenance", "user");
    put_text(&row, "note", node->note);
    put_own(&row, &node->own);
    const sl_code code = line_read(&row, overlay, sl_read_node, err);
    if (code != SL_OK) {
        overlay->catalog->node_count = nodes;
        overlay->text.size = text;
    }
    return code;
}

/* Onto the node type of that id, which is there. */
static void
read_price(sl_row *t)
{
    sl_catalog *const catalog = t->catalog;
    const char *const currency = sl_row_text(t, "price_currency");
    for (uint32_t i = 0; i < catalog->node_count; i++) {
        sl_node_type *const node = &catalog->nodes[i];
        if (!sl_text_equal(node->id, sl_row_text(t, "id")))
            continue;
        node->price_per_node_hour = sl_row_number(t, "price_per_node_hour");
        node->price_currency = *currency != '\0' ? currency : "USD";
        node->price_date = sl_row_text(t, "price_date");
        node->own_price = sl_row_own(t);
    }
}

sl_code
sl_overlay_add_price(sl_overlay *overlay, const sl_own_price *price, sl_errors *err)
{
    assert(overlay != NULL && price != NULL && price->id != NULL && err != NULL);

    const sl_catalog *const catalog = overlay->catalog;
    uint32_t i = 0;
    while (i < catalog->node_count &&
           (catalog->nodes[i].own.revision != 0 || !sl_text_equal(catalog->nodes[i].id, price->id)))
        i++;
    if (i == catalog->node_count)
        return sl_fail(err, SL_E_NOT_FOUND, "unknown_node_type", "",
                       "must be a node type of the catalogue, got \"%.80s\"", price->id);
    line row;
    line_init(&row);
    put_text(&row, "id", price->id);
    put_number(&row, "price_per_node_hour", price->price_per_node_hour);
    put_text(&row, "price_currency", price->price_currency);
    put_text(&row, "price_date", price->price_date);
    put_own(&row, &price->own);
    return line_read(&row, overlay, read_price, err);
}

sl_code
sl_overlay_finish(sl_overlay *overlay, sl_catalog **out, sl_errors *err)
{
    assert(overlay != NULL && overlay->catalog != NULL && out != NULL && err != NULL);

    sl_code code = sl_catalog_attach_laws(overlay->catalog, err);
    if (code == SL_OK)
        code = sl_catalog_name_revision(overlay->catalog, &overlay->text, err);
    if (code != SL_OK)
        return code;
    *out = overlay->catalog;
    overlay->catalog = NULL;
    return SL_OK;
}
