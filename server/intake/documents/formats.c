#include "intake/documents/formats.h"

static const sl_format *const formats[] = {
    &sl_spec_format,         &sl_terraform_format,    &sl_ansible_ini_format,
    &sl_ansible_yaml_format, &sl_ansible_list_format, &sl_ansible_facts_format,
    &sl_topograph_format,    &sl_netq_format,         &sl_mlperf_format,
};

const sl_formats sl_document_formats = {formats, sizeof formats / sizeof formats[0]};
