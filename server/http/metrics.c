#include "http/metrics.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "http/histogram.h"

const char *const sl_method_labels[SL_METHOD_LABEL_COUNT] = {"GET",    "HEAD",    "POST",  "PUT",
                                                             "DELETE", "OPTIONS", "PATCH", "other"};

/* Every status this server gives; the first is no answer at all, the last any other. */
static const struct {
    uint32_t status;
    const char *label;
} codes[] = {{0, "none"},  {200, "200"}, {201, "201"}, {202, "202"}, {204, "204"}, {206, "206"},
             {304, "304"}, {400, "400"}, {401, "401"}, {403, "403"}, {404, "404"}, {405, "405"},
             {409, "409"}, {412, "412"}, {413, "413"}, {415, "415"}, {421, "421"}, {422, "422"},
             {429, "429"}, {500, "500"}, {502, "502"}, {503, "503"}, {504, "504"}, {0, "other"}};
enum { CODE_COUNT = sizeof codes / sizeof codes[0], CODE_OTHER = CODE_COUNT - 1 };

/* What one value of the label route counts. */
typedef struct route_counts {
    const char *name;
    atomic_uint_fast64_t requests[SL_METHOD_LABEL_COUNT][CODE_COUNT];
    sl_histogram durations;
} route_counts;

struct sl_metrics {
    const sl_route *routes;
    size_t route_count;
    size_t *slot_of_route; /* routes of one pattern share a slot */
    route_counts *slots;   /* the first two are those of nothing and of static files */
    size_t slot_count;
};

enum { SLOT_NONE, SLOT_STATIC, SLOT_FIRST_ROUTE };

uint32_t
sl_method_label(const char *method)
{
    assert(method != NULL);
    const int index = sl_text_index(method, sl_method_labels, SL_METHOD_LABEL_COUNT - 1);
    return index < 0 ? SL_METHOD_LABEL_COUNT - 1 : (uint32_t)index;
}

sl_metrics *
sl_metrics_new(const sl_route *routes, size_t route_count)
{
    assert(routes != NULL || route_count == 0);

    sl_metrics *const metrics = calloc(1, sizeof *metrics);
    size_t *const slot_of_route = calloc(route_count + 1, sizeof *slot_of_route);
    route_counts *const slots = calloc(route_count + SLOT_FIRST_ROUTE, sizeof *slots);
    if (metrics == NULL || slot_of_route == NULL || slots == NULL) {
        free(slots);
        free(slot_of_route);
        free(metrics);
        return NULL;
    }
    size_t used = SLOT_FIRST_ROUTE;
    slots[SLOT_NONE].name = "none";
    slots[SLOT_STATIC].name = "static";
    for (size_t i = 0; i < route_count; i++) {
        size_t slot = SLOT_FIRST_ROUTE;
        while (slot < used && !sl_text_equal(slots[slot].name, routes[i].pattern))
            slot++;
        if (slot == used)
            slots[used++].name = routes[i].pattern;
        slot_of_route[i] = slot;
    }
    *metrics = (sl_metrics){.routes = routes,
                            .route_count = route_count,
                            .slot_of_route = slot_of_route,
                            .slots = slots,
                            .slot_count = used};
    return metrics;
}

void
sl_metrics_free(sl_metrics *metrics)
{
    if (metrics == NULL)
        return;
    free(metrics->slots);
    free(metrics->slot_of_route);
    free(metrics);
}

static route_counts *
slot_of(const sl_metrics *metrics, const char *route_name)
{
    if (route_name == NULL)
        return &metrics->slots[SLOT_NONE];
    for (size_t i = 0; i < metrics->route_count; i++)
        if (metrics->routes[i].pattern == route_name)
            return &metrics->slots[metrics->slot_of_route[i]];
    return &metrics->slots[SLOT_STATIC];
}

void
sl_metrics_count(sl_metrics *metrics, const char *route_name, uint32_t method_label,
                 uint32_t status, double duration_s)
{
    assert(metrics != NULL && method_label < SL_METHOD_LABEL_COUNT && duration_s >= 0);

    route_counts *const counts = slot_of(metrics, route_name);
    size_t code = 0;
    while (code < CODE_OTHER && codes[code].status != status)
        code++;
    (void)atomic_fetch_add_explicit(&counts->requests[method_label][code], 1, memory_order_relaxed);
    sl_histogram_count(&counts->durations, duration_s);
}

static void
requests_write(const route_counts *counts, sl_buffer *out)
{
    for (size_t method = 0; method < SL_METHOD_LABEL_COUNT; method++) {
        for (size_t code = 0; code < CODE_COUNT; code++) {
            const uint64_t value =
                atomic_load_explicit(&counts->requests[method][code], memory_order_relaxed);
            const sl_pair labels[] = {{"route", counts->name},
                                      {"method", sl_method_labels[method]},
                                      {"code", codes[code].label}};
            if (value > 0)
                sl_exposition_count(out, "shardline_http_requests_total", labels, 3, value);
        }
    }
}

void
sl_metrics_write(const sl_metrics *metrics, sl_buffer *out)
{
    static const char durations[] = "shardline_http_request_duration_seconds";

    assert(metrics != NULL && out != NULL);
    sl_exposition_family(out, "shardline_http_requests_total", "counter",
                         "Requests that ended, by route template, method and status.");
    for (size_t i = 0; i < metrics->slot_count; i++)
        requests_write(&metrics->slots[i], out);
    sl_exposition_family(out, durations, "histogram",
                         "Time from the head of a request to the end of its answer.");
    for (size_t i = 0; i < metrics->slot_count; i++)
        sl_histogram_write(&metrics->slots[i].durations, durations,
                           &(sl_pair){"route", metrics->slots[i].name}, out);
}

/* Resident pages, the second number of Linux's own line; false where it cannot be read. */
static bool
resident_bytes(uint64_t *out)
{
    const long page_bytes = sysconf(_SC_PAGESIZE);
    char line[128];
    uint64_t pages = 0;
    FILE *const file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return false;
    const bool read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    if (!read || page_bytes <= 0)
        return false;
    char *const word = line + strcspn(line, " ") + (strchr(line, ' ') != NULL);
    word[strcspn(word, " ")] = '\0';
    if (!sl_text_to_uint(word, &pages))
        return false;
    *out = pages * (uint64_t)page_bytes;
    return true;
}

void
sl_metrics_write_process(uint64_t start_time_ns, sl_buffer *out)
{
    uint64_t resident = 0;
    if (resident_bytes(&resident)) {
        sl_exposition_family(out, "process_resident_memory_bytes", "gauge",
                             "Memory of the process that is in RAM.");
        sl_exposition_count(out, "process_resident_memory_bytes", NULL, 0, resident);
    }
    sl_exposition_family(out, "process_start_time_seconds", "gauge",
                         "When the server started, in seconds since 1970.");
    sl_exposition_time(out, "process_start_time_seconds", NULL, 0, start_time_ns);
}
