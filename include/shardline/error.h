/**
 * What can go wrong, said so that a program and a person can both act on it.
 *
 * Whatever a user can cause becomes an sl_error in the caller's bounded list, so that one answer
 * names every fault of a request; whatever only we can cause is an assert.
 */
#ifndef SHARDLINE_ERROR_H
#define SHARDLINE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SL_MUST_CHECK __attribute__((warn_unused_result))
#define SL_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define SL_MUST_CHECK
#define SL_PRINTF(format_at, first_at)
#endif

/** Each code is one HTTP status; the table that maps them lives in server/http/problem.c. */
typedef enum sl_code {
    SL_OK = 0,
    SL_E_SYNTAX,       /* the text is not what it claims to be (400) */
    SL_E_RANGE,        /* understood, but the value or combination is impossible (422) */
    SL_E_UNSUPPORTED,  /* understood, and refused by name: not modelled (422) */
    SL_E_NOT_FOUND,    /* 404 */
    SL_E_FORBIDDEN,    /* 403 */
    SL_E_CONFLICT,     /* 409 */
    SL_E_DOES_NOT_FIT, /* a plan asked to fit does not; the answer carries it (409) */
    SL_E_PRECONDITION, /* 412 */
    SL_E_TOO_LARGE,    /* 413 */
    SL_E_MEDIA_TYPE,   /* 415 */
    SL_E_RATE_LIMITED, /* an upstream told us to slow down (503 with Retry-After) */
    SL_E_UPSTREAM,     /* an upstream answered nonsense or could not be reached (502) */
    SL_E_TIMEOUT,      /* the deadline passed (504) */
    SL_E_UNAVAILABLE,  /* a part of the service is missing: database, free worker (503) */
    SL_E_MEMORY,       /* an allocation failed or a bound of ours was reached (503) */
    SL_E_INTERNAL,     /* a fault of ours that a request could reach (500) */
    SL_CODE_COUNT
} sl_code;

typedef struct sl_error {
    sl_code code;
    char pointer[128];      /* RFC 6901 pointer into the request; "" is the whole document */
    const char *rule;       /* "not_divisible": stable, for programs; static storage */
    char message[192];      /* one lower-case sentence: the rule, then the value received */
    char hint[128];         /* the nearest legal values, or "" */
    uint32_t retry_after_s; /* when trying again may help, where the cause said so; 0: it did not */
} sl_error;

enum { SL_ERRORS_MAX = 16 };

/** Zero-initialise before use, or sl_errors_begin. `dropped` counts what did not fit. */
typedef struct sl_errors {
    uint32_t count;
    uint32_t dropped;
    bool terse;    /* code, rule and pointer alone: for who counts rules and reads no sentences */
    bool unhinted; /* no legal values looked for: for who compares what is wrong */
    sl_error list[SL_ERRORS_MAX];
} sl_errors;

/** Empty, at no more cost than that: a list in a loop is not cleared. */
static inline void
sl_errors_begin(sl_errors *err, bool terse)
{
    err->count = err->dropped = 0;
    err->terse = terse;
    err->unhinted = false;
}

/**
 * Appends one error and returns `code`, so that a check reads `return sl_fail(...)`.
 * pointer, rule: not NULL; rule must outlive the list (a literal). Long texts are cut.
 */
sl_code sl_fail(sl_errors *err, sl_code code, const char *rule, const char *pointer,
                const char *format, ...) SL_PRINTF(5, 6);

/** Sets the hint of the error appended last; does nothing when it was dropped. */
void sl_hint(sl_errors *err, const char *format, ...) SL_PRINTF(2, 3);

/** The same with a list of legal values, "1, 2, 4"; what does not fit becomes "...". */
void sl_hint_values(sl_errors *err, const uint64_t *values, uint32_t count);

/** The same with the divisors that `a` and `b` have in common, up to `most` and 64 of them. */
void sl_hint_divisors(sl_errors *err, uint64_t a, uint64_t b, uint64_t most);

/** Sets after how many seconds trying again may help, for the error appended last. */
void sl_retry_after(sl_errors *err, uint32_t seconds);

#endif
