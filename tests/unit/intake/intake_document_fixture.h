/** Reading texts and files in tests of the readers of documents. */
#ifndef SL_TESTS_INTAKE_DOCUMENT_FIXTURE_H
#define SL_TESTS_INTAKE_DOCUMENT_FIXTURE_H

#include "intake/format.h"

/** What was read last, with what went wrong. Freed by the next reading. */
typedef struct sl_document_read {
    sl_arena *arena;
    sl_findings *findings;
    const sl_format *format;
    sl_errors err;
    sl_code code;
} sl_document_read;

extern sl_document_read sl_read;

/** Reads a text as a format, or as what it is recognised to be (NULL). */
sl_code sl_read_text(const char *text, const char *format);
/** A fixture of ours, which must be recognised as the format and read. */
void sl_read_fixture(const char *file, const char *format);
/** A file beside the checkout, likewise. False where there is none. */
bool sl_read_shared(const char *file, const char *format);
void sl_read_end(void);

/** The first record of a host; the running case fails where nobody names it. */
const sl_found_host *sl_read_host(const char *name);
void sl_expect_number(const char *host, sl_field field, double number);
void sl_expect_words(const char *host, sl_field field, const char *text);
void sl_expect_unsaid(const char *host, sl_field field);
/** `reason`, `domain`, ... NULL: none. */
void sl_expect_state(const char *host, sl_host_state state, const char *reason);
/** How often a warning of that code was given. */
void sl_expect_warned(const char *code, uint32_t count);
/** The reading failed so. */
void sl_expect_refused(const char *text, const char *format, sl_code code, const char *rule,
                       const char *message);

#endif
