#include "intake/slurm/slurm.h"

static const sl_format *const formats[] = {
    &sl_slurm_nodes_json_format,    &sl_slurm_nodes_text_format, &sl_slurm_sinfo_json_format,
    &sl_slurm_sinfo_text_format,    &sl_slurm_conf_format,       &sl_slurm_gres_conf_format,
    &sl_slurm_topology_conf_format, &sl_slurm_nodes_yaml_format, &sl_slurm_sinfo_yaml_format,
    &sl_slurm_topology_yaml_format,
};

const sl_formats sl_slurm_formats = {formats, sizeof formats / sizeof formats[0]};
