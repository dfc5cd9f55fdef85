#include "intake/batch.h"

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

/* While batches go from hand to hand. */
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
    batch->count = batch->decoded = 0;
    sl_errors_begin(&batch->err, false);
    batch->code = p->of->fill(p->of->cutter, batch, &more, &batch->err);
    return more && batch->code == SL_OK;
}

/* Up to the first that is refused, which then is what is wrong. */
static void
decode(void *context, void *load)
{
    const passing *const p = context;
    sl_batch *const batch = load;
    sl_errors fault;
    sl_errors_begin(&fault, false);

    for (; batch->decoded < batch->count; batch->decoded++) {
        sl_batch_piece *const at = &batch->list[batch->decoded];
        const sl_code code =
            sl_json_piece_decode(&at->piece, &p->of->cut, &batch->text, &at->json, &fault);
        if (code != SL_OK) {
            batch->code = code;
            batch->err = fault;
            return;
        }
    }
}

static sl_code
visit(const passing *p, const sl_batch *batch)
{
    for (uint32_t i = 0; i < batch->decoded; i++) {
        const sl_batch_piece *const at = &batch->list[i];
        const sl_node root = sl_json_root(at->json);
        const sl_code code =
            at->visited ? p->of->visit(p->of->context, &root, at->piece.line, p->err) : SL_OK;
        if (code != SL_OK)
            return code;
    }
    return batch->code == SL_OK ? SL_OK : sl_refail(&batch->err.list[0], p->err);
}

static bool
give(void *context, void *load)
{
    passing *const p = context;
    sl_batch *const batch = load;

    if (p->code == SL_OK)
        p->code = visit(p, batch);
    for (uint32_t i = 0; i < batch->decoded; i++)
        sl_json_free(batch->list[i].json);
    return p->code == SL_OK;
}

sl_code
sl_batches_visit(const sl_batches *batches, sl_errors *err)
{
    assert(batches != NULL && batches->fill != NULL && err != NULL);

    passing p = {.of = batches, .err = err};
    const sl_relay relay = {.take = take, .work = decode, .give = give, .context = &p};
    sl_batch *const pair = malloc(2 * sizeof *pair);
    if (pair == NULL)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to read elements");
    sl_buffer_init(&pair[0].text, SIZE_MAX);
    sl_buffer_init(&pair[1].text, SIZE_MAX);
    sl_relay_run(&relay, &pair[0], &pair[1]);
    sl_buffer_clear(&pair[0].text);
    sl_buffer_clear(&pair[1].text);
    free(pair);
    return p.code;
}
