#include "trace/gunzip.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

enum { OUTPUT_BYTES = 64 * 1024, MAGIC = 0x1f, GZIP_WINDOW = 15 + 16 };

typedef enum phase {
    UNKNOWN, /* no byte came yet */
    PLAIN,
    PACKED,
    BETWEEN, /* a file is complete: another may begin */
    PADDING
} phase;

struct sl_gunzip {
    sl_bytes_sink sink;
    void *context;
    uint64_t limit_bytes;
    uint64_t in_bytes, out_bytes;
    phase phase;
    bool begun; /* stream holds a state that is to be freed */
    z_stream stream;
    Bytef output[OUTPUT_BYTES];
};

sl_gunzip *
sl_gunzip_new(uint64_t limit_bytes, sl_bytes_sink sink, void *context)
{
    assert(sink != NULL);
    sl_gunzip *const gunzip = calloc(1, sizeof *gunzip);
    if (gunzip == NULL)
        return NULL;
    gunzip->sink = sink;
    gunzip->context = context;
    gunzip->limit_bytes = limit_bytes;
    return gunzip;
}

void
sl_gunzip_free(sl_gunzip *gunzip)
{
    if (gunzip == NULL)
        return;
    if (gunzip->begun)
        (void)inflateEnd(&gunzip->stream);
    free(gunzip);
}

static sl_code
malformed(const sl_gunzip *gunzip, sl_errors *err, const char *what)
{
    return sl_fail(err, SL_E_SYNTAX, "malformed_gzip", "", "byte %" PRIu64 " of the gzip: %s",
                   gunzip->in_bytes, what);
}

static sl_code
give(sl_gunzip *gunzip, const char *bytes, size_t size, sl_errors *err)
{
    if (size > gunzip->limit_bytes - gunzip->out_bytes)
        return sl_fail(err, SL_E_TOO_LARGE, "too_large", "",
                       "the text must not be over %" PRIu64 " bytes once it is unpacked",
                       gunzip->limit_bytes);
    gunzip->out_bytes += size;
    return size == 0 ? SL_OK : gunzip->sink(gunzip->context, bytes, size, err);
}

/* Decides by the first byte of a file: what it is. */
static sl_code
begin(sl_gunzip *gunzip, char first, sl_errors *err)
{
    if (first != MAGIC) {
        gunzip->phase = gunzip->phase == UNKNOWN ? PLAIN : PADDING;
        return SL_OK;
    }
    const int made =
        gunzip->begun ? inflateReset(&gunzip->stream) : inflateInit2(&gunzip->stream, GZIP_WINDOW);
    if (made != Z_OK)
        return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to unpack with");
    gunzip->begun = true;
    gunzip->phase = PACKED;
    return SL_OK;
}

/* Unpacks up to the end of one file; *used of the bytes are read. */
static sl_code
unpack(sl_gunzip *gunzip, const char *bytes, size_t size, size_t *used, sl_errors *err)
{
    z_stream *const stream = &gunzip->stream;
    const uInt given = size < OUTPUT_BYTES ? (uInt)size : OUTPUT_BYTES;
    union { /* zlib reads its input and says otherwise */
        const char *readable;
        Bytef *bytes;
    } input = {.readable = bytes};

    stream->next_in = input.bytes;
    stream->avail_in = given;
    do {
        stream->next_out = gunzip->output;
        stream->avail_out = OUTPUT_BYTES;
        const int result = inflate(stream, Z_NO_FLUSH);
        const size_t made = OUTPUT_BYTES - stream->avail_out;
        *used = given - stream->avail_in;
        /* What came out counts before what went wrong behind it. */
        const sl_code code = give(gunzip, (const char *)gunzip->output, made, err);
        if (code != SL_OK)
            return code;
        if (result == Z_MEM_ERROR)
            return sl_fail(err, SL_E_MEMORY, "out_of_memory", "", "no memory to unpack with");
        /* Z_BUF_ERROR: it wants more of either, and the next round or part brings it. */
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            gunzip->in_bytes += *used;
            return malformed(gunzip, err, stream->msg == NULL ? "it is damaged" : stream->msg);
        }
        if (result == Z_STREAM_END) {
            gunzip->phase = BETWEEN;
            break;
        }
    } while (stream->avail_in > 0 || stream->avail_out == 0);
    gunzip->in_bytes += *used;
    return SL_OK;
}

static sl_code
skip_padding(sl_gunzip *gunzip, const char *bytes, size_t size, sl_errors *err)
{
    for (size_t i = 0; i < size; i++, gunzip->in_bytes++)
        if (bytes[i] != '\0')
            return malformed(gunzip, err, "what follows it is no gzip");
    return SL_OK;
}

sl_code
sl_gunzip_feed(sl_gunzip *gunzip, const char *bytes, size_t size, sl_errors *err)
{
    assert(gunzip != NULL && (bytes != NULL || size == 0));

    sl_code code = SL_OK;
    for (size_t at = 0; at < size && code == SL_OK;) {
        size_t used = size - at;
        if (gunzip->phase == UNKNOWN || gunzip->phase == BETWEEN) {
            code = begin(gunzip, bytes[at], err);
            continue;
        }
        if (gunzip->phase == PLAIN)
            code = give(gunzip, bytes + at, used, err);
        else if (gunzip->phase == PADDING)
            code = skip_padding(gunzip, bytes + at, used, err);
        else
            code = unpack(gunzip, bytes + at, used, &used, err);
        at += used;
    }
    return code;
}

sl_code
sl_gunzip_finish(const sl_gunzip *gunzip, sl_errors *err)
{
    assert(gunzip != NULL);
    return gunzip->phase == PACKED ? malformed(gunzip, err, "it ends too early") : SL_OK;
}
