#include "base/identity.h"

#include <assert.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/types.h>

void
sl_identity_text(char out[SL_IDENTITY_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[(SL_IDENTITY_SIZE - 1) / 2] = {0};
    const ssize_t got = getrandom(bytes, sizeof bytes, 0);
    assert(got == (ssize_t)sizeof bytes); /* never short below 256 bytes */
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15U];
    }
    out[SL_IDENTITY_SIZE - 1] = '\0';
}
