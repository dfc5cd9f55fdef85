/* Virtual GPUs, by the names that the tools of every family print. */
#include "intake_reading.h"

#include "catalogued.h"
#include "intake/vgpu.h"

static sl_catalog *catalog;

/* Types as NVIDIA lists them and tools spell them. */
static void
names_tell_the_card_and_the_share(void)
{
    static const struct {
        const char *name, *type, *card;
        uint32_t gigabytes, slices;
        bool whole;
    } types[] = {
        {"GRID A100-4C", "vGPU A100-4C", "NVIDIA A100-PCIE-40GB", 4, 0, false},
        {"GRID A100-40C", "vGPU A100-40C", "NVIDIA A100-PCIE-40GB", 40, 0, true},
        {"GRID A100D-40C", "vGPU A100D-40C", "NVIDIA A100 80GB PCIe", 40, 0, false},
        {"GRID A100DX-80C", "vGPU A100DX-80C", "NVIDIA A100-SXM4-80GB", 80, 0, true},
        {"NVIDIA A100-3-20C", "vGPU A100-3-20C", "NVIDIA A100-PCIE-40GB", 20, 3, false},
        {"NVIDIA A100-7-40C", "vGPU A100-7-40C", "NVIDIA A100-PCIE-40GB", 40, 7, false},
        {"GRID A100X-1-5CME", "vGPU A100X-1-5CME", "NVIDIA A100-SXM4-40GB", 5, 1, false},
        {"NVIDIA A40-48Q", "vGPU A40-48Q", "NVIDIA A40", 48, 0, true},
        {"NVIDIA A40-48A", "vGPU A40-48A", "NVIDIA A40", 48, 0, false}, /* cannot compute */
        {"NVIDIA L40S-24C", "vGPU L40S-24C", "NVIDIA L40S", 24, 0, false},
        {"GRID V100D-8Q", "vGPU V100D-8Q", "Tesla V100-PCIE-32GB", 8, 0, false},
        {"grid_v100dx-32q", "vGPU v100dx-32q", "Tesla V100-SXM2-32GB", 32, 0, true},
        {"NVIDIA-H100XM-80C", "vGPU H100XM-80C", "NVIDIA H100 SXM5 80GB", 80, 0, true},
        {"NVIDIA RTX6000-Ada-24Q", "vGPU RTX6000-Ada-24Q", "NVIDIA RTX 6000 Ada Generation", 24, 0,
         false},
        {"NVIDIA RTX Pro 6000 Blackwell DC-4-96Q", "vGPU RTX Pro 6000 Blackwell DC-4-96Q",
         "NVIDIA RTX PRO 6000 Blackwell Server Edition", 96, 4, true},
        {"NVIDIA RTX Pro 6000 Blackwell DC-2-48Q", "vGPU RTX Pro 6000 Blackwell DC-2-48Q",
         "NVIDIA RTX PRO 6000 Blackwell Server Edition", 48, 2, false},
        {"GRID M10-0B", "vGPU M10-0B", "Tesla M10", 0, 0, false},
        {"GRID T4-2B4", "vGPU T4-2B4", "Tesla T4", 2, 0, false},
        {"NVIDIA_A10-12Q", "vGPU A10-12Q", "NVIDIA A10", 12, 0, false},
        {"l4-24c", "vGPU l4-24c", "NVIDIA L4", 24, 0, true},
        {"NVIDIA B999Z-90C", "vGPU B999Z-90C", "B999Z", 90, 0, false}, /* of a board to come */
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        sl_vgpu vgpu = {.gigabytes = 0};
        CU_ASSERT_TRUE(sl_vgpu_read(types[i].name, &vgpu));
        sl_expect_text(vgpu.type, types[i].type, types[i].name);
        sl_expect_text(vgpu.card, types[i].card, types[i].name);
        CU_ASSERT_EQUAL(vgpu.gigabytes, types[i].gigabytes);
        CU_ASSERT_EQUAL(vgpu.slices, types[i].slices);
        CU_ASSERT_EQUAL(vgpu.whole, types[i].whole);
    }
}

static void
names_of_cards_are_no_shares(void)
{
    static const char *const cards[] = {
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA A100-PCIE-40GB",
        "NVIDIA A100-SXM-64GB",
        "GRID K520",
        "NVIDIA A10G",
        "A100-40C-80C",
        "A100-8-10C",
        "A100-1000C",
        "AMD Instinct MI210-4C",
        "GRID -4C",
        "NVIDIA A100-4CX",
        "A100-",
        "NVIDIA A100-4D",
        "gpu",
        "NVIDIA TITAN-A4C",
        "",
    };
    sl_vgpu vgpu;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
        CU_ASSERT_FALSE(sl_vgpu_read(cards[i], &vgpu));
}

/* A name as long as any is not cut into another one. */
static void
long_names_are_no_shares(void)
{
    char name[256];
    sl_vgpu vgpu;
    (void)snprintf(name, sizeof name, "NVIDIA A%0200d-4C", 1);
    CU_ASSERT_FALSE(sl_vgpu_read(name, &vgpu));
}

/* No part of the catalogue is called like a share. */
static void
no_part_of_the_catalogue_is_a_share(void)
{
    sl_vgpu vgpu;
    for (uint32_t i = 0; i < sl_catalog_part_count(catalog); i++) {
        const sl_part *const part = sl_catalog_part(catalog, i);
        CU_ASSERT_FALSE(sl_vgpu_read(part->accelerator.name, &vgpu));
        for (uint32_t k = 0; k < part->alias_count; k++)
            CU_ASSERT_FALSE(sl_vgpu_read(part->aliases[k], &vgpu));
    }
}

static void
every_tool_tells_shares_from_cards(void)
{
    expect_found(find_in_text("GPU 0: GRID A100-10C (UUID: GPU-1)\n"
                              "GPU 1: GRID A100-10C (UUID: GPU-2)\n"),
                 "nvidia_smi_list", "- accelerator=NVIDIA A100-PCIE-40GB slice=vGPU A100-10C\n",
                 "vgpu_shares");
    expect_found(find_in_text("name, memory.total [MiB], driver_version\n"
                              "NVIDIA A100-3-20C, 20475 MiB, 535.54.03\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA A100-PCIE-40GB slice=vGPU A100-3-20C driver=535.54.03\n",
                 "vgpu_shares");
    expect_found(find_in_text("NODELIST GRES STATE\nc[1-2] gpu:grid_v100d-1q:2 idle\n"),
                 "slurm_sinfo_text",
                 "c1 accelerator=Tesla V100-PCIE-32GB slice=vGPU v100d-1q\n"
                 "c2 accelerator=Tesla V100-PCIE-32GB slice=vGPU v100d-1q\n",
                 "vgpu_shares");
    expect_found(find_in_text("apiVersion: v1\nkind: Node\n"
                              "metadata:\n  name: w1\n  labels:\n"
                              "    nvidia.com/gpu.count: \"1\"\n"
                              "    nvidia.com/gpu.memory: \"8192\"\n"
                              "    nvidia.com/gpu.product: GRID-V100DX-8Q\n"
                              "status:\n  capacity:\n    nvidia.com/gpu: \"1\"\n"),
                 "kubernetes_nodes", "w1 accelerator=Tesla V100-SXM2-32GB slice=vGPU V100DX-8Q\n",
                 "vgpu_shares");
}

/* A node that offers shares to virtual machines names them as resources. */
static void
shares_that_a_node_offers_are_told(void)
{
    expect_found(find_in_text("apiVersion: v1\nkind: Node\n"
                              "metadata:\n  name: w1\n"
                              "status:\n  capacity:\n    nvidia.com/NVIDIA_A10-12Q: \"4\"\n"
                              "    nvidia.com/gpu: \"0\"\n"),
                 "kubernetes_nodes", "w1 accelerator=NVIDIA A10 slice=vGPU A10-12Q\n",
                 "vgpu_shares");
}

static void
a_share_of_all_counts_as_its_card(void)
{
    expect_found(find_in_text("index, name, memory.total [MiB], driver_version\n"
                              "0, NVIDIA H100XM-80C, 81920 MiB, 570.1\n"
                              "1, NVIDIA H100XM-80C, 81920 MiB, 570.1\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA H100 SXM5 80GB accelerators=2 memory_bytes=85899345920 "
                 "driver=570.1\n",
                 "vgpu_whole");
}

/* A hypervisor's own log: nothing computes on cards that are lent. */
static void
cards_that_a_hypervisor_lends_are_told(void)
{
    expect_found(
        find_in_text("<nvidia_smi_log><driver_version>550.90.05</driver_version>"
                     "<attached_gpus>2</attached_gpus>"
                     "<gpu id=\"1\"><product_name>NVIDIA A40</product_name><uuid>GPU-1</uuid>"
                     "<gpu_virtualization_mode><virtualization_mode>Host VGPU</virtualization_mode>"
                     "</gpu_virtualization_mode></gpu>"
                     "<gpu id=\"2\"><product_name>NVIDIA A40</product_name><uuid>GPU-2</uuid>"
                     "<gpu_virtualization_mode><virtualization_mode>None</virtualization_mode>"
                     "</gpu_virtualization_mode></gpu></nvidia_smi_log>"),
        "nvidia_smi_xml",
        "- accelerator=NVIDIA A40 accelerators=2 sliced_accelerators=1 slice=lent as vGPUs "
        "driver=550.90.05\n",
        "");
    expect_found(find_in_text("==============NVSMI LOG==============\n\n"
                              "Driver Version                : 550.90.05\n"
                              "Attached GPUs                 : 1\n"
                              "GPU 00000000:81:00.0\n"
                              "    Product Name              : NVIDIA A40\n"
                              "    GPU Virtualization Mode\n"
                              "        Virtualization Mode   : Host VGPU\n"
                              "        Host VGPU Mode        : SR-IOV\n"),
                 "nvidia_smi_text",
                 "- accelerator=NVIDIA A40 accelerators=1 sliced_accelerators=1 slice=lent as "
                 "vGPUs driver=550.90.05\n",
                 "");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(names_tell_the_card_and_the_share),
        SL_CASE(names_of_cards_are_no_shares),
        SL_CASE(long_names_are_no_shares),
        SL_CASE(no_part_of_the_catalogue_is_a_share),
        SL_CASE(every_tool_tells_shares_from_cards),
        SL_CASE(shares_that_a_node_offers_are_told),
        SL_CASE(a_share_of_all_counts_as_its_card),
        SL_CASE(cards_that_a_hypervisor_lends_are_told),
    };
    return sl_run_catalogued(argc, argv, "intake_vgpu", cases, sizeof cases / sizeof cases[0],
                             &catalog);
}
