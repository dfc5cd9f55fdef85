#include "intake_reading.h"

#include "intake/captures.h"
#include "intake/devices/formats.h"
#include "intake/devices/infiniband.h"
#include "intake/syntax/cells.h"

static void
real_outputs_of_other_tools_are_read(void)
{
    static const expectation cards[] = {
        {"rocm_smi_mi100.json",
         "- accelerator=Arcturus GL-XL [Instinct MI100] accelerators=4 memory_bytes=34342961152 "
         "driver=6.3.6 link_kind=PCIe\n",
         ""}};
    static const expectation topologies[] = {
        {"nccl_topo_aws_p4d.xml", "- accelerators=8 nic_count=4 nic_kind=efa\n", ""},
        {"nccl_topo_azure_ndv5.xml", "- accelerators=8 nic_count=8 nic_kind=infiniband\n", ""},
    };
    expect_real(cards, 1, "rocm_smi_json");
    expect_real(topologies, sizeof topologies / sizeof topologies[0], "nccl_topology_xml");
}

static void
a_real_catalogue_gives_a_node_per_type(void)
{
    found *const f = real("cloud_catalogue_nebius_rows.csv");
    if (f == NULL)
        return;
    sl_expect_text(f->format->name, "cloud_csv", "format");
    CU_ASSERT_EQUAL(sl_findings_count(f->findings), 5);
    CU_ASSERT_EQUAL(found_warned(f, "catalogue_rows"), 1);
    const sl_found_host *const host = sl_findings_host(f->findings, 1);
    const sl_facts *const facts = sl_findings_kind(f->findings, host->kind);
    sl_expect_text(host->pool, "gpu-h100-sxm_8gpu-128vcpu-1600gb", "pool");
    CU_ASSERT_EQUAL(facts->field[SL_FIELD_ACCELERATORS].number, 8);
    CU_ASSERT_EQUAL(facts->field[SL_FIELD_NOMINAL_MEMORY_BYTES].number, 81920.0 * 1048576);
    CU_ASSERT_EQUAL(facts->field[SL_FIELD_HOST_MEMORY_BYTES].number, 1600.0 * 1073741824);
    CU_ASSERT_EQUAL(facts->field[SL_FIELD_PRICE_PER_NODE_HOUR].number, 23.6);
    CU_ASSERT_EQUAL(facts->field[SL_FIELD_PRICE_PER_NODE_HOUR].place.line, 3);
    CU_ASSERT_FALSE(facts->field[SL_FIELD_MEMORY_BYTES].said);
    found_free(f);
}

static void
cards_are_read_in_the_spelling_of_each_rocm(void)
{
    expect_found(fixture("rocm_smi_mi250x.json"), "rocm_smi_json",
                 "- accelerator=AMD INSTINCT MI200 (MCM) OAM LC MBA HPE C2 accelerators=3 "
                 "memory_bytes=68702699520 driver=6.1.0 link_kind=XGMI scale_up_domain=3\n",
                 "");
    expect_found(fixture("rocm_smi_hosts.txt"), "rocm_smi_json",
                 "nid001 accelerator=AMD Instinct MI300X OAM accelerators=1 "
                 "memory_bytes=206141652992\n"
                 "nid002 accelerator=AMD Instinct MI300X OAM accelerators=1 "
                 "memory_bytes=206141652992 sliced_accelerators=1 slice=CPX\n",
                 "partitions_listed");
    expect_found(find_in_text("nid1: {\nnid1: \"card0\": {\"Card series\": \"Instinct MI210\"}\n"
                              "nid1: }\nnid2: {\"card0\": {}}\n"),
                 "rocm_smi_json",
                 "nid1 accelerator=Instinct MI210 accelerators=1\nnid2 accelerators=1\n", "");
    expect_found(find_in_text("{\"card0\": {\"Card series\": \"N/A\", \"Card model\": \"0x1\"}}"),
                 "rocm_smi_json", "- accelerators=1\n", "");
}

static void
cards_stand_where_their_member_does(void)
{
    found *const f = fixture("rocm_smi_hosts.txt");
    const sl_facts *const second = sl_findings_kind(f->findings, 1);
    CU_ASSERT_EQUAL(second->field[SL_FIELD_MEMORY_BYTES].place.line, 14);
    sl_expect_text(second->field[SL_FIELD_MEMORY_BYTES].place.path, "VRAM Total Memory (B)",
                   "path");
    found_free(f);
}

static void
amd_smi_is_read_in_its_shapes(void)
{
    expect_found(fixture("amd_smi_static.json"), "amd_smi_json",
                 "- accelerator=AMD Instinct MI300X accelerators=2 memory_bytes=206141652992 "
                 "power_limit_w=650 driver=6.10.5\n",
                 "mixed_power");
    expect_found(fixture("amd_smi_list.json"), "amd_smi_json",
                 "- accelerators=1 sliced_accelerators=1 slice=partitioned\n", "");
}

/* As some tools ask of each device, and what they leave of it. */
static void
a_device_of_amd_may_stand_alone(void)
{
    expect_found(
        find_in_text("{\"gpu\": 0, \"asic\": {\"market_name\": \"AMD Instinct MI300X\"},\n"
                     "\"vram\": {\"type\": \"HBM\", \"size\": {\"value\": 196592, \"unit\": "
                     "\"MB\"}}}\n"),
        "amd_smi_json",
        "- accelerator=AMD Instinct MI300X accelerators=1 memory_bytes=206141652992\n", "");
}

/* ROCm 6.4 called them otherwise, and says beside it which partition an entry is. */
static void
partitions_of_amd_are_of_one_device(void)
{
    expect_found(find_in_text("{\"gpu_data\": [\n{\"gpu\": 0, \"asic\": {\"market_name\": \"AMD "
                              "Instinct MI300X\"}, \"partition\": {\"accelerator_partition\": "
                              "\"CPX\", \"memory_partition\": \"NPS4\", \"partition_id\": 0}},\n"
                              "{\"gpu\": 1, \"asic\": {\"market_name\": \"N/A\"}, \"partition\": "
                              "{\"accelerator_partition\": \"N/A\", \"partition_id\": 1}}]}\n"),
                 "amd_smi_json",
                 "- accelerator=AMD Instinct MI300X accelerators=1 sliced_accelerators=1 "
                 "slice=CPX\n",
                 "");
    expect_found(find_in_text("GPU: 0\n    ASIC:\n        MARKET_NAME: AMD Instinct MI300X\n"
                              "    PARTITION:\n        ACCELERATOR_PARTITION: CPX\n"
                              "        PARTITION_ID: 0\nGPU: 1\n    ASIC:\n"
                              "        MARKET_NAME: N/A\n    PARTITION:\n"
                              "        ACCELERATOR_PARTITION: N/A\n        PARTITION_ID: 1\n"),
                 "amd_smi_text",
                 "- accelerator=AMD Instinct MI300X accelerators=1 sliced_accelerators=1 "
                 "slice=CPX\n",
                 "");
    expect_found(find_in_text("GPU: 0\n    BDF: 0000:05:00.0\n    PARTITION_ID: 0\n\n"
                              "GPU: 1\n    BDF: 0000:05:00.1\n    PARTITION_ID: 1\n\n"
                              "GPU: 2\n    BDF: 0000:26:00.0\n    PARTITION_ID: 0\n"),
                 "amd_smi_text", "- accelerators=2 sliced_accelerators=1 slice=partitioned\n", "");
    expect_found(find_in_text("GPU[0]\t\t: Card Series: \t\tAMD Instinct MI300X\n"
                              "GPU[0]\t\t: Compute Partition: CPX\n"
                              "GPU[1]\t\t: Card Series: \t\tAMD Instinct MI300X\n"
                              "GPU[1]\t\t: Compute Partition: SPX\n"),
                 "rocm_smi_text",
                 "- accelerator=AMD Instinct MI300X accelerators=2 sliced_accelerators=1 "
                 "slice=CPX\n",
                 "partitions_listed");
}

static void
what_amd_prints_for_people_is_read(void)
{
    expect_found(fixture("rocm_smi_text.txt"), "rocm_smi_text",
                 "- accelerator=Instinct MI210 accelerators=2 memory_bytes=68702699520\n", "");
    expect_found(fixture("amd_smi_text.txt"), "amd_smi_text",
                 "nid001 accelerator=AMD Instinct MI300X OAM: 750W SKU accelerators=2 "
                 "memory_bytes=206141652992 power_limit_w=600 driver=6.10.5\n",
                 "");
}

static void
topologies_count_cards_once_and_links_to_switches(void)
{
    expect_found(fixture("nccl_topology_dump.xml"), "nccl_topology_xml",
                 "- accelerators=2 links=12 link_kind=NVLink scale_up_domain=2 nic_count=2 "
                 "nic_bytes_per_s=25000000000 nic_kind=infiniband\n",
                 "nics_apart");
    expect_found(fixture("nccl_topology_pairs.xml"), "nccl_topology_xml",
                 "- accelerators=4 links=4 link_kind=XGMI scale_up_domain=2\n", "");
}

static void
pairs_of_a_picture_without_a_switch_have_their_own_links(void)
{
    expect_found(find_in_text("<system version=\"1\"><cpu numaid=\"0\">"
                              "<pci busid=\"a\" class=\"0x038000\"><gpu dev=\"0\">"
                              "<xgmi target=\"b\" count=\"2\" tclass=\"0x038000\"/>"
                              "<xgmi target=\"c\" count=\"1\" tclass=\"0x038000\"/></gpu></pci>"
                              "<pci busid=\"b\" class=\"0x038000\"><gpu dev=\"1\">"
                              "<xgmi target=\"a\" count=\"2\" tclass=\"0x038000\"/>"
                              "<xgmi target=\"c\" count=\"1\" tclass=\"0x038000\"/></gpu></pci>"
                              "<pci busid=\"c\" class=\"0x038000\"><gpu dev=\"2\">"
                              "<xgmi target=\"a\" count=\"1\" tclass=\"0x038000\"/>"
                              "<xgmi target=\"b\" count=\"2\" tclass=\"0x038000\"/></gpu></pci>"
                              "</cpu></system>"),
                 "nccl_topology_xml",
                 "- accelerators=3 links=3 pair_links=1 link_kind=XGMI scale_up_domain=3\n", "");
}

static void
nodes_of_one_picture_are_told_apart(void)
{
    expect_found(
        find_in_text("<system version=\"2\">"
                     "<cpu host_hash=\"0xa\" numaid=\"0\"><pci busid=\"0\" class=\"0x030200\">"
                     "<gpu dev=\"0\"><nvlink target=\"f\" count=\"18\" tclass=\"0x068000\"/></gpu>"
                     "</pci></cpu>"
                     "<cpu host_hash=\"0xb\" numaid=\"0\"><pci busid=\"0\" class=\"0x030200\">"
                     "<gpu dev=\"0\"><nvlink target=\"f\" count=\"18\" tclass=\"0x068000\"/></gpu>"
                     "</pci></cpu></system>"),
        "nccl_topology_xml",
        "- accelerators=1 links=18 link_kind=NVLink scale_up_domain=2\n"
        "- accelerators=1 links=18 link_kind=NVLink scale_up_domain=2\n",
        "");
}

static void
offers_say_nominal_sizes_and_own_prices_only(void)
{
    expect_found(fixture("cloud_skypilot.csv"), "cloud_csv",
                 "- pool=p9.48xlarge accelerator=H100 accelerators=8 "
                 "nominal_memory_bytes=85899345920 node_type=p9.48xlarge "
                 "host_memory_bytes=2.19902325555e+12 cpus=192 price_per_node_hour=98.32\n"
                 "- pool=16x A100 accelerator=A100 accelerators=16\n"
                 "- pool=NV6 accelerator=A10 accelerators=1 sliced_accelerators=1 slice=0.167 of a "
                 "device node_type=NV6 host_memory_bytes=59055800320 cpus=6 "
                 "price_per_node_hour=0.45\n",
                 "catalogue_rows several_offers rows_without_accelerators split_prices");
    expect_found(fixture("cloud_gpuhunt.csv"), "cloud_csv",
                 "- pool=node-8x accelerator=L40S accelerators=8 nominal_memory_bytes=51539607552 "
                 "node_type=node-8x host_memory_bytes=1.09951162778e+12 cpus=96 "
                 "price_per_node_hour=20\n",
                 "catalogue_rows several_offers rows_without_accelerators");
    /* The end of a file that was cut off, in the middle of a price. */
    expect_found(find_in_text("InstanceType,AcceleratorName,AcceleratorCount,Price,Region\n"
                              "gpu-8,H100,8,40,x\ngpu-9,B200,8,4"),
                 "cloud_csv",
                 "- pool=gpu-8 accelerator=H100 accelerators=8 node_type=gpu-8 "
                 "price_per_node_hour=40\n",
                 "row_skipped catalogue_rows");
}

static void
hosts_of_a_fabric_have_their_cards_and_leaf(void)
{
    found *const f = fixture("ibnetdiscover.txt");
    CU_ASSERT_EQUAL(sl_findings_network(f->findings)->switches, 1);
    expect_found(f, "ibnetdiscover",
                 "gpu001 leaf=MF0;leaf01:MQM9700/U1 nic_count=2 nic_bytes_per_s=50000000000 "
                 "nic_kind=infiniband\n"
                 "login01 leaf=MF0;leaf01:MQM9700/U1 nic_count=1 nic_bytes_per_s=25000000000 "
                 "nic_kind=infiniband\n",
                 "");
    expect_found(fixture("ibstat.txt"), "ibstat",
                 "- nic_count=2 nic_bytes_per_s=50000000000 nic_kind=infiniband\n",
                 "nics_apart ports_inactive");
}

static void
rates_are_what_ports_are_sold_as(void)
{
    static const struct {
        const char *text;
        double gbit_per_s;
    } rates[] = {{"4xSDR", 10},  {"4xQDR", 40},  {"4xFDR10", 40}, {"4xFDR", 56},  {"4xEDR", 100},
                 {"2xHDR", 100}, {"4xHDR", 200}, {"4xNDR", 400},  {"4xXDR", 800}, {"4x", 0},
                 {"NDR", 0},     {"", 0},        {"0xNDR", 0},    {"99xNDR", 0}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        double rate = 0;
        CU_ASSERT_EQUAL(sl_infiniband_rate(rates[i].text, &rate), rates[i].gbit_per_s > 0);
        CU_ASSERT_EQUAL(rate, rates[i].gbit_per_s * 1e9 / 8);
    }
}

static void
lines_that_name_a_host_are_told_from_others(void)
{
    static const struct {
        const char *line, *host; /* NULL: none */
        bool ruled;
    } lines[] = {
        {"# gpu001", "gpu001", false},
        {"=== gpu001.cluster ===", "gpu001.cluster", false},
        {"==> gpu001 <==", "gpu001", false},
        {"gpu001 | CHANGED | rc=0 >>", "gpu001", false},
        {"gpu001 | SUCCESS => {", "gpu001", false},
        {"gpu001:", "gpu001", false},
        {"gpu[001-008] (8)", "gpu[001-008]", true},
        {"gpu001", "gpu001", true},
        {"gpu001", NULL, false},
        {"    ASIC:", NULL, false},
        {"Legend:", NULL, false},
        {"# nvidia-smi", NULL, false},
        {"# HELP DCGM_FI_DEV_SM_CLOCK SM clock", NULL, false},
        {"==============NVSMI LOG==============", NULL, false},
        {"============================== VBIOS ==============================", NULL, false},
        {"GPU[0]		: Card Series: 		Instinct MI210", NULL, true},
        {"", NULL, true},
        {"# 12", NULL, false},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char host[SL_HOST_NAME_MAX + 1] = "";
        const bool named = sl_capture_heading(lines[i].line, lines[i].ruled, host);
        CU_ASSERT_EQUAL(named, lines[i].host != NULL);
        sl_expect_text(host, lines[i].host != NULL ? lines[i].host : "", lines[i].line);
    }
}

static void
quantities_have_the_units_they_name(void)
{
    static const struct {
        const char *text, *unit;
        double value; /* below 0: none */
    } tries[] = {{"81920 MiB", "B", 81920.0 * 1048576},
                 {"81920", "MiB", 81920.0 * 1048576},
                 {" 196592 MB", "", 196592.0 * 1048576},
                 {"700.00 W", "W", 700},
                 {"750000 mW", "W", 750},
                 {"34342961152", "B", 34342961152.0},
                 {"[N/A]", "MiB", -1},
                 {"ERR!", "MiB", -1},
                 {"1.2.3", "MiB", -1},
                 {"81920 MHz", "MiB", -1},
                 {"1e400", "MiB", -1},
                 {"", "MiB", -1}};
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        double value = -1;
        (void)sl_cell_quantity(tries[i].text, tries[i].unit, &value);
        sl_expect_near(value, tries[i].value, 0, tries[i].text);
    }
}

static void
other_texts_are_refused_by_every_reader(void)
{
    static const char *const texts[] = {"", "\n\n", "hello\n", "{}", "[", "<a/>", "1", "\xff\xfe"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        found_malformed_by_all(&sl_device_formats, texts[i]);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(real_outputs_of_other_tools_are_read),
        SL_CASE(a_real_catalogue_gives_a_node_per_type),
        SL_CASE(cards_are_read_in_the_spelling_of_each_rocm),
        SL_CASE(cards_stand_where_their_member_does),
        SL_CASE(amd_smi_is_read_in_its_shapes),
        SL_CASE(a_device_of_amd_may_stand_alone),
        SL_CASE(partitions_of_amd_are_of_one_device),
        SL_CASE(what_amd_prints_for_people_is_read),
        SL_CASE(topologies_count_cards_once_and_links_to_switches),
        SL_CASE(pairs_of_a_picture_without_a_switch_have_their_own_links),
        SL_CASE(nodes_of_one_picture_are_told_apart),
        SL_CASE(offers_say_nominal_sizes_and_own_prices_only),
        SL_CASE(hosts_of_a_fabric_have_their_cards_and_leaf),
        SL_CASE(rates_are_what_ports_are_sold_as),
        SL_CASE(lines_that_name_a_host_are_told_from_others),
        SL_CASE(quantities_have_the_units_they_name),
        SL_CASE(other_texts_are_refused_by_every_reader),
    };
    return sl_run_cases(argc, argv, "intake_devices", cases, sizeof cases / sizeof cases[0]);
}
