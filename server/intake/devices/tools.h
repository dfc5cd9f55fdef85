/** Tools of other vendors, libraries and clouds that list devices. */
#ifndef SL_INTAKE_DEVICES_TOOLS_H
#define SL_INTAKE_DEVICES_TOOLS_H

#include "intake/format.h"
#include "json/reader.h"

extern const sl_formats sl_device_formats;

/* rocm-smi --json */
uint32_t sl_rocm_smi_recognise(const sl_sample *sample);
sl_code sl_rocm_smi_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* rocm-smi --showproductname --showmeminfo vram: a line per device and quantity */
uint32_t sl_rocm_text_recognise(const sl_sample *sample);
sl_code sl_rocm_text_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* amd-smi static: sections of lines */
uint32_t sl_amd_text_recognise(const sl_sample *sample);
sl_code sl_amd_text_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* amd-smi static --json, amd-smi list --json */
uint32_t sl_amd_smi_recognise(const sl_sample *sample);
sl_code sl_amd_smi_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* what NCCL and RCCL write to NCCL_TOPO_DUMP_FILE and read from NCCL_TOPO_FILE */
uint32_t sl_nccl_recognise(const sl_sample *sample);
sl_code sl_nccl_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* rows of instance types with their accelerators and prices */
uint32_t sl_cloud_csv_recognise(const sl_sample *sample);
sl_code sl_cloud_csv_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* ibnetdiscover */
uint32_t sl_ibnetdiscover_recognise(const sl_sample *sample);
sl_code sl_ibnetdiscover_read(const sl_raw *raw, sl_findings *findings,
                              sl_errors *err) SL_MUST_CHECK;

/* ibstat */
uint32_t sl_ibstat_recognise(const sl_sample *sample);
sl_code sl_ibstat_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

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
