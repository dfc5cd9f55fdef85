/** nvidia-smi in its shapes, and the metrics of DCGM's exporter. */
#ifndef SL_INTAKE_NVIDIA_H
#define SL_INTAKE_NVIDIA_H

#include "intake/format.h"

extern const sl_formats sl_nvidia_formats;

/* -q -x */
extern const sl_format sl_nvidia_xml_format;

/* -q */
extern const sl_format sl_nvidia_text_format;

/* --query-gpu=... --format=csv */
extern const sl_format sl_nvidia_csv_format;

/* -L */
extern const sl_format sl_nvidia_list_format;

/* without arguments */
extern const sl_format sl_nvidia_table_format;

/* topo -m */
extern const sl_format sl_nvidia_topo_format;

/* nvlink -s, nvlink -c */
extern const sl_format sl_nvidia_nvlink_format;

/* what the exporter of DCGM answers to Prometheus */
extern const sl_format sl_dcgm_format;

/** "GPU 0: NVIDIA H200 (UUID: GPU-...)": false for other lines. Cuts the line; uuid is "" where it is
 * not printed or masked. */
bool sl_nvidia_device_line(char *line, uint32_t *index, const char **name, const char **uuid);

/** Not an identifier: exports for other eyes mask it with zeros. */
bool sl_nvidia_uuid_is_masked(const char *uuid);

/** "MIG, 4 slices of 19968 MiB": what a device is cut into where its tool does not name the profile.
 * slice_bytes: of each; 0 or below where they differ or are not said. */
void sl_nvidia_slice_words(uint32_t slices, double slice_bytes, char *out, size_t size);

#endif
