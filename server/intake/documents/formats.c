#include "intake/documents/formats.h"

static const sl_format formats[] = {
    {"shardline_spec", "the spec of an inventory, JSON or YAML", sl_spec_recognise, sl_spec_read},
    {"terraform_json", "terraform show -json, or a state file", sl_terraform_recognise,
     sl_terraform_read},
    {"ansible_ini", "Ansible inventory, INI", sl_ansible_ini_recognise, sl_ansible_ini_read},
    {"ansible_yaml", "Ansible inventory, YAML", sl_ansible_yaml_recognise, sl_ansible_yaml_read},
    {"ansible_list", "ansible-inventory --list", sl_ansible_list_recognise, sl_ansible_list_read},
    {"ansible_facts", "ansible -m setup", sl_ansible_facts_recognise, sl_ansible_facts_read},
    {"topograph_yaml", "cluster model of topograph, YAML", sl_topograph_recognise,
     sl_topograph_read},
    {"netq_json", "compute nodes of NetQ or NMX, JSON", sl_netq_recognise, sl_netq_read},
    {"mlperf_system", "system description of MLPerf, JSON", sl_mlperf_recognise, sl_mlperf_read},
};

const sl_formats sl_document_formats = {formats, sizeof formats / sizeof formats[0]};
