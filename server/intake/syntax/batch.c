#include "intake/syntax/batch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/relay.h"
#include "json/members.h"

bool
sl_batch_is_full(const sl_batch *batch)
{
    return batch->count == SL_BATCH_PIECES_MAX || batch->bytes >= SL_BATCH_BYTES;
}

void
sl_batch_add(sl_batch *batch, const sl_json_piece *piece, bool visited)
{
    assert(batch != NULL && !sl_batch_is_full(batch) && piece != NULL);

    batch->list[batch->count++] = (sl_batch_piece){.piece = *piece, .visited = visited};
    batch->bytes += piece->whole ? piece->source_size : piece->size;
}

/* While batches go from hand to hand; `code` and `err` are the visitor's. */
typedef struct passing {
    const sl_batches *of;
    sl_code code; /* of the first fault that was met, and it */
    sl_errors *err;
} passing;

static bool
take(void *context, void *load)
{
    const passing *const p = context;
    sl_batch *const batch = load;
    bool more = false;

    batch->text.size = batch->bytes = 0;
    batch->count = 0;
    sl_errors_begin(&batch->err, false);
    batch->code = p->of->fill(p->of->cutter, batch, &more, &batch->err);
    return more && batch->code == SL_OK;
}

static sl_code
visit_one(const passing *p, const sl_batch *batch, const sl_batch_piece *at)
{
    sl_json *json = NULL;

    sl_code code = sl_json_piece_decode(&at->piece, &p->of->cut, &batch->text, &json, p->err);
    if (code == SL_OK && at->visited) {
        const sl_node root = sl_json_root(json);
        code = p->of->visit(p->of->context, &root, at->piece.line, p->err);
    }
    sl_json_free(json);
    return code;
}

static bool
visit(void *context, void *load)
{
    passing *const p = context;
    const sl_batch *const batch = load;

    for (uint32_t i = 0; i < batch->count && p->code == SL_OK; i++)
        p->code = visit_one(p, batch, &batch->list[i]);
    if (p->code == SL_OK && batch->code != SL_OK)
        p->code = sl_refail(&batch->err.list[0], p->err);
    return p->code == SL_OK;
}

sl_code
sl_batches_visit(const sl_batches *batches, sl_errors *err)
{
    assert(batches != NULL && batches->fill != NULL && err != NULL);

    passing p = {.of = batches, .err = err};
    sl_relay relay = {.take = take, .work = visit, .context = &p};
    sl_batch *const loads = malloc(SL_RELAY_LOADS * sizeof *loads);
    if (loads == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read elements");
    for (uint32_t i = 0; i < SL_RELAY_LOADS; i++) {
        sl_buffer_init(&loads[i].text, SIZE_MAX);
        relay.loads[i] = &loads[i];
    }
    sl_relay_run(&relay);
    for (uint32_t i = 0; i < SL_RELAY_LOADS; i++)
        sl_buffer_clear(&loads[i].text);
    free(loads);
    return p.code;
}
