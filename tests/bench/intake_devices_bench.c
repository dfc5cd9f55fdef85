/*
 * What reading 64 MiB of what tools print on each node costs, node by node under its name.
 * Build the release preset and run build/release/tests/bench/intake_devices_bench.
 */
#include "intake_bench.h"

#include "json/reader.h"

enum { DEVICES = 8, NODES_MAX = 100000 };

/* All that amd-smi static says of a device. */
static void
print_amd(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out, "==> gpu%06u <==\n[\n", i);
    for (uint32_t j = 0; j < DEVICES; j++)
        sl_buffer_format(
            out,
            "    {\n        \"gpu\": %u,\n        \"asic\": {\n            \"market_name\": "
            "\"MI300X\",\n            \"vendor_id\": \"0x1002\",\n            \"vendor_name\": "
            "\"Advanced Micro Devices Inc. [AMD/ATI]\",\n            \"subvendor_id\": "
            "\"0x1002\",\n            \"device_id\": \"0x74a1\",\n            \"rev_id\": "
            "\"0x00\",\n            \"asic_serial\": \"0x6F1F0A2B3C%06X\",\n            "
            "\"oam_id\": "
            "%u,\n            \"num_compute_units\": 304,\n            "
            "\"target_graphics_version\": \"gfx942\"\n        },\n        \"bus\": {\n            "
            "\"bdf\": \"0000:%02x:00.0\",\n            \"max_pcie_width\": 16,\n            "
            "\"max_pcie_speed\": {\n                \"value\": 32,\n                \"unit\": "
            "\"GT/s\"\n            },\n            \"pcie_interface_version\": \"Gen 5\",\n"
            "            \"slot_type\": \"OAM\"\n        },\n        \"vbios\": {\n            "
            "\"name\": \"N/A\",\n            \"build_date\": \"2024/02/01 16:41\",\n            "
            "\"part_number\": \"113-M3000100-102\",\n            \"version\": "
            "\"022.040.003.042.000001\"\n        },\n        \"limit\": {\n            "
            "\"max_power\": {\n                \"value\": 750,\n                \"unit\": "
            "\"W\"\n            },\n            \"socket_power\": {\n                \"value\": "
            "750,\n                \"unit\": \"W\"\n            },\n            "
            "\"slowdown_hotspot_temperature\": {\n                \"value\": 100,\n"
            "                \"unit\": \"C\"\n            }\n        },\n        \"driver\": {\n"
            "            \"name\": \"amdgpu\",\n            \"version\": \"6.8.5\"\n        },\n"
            "        \"vram\": {\n            \"type\": \"HBM\",\n            \"vendor\": "
            "\"N/A\",\n            \"size\": {\n                \"value\": 196592,\n"
            "                \"unit\": \"MB\"\n            }\n        },\n        \"partition\": "
            "{\n            \"compute_partition\": \"SPX\",\n            \"memory_partition\": "
            "\"NPS1\"\n        }\n    }%s\n",
            j, i * DEVICES + j, j, j, j + 1 < DEVICES ? "," : "");
    sl_buffer_text(out, "]\n");
}

/* Some of what rocm-smi -a says of a card: most of it nobody reads. */
static void
print_rocm(sl_buffer *out, uint32_t i)
{
    sl_buffer_format(out, "==> gpu%06u <==\n{", i);
    for (uint32_t j = 0; j < DEVICES; j++) {
        sl_buffer_format(out,
                         "\n    \"card%u\": {\n        \"Device ID\": \"0x740c\",\n        "
                         "\"Unique ID\": \"0x79ccd5%06x\",\n        \"VBIOS version\": "
                         "\"113-D65209-073\",\n        \"Temperature (Sensor edge) (C)\": "
                         "\"53.0\",\n        \"Max Graphics Package Power (W)\": \"560.0\",\n",
                         j, i * DEVICES + j);
        for (uint32_t k = 0; k < 16; k++)
            sl_buffer_format(out, "        \"%u\": \"%uMhz\",\n", k, 500 + 70 * k);
        sl_buffer_text(out, "        \"VRAM Total Memory (B)\": \"68702699520\",\n"
                            "        \"VRAM Total Used Memory (B)\": \"10850304\",\n"
                            "        \"GTT Total Memory (B)\": \"270037655552\",\n"
                            "        \"SMC firmware version\": \"00.68.59.00\",\n"
                            "        \"Card series\": \"AMD INSTINCT MI250X\",\n"
                            "        \"Card model\": \"0x0b0c\",\n"
                            "        \"Card vendor\": \"Advanced Micro Devices, Inc. [AMD/ATI]\",\n"
                            "        \"Card SKU\": \"D65209\"\n    },");
    }
    sl_buffer_text(out, "\n    \"system\": {\n        \"Driver version\": \"6.3.6\"\n    }\n}\n");
}

int
main(void)
{
    sl_json_start();
    measure_printed("amd-smi", print_amd, NODES_MAX, "");
    measure_printed("rocm-smi", print_rocm, NODES_MAX, "");
    return 0;
}
