/** nvidia-smi in its shapes, and the metrics of DCGM's exporter. */
#ifndef SL_INTAKE_NVIDIA_H
#define SL_INTAKE_NVIDIA_H

#include "intake/format.h"

extern const sl_formats sl_nvidia_formats;

/* -q -x */
uint32_t sl_nvidia_xml_recognise(const sl_sample *sample);
sl_code sl_nvidia_xml_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* -q */
uint32_t sl_nvidia_text_recognise(const sl_sample *sample);
sl_code sl_nvidia_text_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* --query-gpu=... --format=csv */
uint32_t sl_nvidia_csv_recognise(const sl_sample *sample);
sl_code sl_nvidia_csv_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* -L */
uint32_t sl_nvidia_list_recognise(const sl_sample *sample);
sl_code sl_nvidia_list_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* without arguments */
uint32_t sl_nvidia_table_recognise(const sl_sample *sample);
sl_code sl_nvidia_table_read(const sl_raw *raw, sl_findings *findings,
                             sl_errors *err) SL_MUST_CHECK;

/* topo -m */
uint32_t sl_nvidia_topo_recognise(const sl_sample *sample);
sl_code sl_nvidia_topo_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/* nvlink -s, nvlink -c */
uint32_t sl_nvidia_nvlink_recognise(const sl_sample *sample);
sl_code sl_nvidia_nvlink_read(const sl_raw *raw, sl_findings *findings,
                              sl_errors *err) SL_MUST_CHECK;

/* what the exporter of DCGM answers to Prometheus */
uint32_t sl_dcgm_recognise(const sl_sample *sample);
sl_code sl_dcgm_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

/** "GPU 0: NVIDIA H200 (UUID: GPU-...)": false for other lines. Cuts the line; uuid is "" where it is
 * not printed or masked. */
bool sl_nvidia_device_line(char *line, uint32_t *index, const char **name, const char **uuid);

/** Not an identifier: exports for other eyes mask it with zeros. */
bool sl_nvidia_uuid_is_masked(const char *uuid);

/** "MIG, 4 slices of 19968 MiB": what a device is cut into where its tool does not name the profile.
 * slice_bytes: of each; 0 or below where they differ or are not said. */
void sl_nvidia_slice_words(uint32_t slices, double slice_bytes, char *out, size_t size);

#endif
