/* The first line is the content type, the rest the body. Parts lie inside the body, in order. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "http/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char type[256];
    sl_multipart parts;
    sl_part_body part;
    sl_errors err = {0};
    bool more = true;
    const char *const text = (const char *)bytes;
    const char *const feed = size > 0 ? memchr(text, '\n', size) : NULL;
    const size_t length = feed == NULL ? 0 : (size_t)(feed - text);

    if (feed == NULL || length >= sizeof type || memchr(text, '\0', length) != NULL)
        return 0;
    memcpy(type, text, length);
    type[length] = '\0';
    if (sl_multipart_open(type, feed + 1, size - length - 1, &parts, &err) != SL_OK)
        return 0;
    for (const char *last = feed + 1;
         sl_multipart_next(&parts, &part, &more, &err) == SL_OK && more;) {
        assert(part.text >= last && part.text + part.size <= text + size);
        last = part.text + part.size;
    }
    return 0;
}
