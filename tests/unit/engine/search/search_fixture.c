#include "search_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine_fixture.h"
#include "harness.h"

enum { ALIGNMENT = 16 }; /* for any type */

static sl_search_outcome parts[SL_SEARCH_ROUND_UNITS];
static void *space_memory;

/* The scratch of a unit is garbage when it begins, on which no answer may depend. It is a private
 * view of a file of garbage: laid anew it is that again, at the price of the pages that the last
 * unit wrote. Its end is that of the view, and behind it lies a page that nobody may touch. */
static FILE *garbage[2]; /* forwards, backwards */
static char *view = MAP_FAILED;
static size_t view_bytes, page_bytes;

static bool
open_garbage(int byte, FILE **out)
{
    FILE *file = tmpfile();

    *out = file;
    if (file == NULL)
        return false;
    for (size_t i = 0; i < view_bytes; i++)
        if (putc(byte, file) == EOF)
            return false;
    return fflush(file) == 0;
}

bool
sl_search_fixture_open(void)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    view_bytes = (sl_search_scratch_bytes() / page_bytes + 1) * page_bytes;
    space_memory = malloc(sl_search_bytes());
    if (space_memory == NULL || !open_garbage(0xaa, &garbage[0]) ||
        !open_garbage(0x55, &garbage[1]))
        return false;
    view = mmap(NULL, view_bytes + page_bytes, PROT_NONE, MAP_PRIVATE, fileno(garbage[0]), 0);
    return view != MAP_FAILED;
}

void
sl_search_fixture_close(void)
{
    if (view != MAP_FAILED)
        (void)munmap(view, view_bytes + page_bytes);
    for (size_t i = 0; i < 2; i++)
        if (garbage[i] != NULL)
            (void)fclose(garbage[i]);
    free(space_memory);
}

static void *
fresh_scratch(bool backwards)
{
    const size_t bytes = (sl_search_scratch_bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    CU_ASSERT_PTR_EQUAL_FATAL(mmap(view, view_bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_FIXED, fileno(garbage[backwards]), 0),
                              view);
    return view + (view_bytes - bytes);
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
            sl_search_unit(search, begin + at, out, fresh_scratch(backwards), &parts[at]);
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
