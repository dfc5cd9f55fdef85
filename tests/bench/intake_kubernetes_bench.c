/*
 * What reading 64 MiB of nodes costs, as kubectl prints them, and of Ansible's answers.
 * Build the release preset and run build/release/tests/bench/intake_kubernetes_bench.
 */
#include "intake_bench.h"

#include "json/reader.h"

enum { LABELS = 80, IMAGES = 40 };

static void
print_json(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out,
                     "%s\n        {\n            \"apiVersion\": \"v1\",\n            \"kind\": "
                     "\"Node\",\n            \"metadata\": {\n                \"name\": "
                     "\"gpu-%06u\",\n                \"labels\": {",
                     i > 0 ? "," : "{\n    \"apiVersion\": \"v1\",\n    \"items\": [", i);
    for (uint32_t j = 0; j < LABELS; j++)
        sl_buffer_format(out,
                         "\n                    \"feature.node.kubernetes.io/cpu-cpuid.F%u\": "
                         "\"true\",",
                         j);
    sl_buffer_text(out,
                   "\n                    \"nvidia.com/gpu.count\": \"8\",\n"
                   "                    \"nvidia.com/gpu.memory\": \"81559\",\n"
                   "                    \"nvidia.com/gpu.product\": \"NVIDIA-H100-80GB-HBM3\"\n"
                   "                }\n            },\n            \"spec\": {},\n"
                   "            \"status\": {\n                \"capacity\": {\"cpu\": \"192\", "
                   "\"memory\": \"2113540396Ki\", \"nvidia.com/gpu\": \"8\"},\n"
                   "                \"conditions\": [{\"type\": \"Ready\", \"status\": "
                   "\"True\"}],\n                \"images\": [");
    for (uint32_t j = 0; j < IMAGES; j++)
        sl_buffer_format(out,
                         "%s\n                    {\n                        \"names\": [\n"
                         "                            \"registry.example.org/team/image-%u@sha256:"
                         "7837847d3a186bb2daa03f1781542212cb7c66575ea8b0aaf3fd886f0043c405\"\n"
                         "                        ],\n                        \"sizeBytes\": "
                         "12072476783\n                    }",
                         j > 0 ? "," : "", j);
    sl_buffer_text(out, "\n                ]\n            }\n        }");
}

static void
print_yaml(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out,
                     "%s- apiVersion: v1\n  kind: Node\n  metadata:\n    name: gpu-%06u\n"
                     "    labels:\n",
                     i > 0 ? "" : "apiVersion: v1\nitems:\n", i);
    for (uint32_t j = 0; j < LABELS; j++)
        sl_buffer_format(out, "      feature.node.kubernetes.io/cpu-cpuid.F%u: \"true\"\n", j);
    sl_buffer_text(out,
                   "      nvidia.com/gpu.count: \"8\"\n      nvidia.com/gpu.memory: "
                   "\"81559\"\n      nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3\n"
                   "  spec: {}\n  status:\n    capacity:\n      cpu: \"192\"\n"
                   "      memory: 2113540396Ki\n      nvidia.com/gpu: \"8\"\n"
                   "    conditions:\n    - status: \"True\"\n      type: Ready\n    images:\n");
    for (uint32_t j = 0; j < IMAGES; j++)
        sl_buffer_format(out,
                         "    - names:\n      - registry.example.org/team/image-%u@sha256:"
                         "7837847d3a186bb2daa03f1781542212cb7c66575ea8b0aaf3fd886f0043c405\n"
                         "      sizeBytes: 12072476783\n",
                         j);
}

static void
print_answers(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out,
                     "gpu-%06u | SUCCESS => {\n    \"ansible_facts\": {\n        "
                     "\"ansible_hostname\": \"gpu-%06u\",\n        \"ansible_memtotal_mb\": "
                     "2063930,\n",
                     i, i);
    for (uint32_t j = 0; j < LABELS; j++)
        sl_buffer_format(out,
                         "        \"ansible_eth%u\": {\n            \"active\": true,\n"
                         "            \"type\": \"ether\",\n            \"speed\": 10000\n"
                         "        },\n",
                         j);
    sl_buffer_text(out, "        \"ansible_processor_vcpus\": 224\n    },\n    \"changed\": "
                        "false\n}\n");
}

int
main(void)
{
    sl_json_start();
    measure_printed("nodes as JSON", print_json, UINT32_MAX,
                    "\n    ],\n    \"kind\": \"List\"\n}\n");
    measure_printed("nodes as YAML", print_yaml, UINT32_MAX, "kind: List\n");
    measure_printed("answers", print_answers, UINT32_MAX, "");
    return 0;
}
