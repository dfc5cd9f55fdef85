/** nvidia-smi in its shapes, and the metrics of DCGM's exporter. */
#ifndef SL_INTAKE_NVIDIA_H
#define SL_INTAKE_NVIDIA_H

#include "intake/captures.h"
#include "intake/devices.h"
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

/* dcgmi discovery -l */
extern const sl_format sl_dcgm_discovery_format;

/** What torch.utils.collect_env writes before the list, on a line of its own or on that of the only
 * device. */
#define SL_NVIDIA_LIST_LABEL "GPU models and configuration: "

/** A device that a line lists, "GPU 0: NVIDIA H200 (UUID: GPU-...)". The words are the line's; uuid
 * is "" where it is not printed or masked. */
typedef struct sl_nvidia_listed {
    const sl_captures *captures; /* of the line */
    uint32_t index;
    const char *name, *uuid;
} sl_nvidia_listed;

/** What a listing of devices is read by. Anything but SL_OK ends the walk. */
typedef struct sl_nvidia_listing {
    sl_code (*device)(void *reading, const sl_nvidia_listed *listed, sl_errors *err);
    void (*line)(void *reading, const char *line); /* below a device, of it */
    sl_code (*end)(void *reading, sl_errors *err); /* no line below is of this node */
} sl_nvidia_listing;

/** Reads one, host after host, then finishes the devices. SL_E_SYNTAX, rule malformed_list, where
 * no line lists a device. */
sl_code sl_nvidia_list_walk(const sl_raw *raw, const sl_nvidia_listing *listing, void *reading,
                            sl_devices *devices, sl_errors *err) SL_MUST_CHECK;

/** Warns of a device that answers with an error where a value belongs, once: *told is kept for the
 * device. Nothing where `text` is none. It counts all the same. */
void sl_nvidia_check_answer(sl_findings *findings, const char *text, uint32_t line,
                            const char *path, bool *told);

/** Not an identifier: exports for other eyes mask it with zeros. */
bool sl_nvidia_uuid_is_masked(const char *uuid);

/** "MIG, 4 slices of 19968 MiB": what a device is cut into where its tool does not name the
 * profile. slice_bytes: of each; 0 or below where they differ or are not said. */
void sl_nvidia_slice_words(uint32_t slices, double slice_bytes, char *out, size_t size);

#endif
