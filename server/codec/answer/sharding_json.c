#include "codec/answer/sharding_json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "codec/answer/estimate_json.h"
#include "engine/placement/states.h"

/* A set of ranks is at most a few hundred runs: fewer than the root of the number of ranks. */
enum { RANKS_TEXT_MAX_BYTES = 1 << 20, NAME_SIZE = 192 };

/* A page while it is written. */
typedef struct page {
    sl_writer *writer;
    const sl_sharding *sharding;
    const sl_sharding_query *query;
    sl_buffer ranks;      /* text of one set, used again and again */
    double element_bytes; /* of the tensor at hand */
    uint64_t entry;       /* number of the tensor or unit at hand */
    uint64_t written;     /* shards */
    bool full;
    bool open; /* the entry at hand has its head written */
    uint64_t next[3];
} page;

/* first, first + step ... : `count` ranks, those of a range. */
static void
add_ranks(page *p, uint64_t first, uint64_t step, uint64_t count, const sl_rank_range *range)
{
    uint64_t begin = 0;
    uint64_t end = count;

    if (range != NULL) {
        if (range->last < first)
            return;
        if (range->first > first)
            begin = (range->first - first + step - 1) / step;
        if ((range->last - first) / step + 1 < end)
            end = (range->last - first) / step + 1;
    }
    if (begin >= end)
        return;
    const char *const comma = p->ranks.size > 0 ? "," : "";
    const uint64_t low = first + begin * step;
    const uint64_t high = first + (end - 1) * step;
    if (low == high)
        sl_buffer_format(&p->ranks, "%s%" PRIu64, comma, low);
    else if (step == 1)
        sl_buffer_format(&p->ranks, "%s%" PRIu64 "-%" PRIu64, comma, low, high);
    else
        sl_buffer_format(&p->ranks, "%s%" PRIu64 "-%" PRIu64 ":%" PRIu64, comma, low, high, step);
}

/* Runs one by one, or every stride-th rank of all runs, whichever is shorter. */
static void
add_set(page *p, const sl_rank_set *set, const sl_rank_range *range)
{
    if (set->run <= set->count)
        for (uint64_t i = 0; i < set->run; i++)
            add_ranks(p, set->first + i, set->stride, set->count, range);
    else
        for (uint64_t i = 0; i < set->count; i++)
            add_ranks(p, set->first + i * set->stride, 1, set->run, range);
}

static void
put_ranks(page *p, const char *key, const sl_rank_set *set, bool filtered)
{
    p->ranks.size = 0;
    if (!filtered || p->query->range_count == 0)
        add_set(p, set, NULL);
    for (uint32_t i = 0; filtered && i < p->query->range_count; i++)
        add_set(p, set, &p->query->ranges[i]);
    sl_put_text(p->writer, key, p->ranks.failed ? NULL : p->ranks.data);
}

static bool
is_asked(const sl_sharding_query *query, const sl_rank_set *set)
{
    for (uint32_t i = 0; i < query->range_count; i++)
        if (sl_rank_set_next(set, query->ranges[i].first) <= query->ranges[i].last)
            return true;
    return query->range_count == 0;
}

/* The first shard from `from` on that some rank asked for may have. */
static uint64_t
next_asked(const page *p, uint32_t stage, bool routed, uint64_t from)
{
    uint64_t next = p->query->range_count == 0 ? from : UINT64_MAX;

    for (uint32_t i = 0; i < p->query->range_count; i++) {
        const sl_rank_range *range = &p->query->ranges[i];
        const uint64_t own =
            sl_sharding_next_number(p->sharding, stage, routed, range->first, range->last, from);
        next = own < next ? own : next;
    }
    return next;
}

/* Whether the pattern, in which * is any text and ? any character, is all of the text. */
static bool
matches(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *resume = NULL;

    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* Appends `part`, with the number in place of {}. */
static void
append_name(char *name, const char *part, bool numbered, uint32_t number)
{
    const size_t used = strlen(name);
    const char *const hole = numbered ? strstr(part, "{}") : NULL;
    const bool whole = hole == NULL
                           ? sl_text_copy(name + used, NAME_SIZE - used, part)
                           : sl_text_format(name + used, NAME_SIZE - used, "%.*s%" PRIu32 "%s",
                                            (int)(hole - part), part, number, hole + 2);
    assert(whole);
    (void)whole;
}

static void
write_place(sl_writer *writer, const sl_sharding *sharding, uint64_t rank)
{
    const sl_place place = sl_sharding_place(sharding, rank);

    sl_write_object(writer);
    sl_put_uint(writer, "rank", rank);
    if (sharding->question->cluster->pool_count > 0)
        sl_put_text(writer, "pool", sharding->question->cluster->pools[place.pool].pool);
    sl_put_uint(writer, "node", place.node);
    sl_put_uint(writer, "local_rank", place.local_rank);
    sl_write_key(writer, "coordinates");
    sl_write_object(writer);
    sl_put_uint(writer, "data", place.data);
    sl_put_uint(writer, "pipeline", place.pipeline);
    sl_put_uint(writer, "tensor", place.tensor);
    sl_put_uint(writer, "context", place.context);
    sl_put_uint(writer, "expert", place.expert);
    sl_write_object_end(writer);
    sl_write_object_end(writer);
}

/* Pages after the first go on with tensors and units only. */
static bool
is_first(const sl_sharding_query *query)
{
    return query->entry == 0 && query->part == 0 && query->shard == 0;
}

static void
write_ranks(page *p)
{
    const sl_rank_range all = {0, sl_plan_world(&p->sharding->question->plan) - 1};
    const uint32_t count = p->query->range_count == 0 ? 1 : p->query->range_count;
    const sl_rank_range *ranges = p->query->range_count == 0 ? &all : p->query->ranges;

    sl_write_key(p->writer, "ranks");
    sl_write_array(p->writer);
    for (uint32_t i = 0; is_first(p->query) && i < count; i++)
        for (uint64_t rank = ranges[i].first; rank <= ranges[i].last; rank++)
            write_place(p->writer, p->sharding, rank);
    sl_write_array_end(p->writer);
}

/* Replicas that none has, and experts that are held as the rest. */
static bool
goes_without_saying(const sl_sharding *sharding, sl_group_kind kind, const sl_rank_groups *groups)
{
    switch (kind) {
    case SL_GROUP_REPLICAS:
        return groups->size == 1;
    case SL_GROUP_EXPERT_DATA:
        return !sl_sharding_has_routed(sharding);
    case SL_GROUP_EXPERT_TENSOR:
        return groups->size == 1 || !sl_sharding_has_routed(sharding) ||
               groups->size == sl_sharding_groups(sharding, SL_GROUP_TENSOR).size;
    default:
        return false;
    }
}

static void
write_groups(page *p)
{
    sl_write_key(p->writer, "groups");
    sl_write_array(p->writer);
    for (uint32_t kind = 0; is_first(p->query) && kind < SL_GROUP_KIND_COUNT; kind++) {
        const sl_rank_groups groups = sl_sharding_groups(p->sharding, (sl_group_kind)kind);
        const sl_rank_set members = {0, 1, groups.size, groups.stride};
        if (goes_without_saying(p->sharding, (sl_group_kind)kind, &groups))
            continue;
        sl_write_object(p->writer);
        sl_put_text(p->writer, "kind", groups.kind);
        sl_put_uint(p->writer, "size", groups.size);
        sl_put_uint(p->writer, "count", groups.count);
        sl_put_uint(p->writer, "stride", groups.stride);
        put_ranks(p, "members", &members, false);
        put_ranks(p, "starts", &groups.starts, false);
        sl_put_text(p->writer, "level", groups.level);
        sl_write_object_end(p->writer);
    }
    sl_write_array_end(p->writer);
}

static void
write_mode(page *p)
{
    static const char *const kinds[] = {
        [SL_SHARDING_NONE] = "none", [SL_SHARDING_FLAT] = "flat", [SL_SHARDING_AXIS_0] = "axis_0"};
    const sl_sharding_mode *mode = &p->sharding->mode;

    sl_write_key(p->writer, "sharding");
    sl_write_object(p->writer);
    sl_put_text(p->writer, "kind", kinds[mode->kind]);
    sl_put_uint(p->writer, "degree", mode->degree);
    sl_put_text(p->writer, "of",
                mode->kind == SL_SHARDING_NONE ? NULL
                : mode->parameters             ? "all_states"
                                               : "optimizer_states");
    sl_write_object_end(p->writer);
}

/* True while the page has room; else says where the next one begins. */
static bool
has_room(page *p, uint64_t part, uint64_t shard)
{
    if (p->written < p->query->limit)
        return true;
    p->full = true;
    p->next[0] = p->entry;
    p->next[1] = part;
    p->next[2] = shard;
    return false;
}

static void
write_box(page *p, const sl_sharded_tensor *tensor, const sl_shard *shard, const sl_range *box,
          uint64_t elements, uint64_t padding)
{
    sl_writer *const writer = p->writer;
    const bool flat = p->sharding->mode.kind == SL_SHARDING_FLAT && p->sharding->mode.parameters;

    sl_write_object(writer);
    put_ranks(p, "ranks", &shard->ranks, true);
    sl_write_key(writer, "slice");
    sl_write_array(writer);
    for (uint32_t axis = 0; axis < tensor->tensor->axes; axis++) {
        sl_write_array(writer);
        sl_write_uint(writer, box[axis].begin);
        sl_write_uint(writer, box[axis].end);
        sl_write_array_end(writer);
    }
    sl_write_array_end(writer);
    if (flat) {
        sl_write_key(writer, "flat");
        sl_write_array(writer);
        sl_write_uint(writer, shard->flat.begin);
        sl_write_uint(writer, shard->flat.end);
        sl_write_array_end(writer);
    }
    sl_put_uint(writer, "bytes", (uint64_t)ceil((double)elements * p->element_bytes));
    sl_put_uint(writer, "padding_bytes", (uint64_t)ceil((double)padding * p->element_bytes));
    sl_write_object_end(writer);
    p->written++;
}

/* A box for each rectangle; of a flat tensor the smallest one around all, of which `flat` says what
 * is held. A shard of padding alone is one empty box. */
static void
write_shard(page *p, const sl_sharded_tensor *tensor, const sl_tensor_part *part,
            const sl_shard *shard)
{
    sl_range box[SL_TENSOR_AXES_MAX] = {{0, 0}};
    sl_range around[SL_TENSOR_AXES_MAX] = {{0, 0}};
    const bool flat = part->shard_flat != 0;
    uint64_t padding = shard->padding_elements;
    bool any = false;

    for (uint64_t i = 0; i < part->pieces; i++) {
        uint64_t elements = 1;
        const bool filled = sl_sharding_piece(p->sharding, tensor, part, shard, i, box);
        if (!filled && (any || i + 1 < part->pieces))
            continue;
        if (!any)
            memcpy(around, box, sizeof around);
        any = true;
        for (uint32_t axis = 0; axis < tensor->tensor->axes; axis++) {
            elements *= box[axis].end - box[axis].begin;
            around[axis].end = box[axis].end;
        }
        if (!flat) {
            write_box(p, tensor, shard, box, elements, padding);
            padding = 0;
        }
    }
    if (flat)
        write_box(p, tensor, shard, around, shard->elements, padding);
}

static void
open_tensor(page *p, const sl_sharded_tensor *tensor, const char *name)
{
    sl_writer *const writer = p->writer;
    const sl_model *model = p->sharding->question->model;
    const sl_stored_as *stored = sl_model_stored_as(model, tensor->layer);

    if (p->open)
        return;
    p->open = true;
    sl_write_object(writer);
    sl_put_text(writer, "name", name);
    sl_write_key(writer, "shape");
    sl_write_array(writer);
    for (uint32_t axis = 0; axis < tensor->tensor->axes; axis++)
        sl_write_uint(writer, tensor->tensor->shape[axis]);
    sl_write_array_end(writer);
    sl_put_text(writer, "dtype", sl_model_stored_dtype(model, &stored[tensor->index]));
    sl_put_uint(writer, "layer", tensor->layer);
    sl_put_uint(writer, "pipeline", tensor->stage);
    sl_put_bool(writer, "tied", tensor->tensor->tied);
    sl_write_key(writer, "shards");
    sl_write_array(writer);
}

static void
close_entry(page *p)
{
    if (!p->open)
        return;
    sl_write_array_end(p->writer);
    sl_write_object_end(p->writer);
    p->open = false;
}

/* Linears of blocks weigh less than the rest where they are stored quantised. */
static double
element_bytes(const sl_sharding *sharding, const sl_sharded_tensor *tensor)
{
    const sl_model *model = sharding->question->model;
    const bool matrix =
        tensor->tensor->linear && sl_schedule_is_block(model, model->layers[tensor->layer]);
    const bool low = matrix && sl_slice_weight_may_be_low(tensor->tensor);
    const sl_elements one = {.all = 1.0, .matrices = matrix ? 1.0 : 0.0, .low = low ? 1.0 : 0.0};

    return sl_states_layout(&sharding->question->workload, &sharding->question->plan, &one)
        .parameter_bytes;
}

static void
write_tensor(page *p, const sl_sharded_tensor *tensor)
{
    const sl_sharding_query *query = p->query;
    const bool resumed = p->entry == query->entry;
    char name[NAME_SIZE] = "";

    append_name(name, tensor->kind->prefix, true, tensor->block);
    append_name(name, tensor->tensor->name, tensor->tensor->experts != 0, tensor->expert);
    if (query->tensor != NULL && !matches(query->tensor, name))
        return;
    p->element_bytes = element_bytes(p->sharding, tensor);
    for (uint64_t n = resumed ? query->part : 0; n < sl_sharding_part_count(tensor); n++) {
        const sl_tensor_part part = sl_sharding_part(p->sharding, tensor, (uint32_t)n);
        const uint64_t end = part.first_shard + part.shard_count;
        uint64_t i = part.first_shard;
        /* A cursor comes from outside: it may say anything. */
        if (resumed && n == query->part && query->shard > i)
            i = query->shard;
        for (; i < end; i++) {
            if (part.shard_count > 1)
                i = next_asked(p, tensor->stage, tensor->expert_placed, i);
            if (i >= end)
                break;
            const sl_shard shard = sl_sharding_shard(&part, i);
            if (!is_asked(query, &shard.ranks))
                continue;
            if (!has_room(p, n, i))
                return;
            open_tensor(p, tensor, name);
            write_shard(p, tensor, &part, &shard);
        }
    }
}

static void
write_tensors(page *p)
{
    sl_tensor_walk walk = {0};
    sl_sharded_tensor tensor;

    sl_write_key(p->writer, "tensors");
    sl_write_array(p->writer);
    for (; !p->full && sl_sharding_next(p->sharding, &walk, &tensor); p->entry++) {
        if (p->entry < p->query->entry)
            continue;
        write_tensor(p, &tensor);
        close_entry(p);
    }
    sl_write_array_end(p->writer);
}

/* "model.layers.3", "root", or what a plain layer is called, of states alone "chunk.0.bucket.2";
 * experts apart end in ".experts". */
static void
name_unit(const page *p, const sl_flat_unit *unit, char name[NAME_SIZE])
{
    const sl_model *model = p->sharding->question->model;
    const sl_layer_kind *kind = &model->kinds[model->layers[unit->layer]];

    name[0] = '\0';
    if (unit->bucket) {
        append_name(name, "chunk.{}", true, unit->chunk);
        append_name(name, ".bucket.{}", true, unit->number);
    } else {
        append_name(name, unit->root ? "root" : kind->prefix, true, unit->block);
    }
    if (name[0] == '\0')
        append_name(name, kind->name, false, 0);
    if (name[strlen(name) - 1] == '.')
        name[strlen(name) - 1] = '\0';
    if (unit->routed)
        append_name(name, ".experts", false, 0);
}

static void
open_unit(page *p, const sl_flat_unit *unit)
{
    sl_writer *const writer = p->writer;
    char name[NAME_SIZE];

    if (p->open)
        return;
    p->open = true;
    name_unit(p, unit, name);
    sl_write_object(writer);
    sl_put_text(writer, "name", name);
    sl_put_uint(writer, "layer", unit->layer);
    sl_put_uint(writer, "pipeline", unit->stage);
    sl_put_uint(writer, "tensor", unit->tensor_rank);
    sl_put_uint(writer, "expert", unit->expert_rank);
    sl_put_uint(writer, "elements", unit->elements);
    sl_put_uint(writer, "padded_elements", unit->padded_elements);
    sl_write_key(writer, "shards");
    sl_write_array(writer);
}

static void
write_unit(page *p, const sl_flat_unit *unit)
{
    const bool resumed = p->entry == p->query->entry;

    for (uint64_t i = resumed ? p->query->shard : 0; i < unit->degree; i++) {
        i = next_asked(p, unit->stage, unit->routed, i);
        if (i >= unit->degree)
            break;
        const sl_rank_set ranks = sl_sharding_flat_ranks(p->sharding, unit, i);
        if (!is_asked(p->query, &ranks))
            continue;
        if (!has_room(p, 0, i))
            return;
        open_unit(p, unit);
        sl_write_object(p->writer);
        put_ranks(p, "ranks", &ranks, true);
        sl_put_uint(p->writer, "offset", i * unit->length);
        sl_put_uint(p->writer, "length", unit->length);
        sl_write_object_end(p->writer);
        p->written++;
    }
}

/* A pattern asks for tensors, and no unit is called like one. */
static void
write_units(page *p)
{
    sl_flat_walk walk = {0};
    sl_flat_unit unit;

    sl_write_key(p->writer, "units");
    sl_write_array(p->writer);
    for (; !p->full && p->query->tensor == NULL && sl_sharding_next_flat(p->sharding, &walk, &unit);
         p->entry++) {
        if (p->entry < p->query->entry)
            continue;
        write_unit(p, &unit);
        close_entry(p);
    }
    sl_write_array_end(p->writer);
}

bool
sl_sharding_write(sl_writer *writer, const sl_sharding *sharding, const sl_sharding_query *query,
                  const sl_estimate_request *request, const sl_errors *warnings)
{
    assert(writer != NULL && sharding != NULL && query != NULL && request != NULL);

    page p = {.writer = writer, .sharding = sharding, .query = query};
    char cursor[72];

    sl_buffer_init(&p.ranks, RANKS_TEXT_MAX_BYTES);
    sl_write_object(writer);
    write_ranks(&p);
    write_groups(&p);
    write_mode(&p);
    write_tensors(&p);
    write_units(&p);
    (void)sl_text_format(cursor, sizeof cursor, "%" PRIu64 ".%" PRIu64 ".%" PRIu64, p.next[0],
                         p.next[1], p.next[2]);
    sl_put_text(writer, "next_cursor", p.full ? cursor : NULL);
    sl_estimate_notes_write(writer, request, NULL, warnings, true);
    sl_estimate_notes_write(writer, request, NULL, NULL, false);
    sl_write_object_end(writer);
    const bool whole = !p.ranks.failed;
    sl_buffer_clear(&p.ranks);
    return whole;
}
