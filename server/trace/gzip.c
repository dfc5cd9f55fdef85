#include "trace/gzip.h"

#include <assert.h>
#include <stdlib.h>

#define ZLIB_CONST /* its input is only read */
#include <zlib.h>

enum {
    GZIP_WINDOW_BITS = 15 + 16,
    MEMORY_LEVEL = 8,
    PIECE_BYTES = 1 << 16,
    TEXT_BYTES = 1 << 20 /* of the text at a time */
};

struct sl_gzip {
    z_stream stream;
    sl_buffer *out;
    sl_buffer text; /* not packed yet */
    bool began;     /* some of it was */
};

/* Packs what there is of the text, to the end of the file with Z_FINISH. */
static void
pack(sl_gzip *gzip, int flush)
{
    z_stream *const stream = &gzip->stream;
    int state = Z_OK;

    gzip->began = true;
    stream->next_in = (const unsigned char *)gzip->text.data;
    stream->avail_in = (uInt)gzip->text.size;
    do {
        unsigned char piece[PIECE_BYTES];
        stream->next_out = piece;
        stream->avail_out = sizeof piece;
        state = deflate(stream, flush);
        sl_buffer_append(gzip->out, piece, sizeof piece - stream->avail_out);
    } while (state == Z_OK && stream->avail_out == 0 && !gzip->out->failed);
    gzip->text.size = 0;
    gzip->text.failed = gzip->out->failed;
    assert(gzip->out->failed || flush != Z_FINISH || state == Z_STREAM_END);
}

static void
drain(void *context, sl_buffer *text)
{
    sl_gzip *const gzip = context;

    assert(text == &gzip->text);
    pack(gzip, Z_NO_FLUSH);
}

sl_gzip *
sl_gzip_new(sl_buffer *out)
{
    assert(out != NULL && out->size == 0);

    sl_gzip *const gzip = calloc(1, sizeof *gzip);
    if (gzip == NULL)
        return NULL;
    if (deflateInit2(&gzip->stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    gzip->out = out;
    sl_buffer_init(&gzip->text, TEXT_BYTES);
    gzip->text.drain = drain;
    gzip->text.drain_context = gzip;
    return gzip;
}

void
sl_gzip_free(sl_gzip *gzip)
{
    if (gzip == NULL)
        return;
    (void)deflateEnd(&gzip->stream);
    sl_buffer_clear(&gzip->text);
    free(gzip);
}

sl_buffer *
sl_gzip_text(sl_gzip *gzip)
{
    assert(gzip != NULL);
    return &gzip->text;
}

bool
sl_gzip_finish(sl_gzip *gzip, size_t from_bytes, bool *packed)
{
    assert(gzip != NULL && packed != NULL);

    *packed = gzip->began || gzip->text.size >= from_bytes;
    if (gzip->text.failed)
        return false;
    if (*packed)
        pack(gzip, Z_FINISH);
    else
        sl_buffer_append(gzip->out, gzip->text.data, gzip->text.size);
    return !gzip->out->failed;
}
