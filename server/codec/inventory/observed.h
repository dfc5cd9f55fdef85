/**
 * What a source said of a cluster, in the form that is kept: hosts by state, reason and kind, and
 * the facts of each kind with the place where they were read.
 *
 *   {"listing": true,
 *    "groups": [{"state", "reason", "since", "kind", "count", "hosts": ["gpu[001-016]"]}],
 *    "kinds": [{"accelerator": {"value", "line", "path"}, ...}],
 *    "warnings": [{"code", "message", "line", "path", "count"}]}
 *
 * Intake writes it; here it is read again.
 */
#ifndef SL_CODEC_OBSERVED_H
#define SL_CODEC_OBSERVED_H

#include "base/arena.h"
#include "json/reader.h"

/** Worse is later, as intake has them. */
typedef enum sl_observed_state {
    SL_OBSERVED_UNSAID,
    SL_OBSERVED_USABLE,
    SL_OBSERVED_DRAINED,
    SL_OBSERVED_DOWN,
    SL_OBSERVED_STATES
} sl_observed_state;

/** Hosts of which the same is said; borrowed from the document. */
typedef struct sl_observed_group {
    sl_node hosts; /* a list of texts; of none where nobody named them */
    uint64_t count;
    sl_observed_state state;
    const char *reason; /* NULL: not said */
    const char *since;  /* RFC 3339: since when the source has been saying so */
    size_t kind;        /* of sl_observed_kind: the facts of one such host */
} sl_observed_group;

/** A document of facts. Its nodes point at one another: it stays where it was opened. */
typedef struct sl_observed {
    sl_json *json;
    sl_node root, groups, kinds;
    bool listing; /* it says of hosts whether they can be used: whom it leaves out is missing */
} sl_observed;

/** SL_E_INTERNAL, rule bad_observation, when the text is none of ours. Close it in any case. */
sl_code sl_observed_open(const char *text, size_t size, sl_observed *out,
                         sl_errors *err) SL_MUST_CHECK;
void sl_observed_close(sl_observed *observed);

size_t sl_observed_count(const sl_observed *observed);
bool sl_observed_group_at(const sl_observed *observed, size_t index, sl_observed_group *out);

size_t sl_observed_kind_count(const sl_observed *observed);

/** A fact of a kind: a text, or NULL and a number. False where it is not said. */
bool sl_observed_fact(const sl_observed *observed, size_t kind, const char *field,
                      const char **text, double *number);

#endif
