/** Tools of other vendors, libraries and clouds that list devices. */
#ifndef SL_INTAKE_DEVICES_FORMATS_H
#define SL_INTAKE_DEVICES_FORMATS_H

#include "intake/format.h"

extern const sl_formats sl_device_formats;

/* rocm-smi --json */
extern const sl_format sl_rocm_smi_format;

/** How rocm-smi says that a card is cut, "CPX": partitions other than the whole (SPX) are listed as
 * cards of their own (partitions_listed). */
void sl_rocm_partition(const char *mode, uint32_t line, sl_facts *facts, sl_findings *findings);

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

#endif
