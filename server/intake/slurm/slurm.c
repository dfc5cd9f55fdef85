#include "intake/slurm/slurm.h"

static const sl_format list[] = {
    {"slurm_nodes_json", "scontrol show nodes --json, GET /slurm/nodes, sinfo --json before 23.02",
     sl_slurm_nodes_json_recognise, sl_slurm_nodes_json_read},
    {"slurm_nodes_text", "scontrol show node, also with -o", sl_slurm_nodes_text_recognise,
     sl_slurm_nodes_text_read},
    {"slurm_sinfo_json", "sinfo --json", sl_slurm_sinfo_json_recognise, sl_slurm_sinfo_json_read},
    {"slurm_sinfo_text", "sinfo with any columns, padded or separated",
     sl_slurm_sinfo_text_recognise, sl_slurm_sinfo_text_read},
    {"slurm_conf", "slurm.conf", sl_slurm_conf_recognise, sl_slurm_conf_read},
    {"slurm_gres_conf", "gres.conf", sl_slurm_gres_conf_recognise, sl_slurm_gres_conf_read},
    {"slurm_topology_conf", "topology.conf, tree or block", sl_slurm_topology_conf_recognise,
     sl_slurm_topology_conf_read},
    {"slurm_nodes_yaml", "scontrol show nodes --yaml", sl_slurm_nodes_yaml_recognise,
     sl_slurm_nodes_yaml_read},
    {"slurm_sinfo_yaml", "sinfo --yaml", sl_slurm_sinfo_yaml_recognise, sl_slurm_sinfo_yaml_read},
    {"slurm_topology_yaml", "topology.yaml", sl_slurm_topology_yaml_recognise,
     sl_slurm_topology_yaml_read},
};

const sl_formats sl_slurm_formats = {list, sizeof list / sizeof list[0]};
