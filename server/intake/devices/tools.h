/** Tools of other vendors, libraries and clouds that list devices. */
#ifndef SL_INTAKE_DEVICES_TOOLS_H
#define SL_INTAKE_DEVICES_TOOLS_H

#include "intake/format.h"
#include "json/reader.h"

extern const sl_formats sl_device_formats;

/* rocm-smi --json */
extern const sl_format sl_rocm_smi_format;

/* rocm-smi --showproductname --showmeminfo vram: a line per device and quantity */
extern const sl_format sl_rocm_text_format;

/* amd-smi static: sections of lines */
extern const sl_format sl_amd_text_format;

/* amd-smi static --json, amd-smi list --json */
extern const sl_format sl_amd_smi_format;

/* what NCCL and RCCL write to NCCL_TOPO_DUMP_FILE and read from NCCL_TOPO_FILE */
extern const sl_format sl_nccl_format;

/* rows of instance types with their accelerators and prices */
extern const sl_format sl_cloud_csv_format;

/* ibnetdiscover */
extern const sl_format sl_ibnetdiscover_format;

/* ibstat */
extern const sl_format sl_ibstat_format;

/** One JSON document of a text, for the length of a visit. */
typedef struct sl_document {
    const sl_node *root;
    const char *host; /* whose it is; "" where no line names it */
    const char *text;
    size_t size;
    uint32_t line; /* of the file, on which it begins */
} sl_document;

/**
 * Visits the JSON documents of a text, which may have lines before, between and behind them: what a
 * tool warns of, or whose document the next is. Each is decoded whole and freed behind the visit.
 * SL_E_SYNTAX, rule malformed_json, where none begins. Anything but SL_OK ends the visit.
 */
typedef sl_code (*sl_document_visit)(void *context, const sl_document *document, sl_errors *err);
sl_code sl_documents_each(const char *text, size_t size, sl_document_visit visit, void *context,
                          sl_errors *err) SL_MUST_CHECK;

/** Where members stand in the text of a document, asked for in their order. Set document and line. */
typedef struct sl_document_cursor {
    const sl_document *document;
    size_t at;
    uint32_t line;
} sl_document_cursor;

/** The line on which `key` stands next; where it does not, the line found last. */
uint32_t sl_document_find(sl_document_cursor *cursor, const char *key);

/** The text of a value that is one and says something, or NULL. */
const char *sl_device_text(const sl_node *value);

#endif
