#include "intake/devices/formats.h"

static const sl_format *const formats[] = {
    &sl_rocm_smi_format, &sl_amd_smi_format,   &sl_rocm_text_format,     &sl_amd_text_format,
    &sl_nccl_format,     &sl_cloud_csv_format, &sl_ibnetdiscover_format, &sl_ibstat_format,
};

const sl_formats sl_device_formats = {formats, sizeof formats / sizeof formats[0]};
