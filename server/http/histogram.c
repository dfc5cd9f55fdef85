#include "http/histogram.h"

#include <assert.h>

#include "base/text.h"

static const struct {
    double bound_s;
    const char *label;
} bounds[SL_HISTOGRAM_BOUNDS] = {
    {0.0001, "0.0001"}, {0.00025, "0.00025"}, {0.0005, "0.0005"}, {0.001, "0.001"},
    {0.0025, "0.0025"}, {0.005, "0.005"},     {0.01, "0.01"},     {0.025, "0.025"},
    {0.05, "0.05"},     {0.1, "0.1"},         {0.25, "0.25"},     {0.5, "0.5"},
    {1, "1"},           {2.5, "2.5"},         {5, "5"},           {10, "10"},
    {30, "30"},         {60, "60"},           {300, "300"}};

void
sl_histogram_count(sl_histogram *histogram, double duration_s)
{
    assert(histogram != NULL && duration_s >= 0);

    size_t bucket = 0;
    while (bucket < SL_HISTOGRAM_BOUNDS && duration_s > bounds[bucket].bound_s)
        bucket++;
    (void)atomic_fetch_add_explicit(&histogram->within[bucket], 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&histogram->sum_ns, (uint64_t)(duration_s * 1e9),
                                    memory_order_relaxed);
}

/* Each counter is read once: the samples of one scrape need not be of one moment. */
static uint64_t
now(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void
sl_histogram_write(const sl_histogram *histogram, const char *name, const sl_pair *label,
                   sl_buffer *out)
{
    assert(histogram != NULL && name != NULL && label != NULL && out != NULL);

    enum { NAME_SIZE = 96 };
    char sample[NAME_SIZE];
    uint64_t within[SL_HISTOGRAM_BOUNDS + 1];
    uint64_t total = 0;
    for (size_t i = 0; i <= SL_HISTOGRAM_BOUNDS; i++) {
        total += now(&histogram->within[i]);
        within[i] = total;
    }
    if (total == 0)
        return;
    (void)sl_text_format(sample, sizeof sample, "%s_bucket", name);
    for (size_t i = 0; i <= SL_HISTOGRAM_BOUNDS; i++) {
        const sl_pair labels[] = {*label,
                                  {"le", i < SL_HISTOGRAM_BOUNDS ? bounds[i].label : "+Inf"}};
        sl_exposition_count(out, sample, labels, 2, within[i]);
    }
    (void)sl_text_format(sample, sizeof sample, "%s_sum", name);
    sl_exposition_time(out, sample, label, 1, now(&histogram->sum_ns));
    (void)sl_text_format(sample, sizeof sample, "%s_count", name);
    sl_exposition_count(out, sample, label, 1, total);
}
