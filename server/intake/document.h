/**
 * Documents in JSON or YAML that describe machines: what their readers have in common. Nothing here
 * fails for what a value is: what is missing or of another type is simply not said.
 */
#ifndef SL_INTAKE_DOCUMENT_H
#define SL_INTAKE_DOCUMENT_H

#include "intake/format.h"
#include "intake/syntax/elements.h"

/** Without a byte order mark. */
sl_raw sl_document_raw(const sl_raw *raw);

/** More elements than hosts can be are no list of hosts: readers stop there. */
enum { SL_DOCUMENT_ELEMENTS_MAX = 2 * SL_HOSTS_MAX };
sl_code sl_document_count(uint32_t *elements, sl_errors *err) SL_MUST_CHECK;

/** The end of the JSON object or list that begins at `from`; NULL where it does not end. */
const char *sl_document_end(const char *from, const char *end);

/** The first byte that is no blank; '\0' where there is none. */
char sl_document_first(const sl_raw *raw);

/** Whether the text is JSON, by its first character; YAML else. */
bool sl_document_is_json(const sl_raw *raw);

/**
 * A whole document of at most SL_DOCUMENT_MAX_BYTES, JSON or YAML. *json is the caller's to free.
 * text: the same as JSON, or NULL where nobody wants it; the caller's to clear.
 */
sl_code sl_document_decode(const sl_raw *raw, sl_json **json, sl_buffer *text,
                           sl_errors *err) SL_MUST_CHECK;

/** A member that is a text and not empty, or NULL. */
const char *sl_document_words(const sl_node *object, const char *name);

/** A member of that kind. */
bool sl_document_object(const sl_node *object, const char *name, sl_node *out);
bool sl_document_array(const sl_node *object, const char *name, sl_node *out);

/** A member that is a finite number, or a text that is one and nothing else. */
bool sl_document_number(const sl_node *object, const char *name, double *out);

/** The same of the value itself. */
bool sl_document_as_number(const sl_node *node, double *out);

/** A size with its unit, as people write it: "192 GB", "1.5TiB", "189471 MiB", "16Gi". A unit that
 * has an i counts in 1024, another in 1000. False where there is no number or no known unit. */
bool sl_document_bytes(const char *text, double *bytes);

/** Whether a text is the name of one host: no blank, comma or bracket, and not too long. */
bool sl_document_is_host(const char *name);

/**
 * Adds a host whose name is one name, not a list: a name that cannot be one is warned of (odd_name)
 * and its node counted without it.
 */
sl_code sl_document_add(sl_findings *findings, const sl_found_host *host, const sl_facts *facts,
                        sl_errors *err) SL_MUST_CHECK;

/**
 * Where names stand in a text. A decoded document has forgotten its lines; names that are asked for
 * in the order of the document are found again by going on from the last one.
 */
typedef struct sl_finder {
    const char *begin, *at, *end;
    uint32_t line;     /* of `at` */
    uint32_t restarts; /* each may cost the whole text: bounded */
} sl_finder;

sl_finder sl_finder_new(const sl_raw *raw);
/** Line of the next place where the whole word stands, or of the first one where none follows; 0
 * where there is none, or too many were asked for out of order. */
uint32_t sl_finder_line(sl_finder *finder, const char *word);

#endif
