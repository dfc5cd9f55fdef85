/**
 * Elements between the document that they are cut from and who visits them: a second thread cuts
 * some at a time while those before are decoded and visited, one after another. What comes first in the
 * document of faults ends the visit.
 */
#ifndef SL_INTAKE_SYNTAX_BATCH_H
#define SL_INTAKE_SYNTAX_BATCH_H

#include "intake/syntax/elements.h"

enum { SL_BATCH_PIECES_MAX = 256, SL_BATCH_BYTES = 32 * 1024 };

typedef struct sl_batch_piece {
    sl_json_piece piece;
    bool visited; /* or only decoded */
} sl_batch_piece;

typedef struct sl_batch {
    sl_buffer text; /* that pieces are cut into */
    size_t bytes;   /* of JSON, over all pieces */
    uint32_t count;
    sl_batch_piece list[SL_BATCH_PIECES_MAX];
    sl_code code; /* of what follows the pieces */
    sl_errors err;
} sl_batch;

/** Nothing more is cut into it. Of a batch with room the next piece may be of any size. */
bool sl_batch_is_full(const sl_batch *batch);
void sl_batch_add(sl_batch *batch, const sl_json_piece *piece, bool visited);

/** What is cut, and by whom it is visited. */
typedef struct sl_batches {
    /** The next pieces, until the batch is full or the document over: then *more is false. Anything
     * but SL_OK ends the document behind what is in the batch. */
    sl_code (*fill)(void *cutter, sl_batch *batch, bool *more, sl_errors *err);
    void *cutter;
    sl_json_cut cut;
    sl_element_visit visit;
    void *context;
} sl_batches;

sl_code sl_batches_visit(const sl_batches *batches, sl_errors *err) SL_MUST_CHECK;

#endif
