/**
 * The elements of one list in a document, decoded one at a time while a second thread cuts those
 * that follow (batch.h): what a document of any length costs is one element and the texts of a few.
 */
#ifndef SL_INTAKE_SYNTAX_ELEMENTS_H
#define SL_INTAKE_SYNTAX_ELEMENTS_H

#include "base/buffer.h"
#include "intake/syntax/json_walk.h"
#include "json/reader.h"

enum {
    SL_ELEMENT_MAX_BYTES = 4 * 1024 * 1024,
    SL_ELEMENTS_DEPTH_MAX = SL_JSON_DEPTH_MAX, /* of the document, thus of what is decoded */
    SL_DOCUMENT_MAX_BYTES = 8 * 1024 * 1024    /* of one that is decoded whole */
};

/** Anything but SL_OK ends the visit. `line`: where the element begins. */
typedef sl_code (*sl_element_visit)(void *context, const sl_node *element, uint32_t line,
                                    sl_errors *err);

/** Where a document begins in a text of several, as jq prints them, and its line there. */
typedef struct sl_json_place {
    const char *at;
    uint32_t line;
} sl_json_place;

/**
 * Visits the elements of the first list that is called `list`, up to 4 objects deep, or of the root
 * when `list` is NULL. *found: whether there is such a list. Around the elements the document is
 * only followed, yet it must end where its brackets do; so is a member that is not read, which is
 * left out of what is visited. is_read: NULL reads all. NaN and Infinity in an element are null.
 * place: NULL, or where the text begins; then where another object does behind one, or the end.
 * SL_E_SYNTAX malformed_json (with the line), too_deep; SL_E_TOO_LARGE for an element past its
 * bound, without what is left out; else what `visit` returned.
 */
sl_code sl_json_elements(const char *text, size_t size, const char *list, sl_member_read is_read,
                         sl_element_visit visit, void *context, bool *found, sl_json_place *place,
                         sl_errors *err) SL_MUST_CHECK;

/**
 * The same of YAML, with what YAML can say and JSON can (aliases, tags and complex keys are refused
 * by name: unsupported_yaml). Several documents of one stream count as elements of a list; a
 * document that has no such list is itself one element when `list` is not found in it. *found:
 * whether any document has the list.
 * is_read: NULL reads all. A member that is not read is left out of what is visited and checked
 * like one that is; of an element's bound it takes what its texts do.
 * Plain scalars are values by the core schema, see yaml_scalar.h. SL_E_SYNTAX malformed_yaml.
 */
sl_code sl_yaml_elements(const char *text, size_t size, const char *list, sl_member_read is_read,
                         sl_element_visit visit, void *context, bool *found,
                         sl_errors *err) SL_MUST_CHECK;

/** The only document of a stream as JSON, whose buffer is the caller's to clear. SL_E_SYNTAX as
 * above, also for a second document and for none; SL_E_TOO_LARGE past SL_DOCUMENT_MAX_BYTES. */
sl_code sl_yaml_document(const char *text, size_t size, sl_buffer *json,
                         sl_errors *err) SL_MUST_CHECK;

#endif
