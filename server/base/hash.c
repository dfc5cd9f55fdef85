#include "base/hash.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 64, LENGTH_BYTES = 8, STATE_WORDS = 8, ROUNDS = 64 };

/* FIPS 180-4 §4.2.2: first 32 bits of the fractional parts of the cube roots of the primes. */
static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t
rotate_right(uint32_t word, uint32_t bits)
{
    return word >> bits | word << (32 - bits);
}

/* FIPS 180-4 §6.2.2. */
static void
compress(uint32_t state[STATE_WORDS], const unsigned char block[BLOCK_BYTES])
{
    uint32_t w[ROUNDS];
    for (size_t t = 0; t < 16; t++) {
        const unsigned char *const word = block + 4 * t;
        w[t] = (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 | word[3];
    }
    for (size_t t = 16; t < ROUNDS; t++) {
        const uint32_t s0 =
            rotate_right(w[t - 15], 7) ^ rotate_right(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t s1 =
            rotate_right(w[t - 2], 17) ^ rotate_right(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (size_t t = 0; t < ROUNDS; t++) {
        const uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        const uint32_t choose = (e & f) ^ (~e & g);
        const uint32_t t1 = h + sum1 + choose + round_constants[t] + w[t];
        const uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + sum0 + majority;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void
sl_hash_text(const void *bytes, size_t size, char out[SL_HASH_TEXT_SIZE])
{
    assert((bytes != NULL || size == 0) && out != NULL);

    static const char digits[] = "0123456789abcdef";
    uint32_t state[STATE_WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *const start = bytes;
    const size_t whole = size - size % BLOCK_BYTES;
    for (size_t at = 0; at < whole; at += BLOCK_BYTES)
        compress(state, start + at);

    /* A one bit, zeros, and the length in bits fill the last one or two blocks. */
    unsigned char tail[2 * BLOCK_BYTES] = {0};
    const size_t rest = size - whole;
    if (rest > 0)
        memcpy(tail, start + whole, rest);
    tail[rest] = 0x80;
    const size_t tail_size = rest + 1 + LENGTH_BYTES <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    const uint64_t size_bits = (uint64_t)size * 8;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        tail[tail_size - 1 - i] = (unsigned char)(size_bits >> (8 * i));
    for (size_t at = 0; at < tail_size; at += BLOCK_BYTES)
        compress(state, tail + at);

    for (size_t i = 0; i < SL_HASH_TEXT_SIZE - 1; i++)
        out[i] = digits[state[i / 8] >> (28 - 4 * (i % 8)) & 0xFu];
    out[SL_HASH_TEXT_SIZE - 1] = '\0';
}

/* A product's upper bits depend on all bits of its factors, the lower ones do not. */
static uint64_t
mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

uint64_t
sl_hash_quick(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t word = 0;

    for (size_t left = size; left >= sizeof word; left -= sizeof word) {
        memcpy(&word, at, sizeof word);
        at += sizeof word;
        hash = mix(hash, word);
    }
    word = 0;
    for (size_t left = size % sizeof word; left > 0; left--)
        word = word << 8 | *at++;
    return mix(mix(hash, word), size);
}
