/** A log of nvidia-smi -q, as XML or as text: what stands where, by the paths of the XML. */
#ifndef SL_INTAKE_NVIDIA_LOG_H
#define SL_INTAKE_NVIDIA_LOG_H

#include "intake/devices.h"

enum { SL_NVIDIA_TEXT_SIZE = 256 };

/** What the log says of one device, until it ends. */
typedef struct sl_nvidia_gpu {
    uint32_t line;
    char name[SL_NVIDIA_TEXT_SIZE];
    uint32_t name_line;
    char uuid[SL_NVIDIA_TEXT_SIZE];
    double memory_bytes, reserved_bytes; /* below 0: not said */
    uint32_t memory_line, reserved_line;
    double limit_w, default_w;
    uint32_t limit_line;
    bool lent; /* to virtual machines: the driver is that of a hypervisor */
    uint32_t lent_line;
    bool failing; /* which was told */
    bool mig;
    uint32_t mig_line;
    uint32_t slices;
    double slice_bytes; /* of the last one; below 0 where they differ */
    uint32_t width, width_max;
    char cluster[SL_NVIDIA_TEXT_SIZE], clique[SL_NVIDIA_TEXT_SIZE];
} sl_nvidia_gpu;

/** Set findings and devices, and zero the rest. */
typedef struct sl_nvidia_log {
    sl_findings *findings;
    sl_devices *devices;
    uint32_t node;
    uint32_t attached; /* as the log says; 0: it does not */
    uint32_t attached_line;
    char driver[SL_NVIDIA_TEXT_SIZE];
    uint32_t driver_line;
    sl_nvidia_gpu gpu;
} sl_nvidia_log;

/** A log of that host, or of one that nobody named, begins. */
sl_code sl_nvidia_log_begin(sl_nvidia_log *log, const char *host, uint32_t line,
                            sl_errors *err) SL_MUST_CHECK;
void sl_nvidia_log_begin_gpu(sl_nvidia_log *log, uint32_t line);

/** path: below the root, "driver_version", "gpu/fb_memory_usage/total"; others are passed over. A
 * slice is told of by "gpu/mig_devices/mig_device" once. */
void sl_nvidia_log_take(sl_nvidia_log *log, const char *path, const char *text, uint32_t line);
sl_code sl_nvidia_log_end_gpu(sl_nvidia_log *log, sl_errors *err) SL_MUST_CHECK;
sl_code sl_nvidia_log_end(sl_nvidia_log *log, sl_errors *err) SL_MUST_CHECK;

#endif
