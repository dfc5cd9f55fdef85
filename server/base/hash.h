/** SHA-256 (FIPS 180-4): content addresses, ETags, migration checksums. Not used for secrets. */
#ifndef SL_BASE_HASH_H
#define SL_BASE_HASH_H

#include <stddef.h>

enum { SL_HASH_TEXT_SIZE = 65 };

/** 64 lower-case hexadecimal digits and a NUL. */
void sl_hash_text(const void *bytes, size_t size, char out[SL_HASH_TEXT_SIZE]);

#endif
