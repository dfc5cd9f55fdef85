/**
 * Outputs of one tool on many hosts, as they are collected into one text: each under a line that
 * names its host ("# gpu001", "==> gpu001 <==", "gpu001 | CHANGED | rc=0 >>", "gpu001:"), or every
 * line behind its host ("gpu001: ..."). Hosts of the second sort take turns.
 */
#ifndef SL_INTAKE_CAPTURES_H
#define SL_INTAKE_CAPTURES_H

#include "codec/inventory/hosts.h"
#include "intake/syntax/lines.h"
#include "shardline/error.h"

typedef struct sl_captures {
    sl_lines lines;
    bool prefixed;                   /* every line begins with its host */
    bool ruled;                      /* the line before was dashes */
    bool named;                      /* the line read last names a host and says nothing else */
    bool cut;                        /* the line read last was longer than its room */
    char host[SL_HOST_NAME_MAX + 1]; /* of the line read last; "": not named */
} sl_captures;

void sl_captures_open(sl_captures *captures, const char *text, size_t size);

/** As sl_lines_copy; what only names the host is not of the line. */
bool sl_captures_next(sl_captures *captures, char *to, size_t size);

/** Goes on behind `size` bytes from `at`, which stands in the line read last. What follows them on
 * their last line is read as that line again. */
void sl_captures_pass(sl_captures *captures, const char *at, size_t size);

/** Anything but SL_OK ends the visit. first: the line of the file on which the text begins. */
typedef sl_code (*sl_run_visit)(void *context, const char *text, size_t size, const char *host,
                                uint32_t first, sl_errors *err);

/** For texts that are not read line by line: visits the lines of each host in a row, without the
 * host before each; or the whole text at once, host "", where lines begin with none.
 * SL_E_MEMORY. */
sl_code sl_captures_runs(const char *text, size_t size, sl_run_visit visit, void *context,
                         sl_errors *err) SL_MUST_CHECK;

/** Whether a line is nothing but the name of a host, with the marks of a tool around it. Writes it
 * to `host`. A bare word counts where `ruled`. */
bool sl_capture_heading(const char *line, bool ruled, char host[SL_HOST_NAME_MAX + 1]);

#endif
