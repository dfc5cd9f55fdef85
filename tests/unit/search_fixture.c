#include "search_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "engine_fixture.h"

static sl_search_outcome parts[SL_SEARCH_ROUND_UNITS];
static void *space_memory, *scratch_memory;

bool
sl_search_fixture_open(void)
{
    space_memory = malloc(sl_search_bytes());
    scratch_memory = malloc(sl_search_scratch_bytes());
    return space_memory != NULL && scratch_memory != NULL;
}

void
sl_search_fixture_close(void)
{
    free(scratch_memory);
    free(space_memory);
}

sl_code
sl_search_of(const sl_search_request *request, const sl_search **out, sl_errors *err)
{
    return sl_search_prepare(request, space_memory, out, err);
}

void
sl_search_run_units(const sl_search *search, bool backwards, bool first, sl_search_outcome *out)
{
    const uint32_t units = sl_search_unit_count(search);

    sl_search_begin(out);
    for (uint32_t begin = 0; begin < units; begin += SL_SEARCH_ROUND_UNITS) {
        const uint32_t left = units - begin;
        const uint32_t count = left < SL_SEARCH_ROUND_UNITS ? left : SL_SEARCH_ROUND_UNITS;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t at = backwards ? count - 1 - i : i;
            memset(scratch_memory, backwards ? 0x55 : 0xaa, sl_search_scratch_bytes());
            sl_search_unit(search, begin + at, out, scratch_memory, &parts[at]);
        }
        for (uint32_t i = 0; i < count; i++)
            sl_search_merge(search, &parts[i], out);
        if (first && out->best_count > 0)
            return;
    }
}

sl_code
sl_search_all(const sl_search_request *request, bool backwards, sl_search_outcome *out,
              sl_errors *err)
{
    const sl_search *search = NULL;

    *err = (sl_errors){0};
    const sl_code code = sl_search_of(request, &search, err);
    if (code == SL_OK)
        sl_search_run_units(search, backwards, false, out);
    return code;
}

sl_question
sl_small_question(sl_cluster *cluster, sl_software *software)
{
    const sl_dense_spec spec = sl_fixture_llama();

    *cluster = sl_fixture_cluster(2);
    cluster->price_per_node_hour = 20.0;
    *software = sl_fixture_software();
    sl_question q = sl_fixture_question(sl_fixture_model(&spec), cluster, software);
    q.workload.attention = SL_ATTENTION_FLASH2;
    q.workload.global_batch = 64;
    q.workload.sequence_length = 8192;
    q.workload.tokens = 1000000000;
    return q;
}

sl_search_request
sl_request_of(const sl_question *question)
{
    return (sl_search_request){.question_count = 1,
                               .questions = question,
                               .objective = SL_OBJECTIVE_THROUGHPUT,
                               .limit = 5,
                               .front = true};
}

void
sl_set_values(sl_search_request *request, sl_dimension dimension, uint32_t count,
              const uint64_t *values)
{
    sl_values *to = &request->space.of[dimension];

    to->count = count;
    memcpy(to->list, values, count * sizeof *values);
}
