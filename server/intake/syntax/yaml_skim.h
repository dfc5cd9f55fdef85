/**
 * A text of YAML on its way to libyaml, which needs four tenths of a second for every ten million
 * bytes: members that nobody reads are empty lines to it. Only what surely changes nothing is left out,
 * see yaml_block.h; from the first element on that holds anything else, all is passed as it is.
 */
#ifndef SL_INTAKE_SYNTAX_YAML_SKIM_H
#define SL_INTAKE_SYNTAX_YAML_SKIM_H

#include "intake/syntax/json_walk.h"

typedef struct sl_yaml_skim sl_yaml_skim;

/**
 * Of the elements of the list that is called `list` in the root, or is the root where that is NULL.
 * is_read: NULL reads all. The text is borrowed. NULL: no memory.
 */
sl_yaml_skim *sl_yaml_skim_new(const char *text, size_t size, const char *list,
                               sl_member_read is_read) SL_MUST_CHECK;
void sl_yaml_skim_free(sl_yaml_skim *skim); /* NULL is fine */

/** The next bytes, `size` of them but at the end. */
size_t sl_yaml_skim_read(sl_yaml_skim *skim, unsigned char *bytes, size_t size);

#endif
