/**
 * Lists of host names as Slurm writes them: entries separated by commas, each with any number of
 * brackets that hold numbers and ranges, "gpu[001-032,040],r[1-2]n[1-4]". A range keeps the width
 * of its first number.
 */
#ifndef SL_CODEC_HOSTS_H
#define SL_CODEC_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "shardline/error.h"

enum {
    SL_HOST_NAME_MAX = 255, /* bytes of one name */
    SL_HOSTS_MAX = 1 << 17  /* names of one list */
};

/** Anything but SL_OK ends the visit. `name` is borrowed for the call. */
typedef sl_code (*sl_host_visit)(void *context, const char *name, sl_errors *err);

/** How many names the list stands for. False where it is none: empty, an unbalanced or empty
 * bracket, a range that goes down, a blank or control character, over SL_HOSTS_MAX names, or a name
 * over SL_HOST_NAME_MAX bytes. */
bool sl_hosts_count(const char *list, uint64_t *count);

/** Whether that is because it stands for too many names, and for nothing else. */
bool sl_hosts_too_many(const char *list);

/** Each name of a list, in order. SL_E_RANGE, rule malformed_hosts, where it is none, or
 * too_many; nothing was visited then. Otherwise what `visit` returned. */
sl_code sl_hosts_each(const char *list, sl_host_visit visit, void *context,
                      sl_errors *err) SL_MUST_CHECK;

/** Orders names as people do: runs of digits by their value. For qsort over `const char *`. */
int sl_hosts_compare(const void *a, const void *b);

/**
 * The fewest entries with at most one bracket each that neighbours make, in natural order.
 * names: sorted here; distinct. *entries and what it points at live in the arena. SL_E_MEMORY past
 * its limit.
 */
sl_code sl_hosts_compress(const char **names, size_t count, sl_arena *arena,
                          const char *const **entries, size_t *entry_count,
                          sl_errors *err) SL_MUST_CHECK;

#endif
