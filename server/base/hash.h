/** SHA-256 (FIPS 180-4): content addresses, ETags, migration checksums. Not used for secrets. */
#ifndef SL_BASE_HASH_H
#define SL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { SL_HASH_TEXT_SIZE = 65 };

/** 64 lower-case hexadecimal digits and a NUL. */
void sl_hash_text(const void *bytes, size_t size, char out[SL_HASH_TEXT_SIZE]);

/** For tables in memory, of this machine's byte order: `hash` is that of what came before,
 * SL_QUICK_HASH_START at first. Anybody can make two texts with one hash. */
uint64_t sl_hash_quick(uint64_t hash, const void *bytes, size_t size);

#define SL_QUICK_HASH_START 14695981039346656037u

#endif
