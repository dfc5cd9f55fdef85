#include "engine/search/search_relax.h"

#include <assert.h>
#include <math.h>

#include "engine/extremes.h"
#include "engine/search/search_parts.h"

static const sl_values *
listed_of(const sl_search_request *request, uint32_t dimension)
{
    const bool by_nodes = dimension == SL_DIMENSION_ACCELERATORS && request->space.nodes.count > 0;

    return by_nodes ? &request->space.nodes : &request->space.of[dimension];
}

static double
ratio_of(uint64_t a, uint64_t b)
{
    const double x = (double)a + 1.0;
    const double y = (double)b + 1.0;

    return x > y ? x / y : y / x;
}

/* Of ascending sizes. */
static double
distance_in(const uint32_t *sizes, uint32_t count, uint64_t value)
{
    uint32_t low = 0, high = count; /* the first that is not smaller is from low to high */

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sizes[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    const double above = low < count ? ratio_of(value, sizes[low]) : HUGE_VAL;
    return low > 0 ? sl_smaller(above, ratio_of(value, sizes[low - 1])) : above;
}

/* From the nearest value that was searched; 1 where it is one. */
static double
distance_of(const sl_search_relax *r, uint64_t value)
{
    const sl_search *from = r->from;
    const sl_values *asked = &from->space.of[r->dimension];
    double nearest = HUGE_VAL;

    if (r->dimension != SL_DIMENSION_ACCELERATORS) {
        for (uint32_t i = 0; i < asked->count; i++)
            nearest = sl_smaller(nearest, ratio_of(value, asked->list[i]));
        return nearest;
    }
    for (uint32_t c = 0; c < from->request->question_count; c++) {
        const uint32_t *sizes = NULL;
        const uint32_t count = sl_search_sizes(from, c, &sizes);
        nearest = sl_smaller(nearest, distance_in(sizes, count, value));
    }
    return nearest;
}

static bool
is_nearer(const sl_relaxed_value *a, const sl_relaxed_value *b)
{
    return a->distance < b->distance || (a->distance == b->distance && a->value < b->value);
}

/* Into its place among them, the smaller of two at the same distance first; values that were
 * searched are none, and where there is no place left the farthest gives way. */
static void
add_value(sl_search_relax *r, uint64_t value)
{
    const sl_relaxed_value added = {value, distance_of(r, value)};
    const bool full = r->value_count == SL_SEARCH_SIZES_MAX;

    if (added.distance <= 1.0 || (full && !is_nearer(&added, &r->values[r->value_count - 1])))
        return;
    r->value_count += !full;
    uint32_t at = r->value_count - 1;
    for (; at > 0 && is_nearer(&added, &r->values[at - 1]); at--)
        r->values[at] = r->values[at - 1];
    r->values[at] = added;
}

static void
collect_sizes(sl_search_relax *r)
{
    const sl_search_request *request = r->from->request;

    for (uint32_t c = 0; c < request->question_count; c++) {
        const sl_cluster *cluster = request->questions[c].cluster;
        const uint64_t all = sl_cluster_accelerators(cluster);
        for (uint64_t size = sl_search_first_size(cluster); size <= all;
             size = sl_search_next_size(cluster, size))
            add_value(r, size);
    }
}

/* Replicas divide the accelerators, and the batch is a multiple of them. */
static void
collect_divisors(sl_search_relax *r, const sl_values *batches)
{
    const sl_search *from = r->from;

    for (uint32_t c = 0; c < from->request->question_count; c++) {
        const uint32_t *sizes = NULL;
        const uint32_t count = sl_search_sizes(from, c, &sizes);
        const uint64_t size = count > 0 ? sizes[count - 1] : 0;
        for (uint64_t divisor = 1; divisor <= size; divisor++) {
            if (size % divisor != 0)
                continue;
            if (batches == NULL)
                add_value(r, divisor);
            for (uint32_t i = 0; batches != NULL && i < batches->count; i++) {
                if (batches->list[i] >= divisor)
                    add_value(r, batches->list[i] / divisor * divisor);
                add_value(r, (batches->list[i] / divisor + 1) * divisor);
            }
        }
    }
}

/* What the dimension is searched over where nobody lists values of it. */
static void
collect_defaults(sl_search_relax *r)
{
    sl_space space = r->from->request->space;
    const sl_values *values = &space.of[r->dimension];

    space.of[r->dimension].count = 0;
    sl_search_open(r->from->request, &space);
    for (uint32_t i = 0; i < values->count; i++)
        add_value(r, values->list[i]);
}

static void
collect(sl_search_relax *r)
{
    const bool listed = listed_of(r->from->request, r->dimension)->count > 0;

    r->value_count = r->at = 0;
    if (r->dimension == SL_DIMENSION_ACCELERATORS)
        collect_sizes(r);
    else if (r->dimension == SL_DIMENSION_GLOBAL_BATCH)
        collect_divisors(r, &r->from->space.of[SL_DIMENSION_GLOBAL_BATCH]);
    else if (listed && r->dimension == SL_DIMENSION_DATA)
        collect_divisors(r, NULL);
    else if (listed) /* else all that can be was searched */
        collect_defaults(r);
}

static void
open_sizes(sl_search_request *request)
{
    request->space.nodes.count = 0;
    request->space.of[SL_DIMENSION_ACCELERATORS].count = 0;
    request->constraints.max_accelerators = 0;
}

/* The request as it was, but for what is changed next; one answer is enough. */
static void
begin_request(sl_search_relax *r)
{
    r->request = *r->from->request;
    r->request.limit = 1;
    r->request.front = false;
}

static bool
prepares(sl_search_relax *r)
{
    sl_errors ignored = {0};

    return sl_search_prepare(&r->request, r->space, &r->search, &ignored) == SL_OK;
}

/* The next value that makes a space. */
static bool
try_value(sl_search_relax *r)
{
    while (r->at < r->value_count) {
        const uint64_t value = r->values[r->at++].value;
        if (r->at > 1 && value == r->values[r->at - 2].value)
            continue;
        begin_request(r);
        if (r->dimension == SL_DIMENSION_ACCELERATORS)
            open_sizes(&r->request);
        r->request.space.of[r->dimension] = (sl_values){.count = 1, .list = {value}};
        if (prepares(r))
            return true;
    }
    return false;
}

static bool
try_lifted(sl_search_relax *r, uint32_t lifted)
{
    begin_request(r);
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        if ((lifted >> d & 1u) != 0)
            r->request.space.of[d].count = 0;
    if ((lifted >> SL_DIMENSION_ACCELERATORS & 1u) != 0) {
        open_sizes(&r->request);
        r->request.space.every_size = true;
    }
    return prepares(r);
}

static void
keep(sl_search_relax *r, uint32_t dimension, double distance, const sl_search_point *point)
{
    uint32_t at = r->count++;

    for (; at > 0 && r->found[at - 1].distance > distance; at--)
        r->found[at] = r->found[at - 1];
    r->found[at] = (sl_relaxation){(sl_dimension)dimension, distance, *point};
}

/* What is lifted by now is the answer. */
static void
keep_lifted(sl_search_relax *r)
{
    for (r->dimension = 0; r->dimension < SL_DIMENSION_COUNT; r->dimension++)
        if ((r->lifted >> r->dimension & 1u) != 0)
            keep(r, r->dimension, distance_of(r, r->point.value[r->dimension]), &r->point);
}

/* Takes back one more of what is lifted, from r->dimension on. */
static bool
take_back(sl_search_relax *r)
{
    for (; r->units < SL_RELAX_UNITS_MAX && r->dimension < SL_DIMENSION_COUNT; r->dimension++)
        if ((r->lifted >> r->dimension & 1u) != 0 &&
            try_lifted(r, r->lifted & ~(1u << r->dimension)))
            return true;
    r->complete = r->dimension == SL_DIMENSION_COUNT;
    keep_lifted(r);
    return false;
}

/* All that is listed at once, where no value of one helps. */
static bool
lift_all(sl_search_relax *r)
{
    r->together = true;
    r->dimension = SL_DIMENSION_COUNT; /* none is taken back yet */
    if (r->held != 0 && try_lifted(r, r->held))
        return true;
    r->complete = r->held == 0; /* else that space is too large */
    return false;
}

/* Values of the dimension at hand, or of the next; in the end all that is listed is lifted at
 * once. */
static bool
advance(sl_search_relax *r)
{
    while (r->dimension < SL_DIMENSION_COUNT) {
        if (try_value(r))
            return true;
        r->dimension++;
        if (r->dimension < SL_DIMENSION_COUNT)
            collect(r);
    }
    if (r->count == 0)
        return lift_all(r);
    r->complete = true;
    return false;
}

bool
sl_relax_begin(const sl_search *from, void *space, sl_search_relax *out)
{
    assert(from != NULL && space != NULL && out != NULL);

    *out = (sl_search_relax){.from = from, .space = space};
    for (uint32_t d = 0; d < SL_DIMENSION_COUNT; d++)
        if (listed_of(from->request, d)->count > 0)
            out->held |= 1u << d;
    collect(out);
    return advance(out);
}

bool
sl_relax_next(sl_search_relax *r, const sl_search_outcome *found)
{
    const bool answers = found->best_count > 0;

    r->units += found->units;
    if (!r->together) {
        if (answers) {
            keep(r, r->dimension, r->values[r->at - 1].distance, &found->best[0]);
            r->value_count = 0; /* the nearest is enough */
        }
        return r->units < SL_RELAX_UNITS_MAX && advance(r);
    }
    if (r->dimension == SL_DIMENSION_COUNT) { /* all are lifted */
        if (!answers) {
            r->complete = r->hopeless = true;
            return false;
        }
        r->lifted = r->held;
        r->point = found->best[0];
        r->dimension = 0;
        return take_back(r);
    }
    if (answers) {
        r->lifted &= ~(1u << r->dimension);
        r->point = found->best[0];
    }
    r->dimension++;
    return take_back(r);
}
