/** Elements of YAML with what nobody reads left out before libyaml sees it, and without. */
#ifndef SL_TESTS_YAML_COMPARED_H
#define SL_TESTS_YAML_COMPARED_H

#include "base/buffer.h"

/** Whom a reader of `items` asks for: all but "images", and "own" of an element's own. */
bool sl_yaml_compared_read(uint32_t depth, const char *name, size_t size);

/**
 * What reading says of a text, elements with their lines and the error, in either way; both are the
 * caller's to clear. True when they are the same.
 */
bool sl_yaml_compared(const char *text, size_t size, sl_buffer *skimmed, sl_buffer *whole);

#endif
