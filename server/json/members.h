/**
 * Which members an object of a request may have. One table per object names all of them: those
 * that are read elsewhere, and those of the API that nothing here models yet.
 */
#ifndef SL_JSON_MEMBERS_H
#define SL_JSON_MEMBERS_H

#include "json/reader.h"

enum { SL_MEMBERS_MAX = 48 };

typedef struct sl_member {
    const char *name;
    /* NULL: read elsewhere. "": refused whatever it is. Otherwise the one value that changes
     * nothing ("false", "none", "1") and is therefore accepted. */
    const char *neutral;
} sl_member;

/** Keeps the first failure of a list of checks that all run. */
void sl_keep(sl_code *first, sl_code code);

/** Appends a fault found elsewhere, as it is. */
sl_code sl_refail(const sl_error *fault, sl_errors *err);

/** Whether the list has the fault, in the same words. */
bool sl_has_fault(const sl_errors *err, const sl_error *fault);

/** Takes out what is not in the other list as well, and hints that it, where hints were looked for,
 * has otherwise. */
void sl_keep_common(sl_errors *err, const sl_errors *other);

/** Appends faults, at least one, found inside a document that the request only names: at `pointer`,
 * the member that names it, with their own place in the message. Returns the first one's code. */
sl_code sl_refail_at(const sl_errors *inner, const char *pointer, sl_errors *err);

/**
 * Unknown members become errors (or warnings, where the request said so); members that are not
 * modelled are refused by name (SL_E_UNSUPPORTED, not_modelled) unless null or neutral.
 */
sl_code sl_members_check(const sl_node *object, const sl_member *members, size_t count,
                         sl_errors *warnings, sl_errors *err) SL_MUST_CHECK;

#endif
