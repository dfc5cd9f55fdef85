#include "trace/gzip.h"

#include <assert.h>
#include <limits.h>

#define ZLIB_CONST /* its input is only read */
#include <zlib.h>

enum { GZIP_WINDOW_BITS = 15 + 16, MEMORY_LEVEL = 8, PIECE_BYTES = 1 << 16 };

/* Packs all of it into `out`, whose failure is the caller's to see. */
static bool
pack(z_stream *stream, const sl_buffer *from, sl_buffer *out)
{
    static const size_t most = UINT_MAX;
    size_t done = 0;
    int state = Z_OK;

    while (state == Z_OK && !out->failed) {
        unsigned char piece[PIECE_BYTES];
        if (stream->avail_in == 0 && done < from->size) {
            const size_t left = from->size - done < most ? from->size - done : most;
            stream->next_in = (const unsigned char *)from->data + done;
            stream->avail_in = (uInt)left;
            done += left;
        }
        stream->next_out = piece;
        stream->avail_out = sizeof piece;
        state = deflate(stream, done == from->size ? Z_FINISH : Z_NO_FLUSH);
        sl_buffer_append(out, piece, sizeof piece - stream->avail_out);
    }
    return state == Z_STREAM_END && !out->failed;
}

bool
sl_gzip(sl_buffer *buffer)
{
    z_stream stream = {0};
    sl_buffer packed;

    assert(buffer != NULL);
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    sl_buffer_init(&packed, buffer->limit);
    const bool done = pack(&stream, buffer, &packed);
    (void)deflateEnd(&stream);
    if (!done) {
        sl_buffer_clear(&packed);
        return false;
    }
    sl_buffer_clear(buffer);
    *buffer = packed;
    return true;
}
