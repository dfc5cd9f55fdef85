/** XML as a stream of elements, by their paths. What could make a small text large is refused. */
#ifndef SL_INTAKE_SYNTAX_XML_H
#define SL_INTAKE_SYNTAX_XML_H

#include <stddef.h>
#include <stdint.h>

#include "shardline/error.h"

enum { SL_XML_DEPTH_MAX = 64, SL_XML_PATH_MAX = 512, SL_XML_TEXT_MAX = 256 };

/** Anything but SL_OK ends the reading. */
typedef struct sl_xml_visit {
    void *context;
    /** An element begins. path: "system/cpu/pci", its own name last. attributes: names and values
     * in turns, then NULL. May be NULL. */
    sl_code (*open)(void *context, const char *path, const char *const *attributes, uint32_t line,
                    sl_errors *err);
    /** An element ends. text: what stands directly in it behind its last child, without blanks
     * around, cut at SL_XML_TEXT_MAX. May be NULL. */
    sl_code (*close)(void *context, const char *path, const char *text, uint32_t line,
                     sl_errors *err);
} sl_xml_visit;

/**
 * Reads one document; its first line is `line` of the file. A DOCTYPE may name a DTD, which is
 * never fetched. SL_E_SYNTAX: malformed_xml, xml_entity for an entity that is declared or is none
 * of the five of XML, too_deep (over SL_XML_DEPTH_MAX elements or SL_XML_PATH_MAX bytes of path);
 * all with the line. Else what the visitor returned.
 */
sl_code sl_xml_read(const char *text, size_t size, uint32_t line, const sl_xml_visit *visit,
                    sl_errors *err) SL_MUST_CHECK;

/** Value of an attribute, or "". */
const char *sl_xml_attribute(const char *const *attributes, const char *name);

#endif
