#include "intake_reading.h"

#include "intake/nvidia/nvidia.h"

static void
real_logs_are_read_to_the_byte(void)
{
    static const expectation logs[] = {
        {"nvidia_smi_qx_a100_mig.xml",
         "- accelerator=NVIDIA A100-SXM4-80GB accelerators=4 memory_bytes=85899345920 "
         "reserved_bytes=911212544 sliced_accelerators=1 slice=MIG, 4 slices of 19968 MiB "
         "driver=535.54.03\n",
         "devices_not_listed"},
        {"nvidia_smi_qx_a100_sxm4_40gb.xml",
         "- accelerator=NVIDIA A100-SXM4-40GB accelerators=1 memory_bytes=42949672960 "
         "reserved_bytes=543162368 driver=570.148.08\n",
         ""},
        {"nvidia_smi_qx_a10g.xml",
         "- accelerator=NVIDIA A10G accelerators=1 memory_bytes=24146608128 "
         "reserved_bytes=456130560 driver=515.105.01\n",
         "pcie_narrow"},
        {"nvidia_smi_qx_gb200x4.xml",
         "- domain=00000001-0000-0000-0000-000000000001.2 accelerator=NVIDIA GB200 accelerators=4 "
         "memory_bytes=198674743296 reserved_bytes=778043392 driver=580.173.02\n",
         ""},
        {"nvidia_smi_qx_l40s.xml",
         "- accelerator=NVIDIA L40S accelerators=1 memory_bytes=48305799168 "
         "reserved_bytes=638582784 driver=595.91.07\n",
         "pcie_narrow"},
    };
    expect_real(logs, sizeof logs / sizeof logs[0], "nvidia_smi_xml");
}

static void
real_tables_of_cells_are_read(void)
{
    static const expectation tables[] = {
        {"nvidia_smi_query_gpu_h200.csv",
         "- accelerator=NVIDIA H200 accelerators=1 memory_bytes=150754820096 "
         "reserved_bytes=643825664 driver=590.48.01\n",
         ""},
        {"nvidia_smi_query_gpu_h200x8.csv",
         "- accelerator=NVIDIA H200 accelerators=8 memory_bytes=150754820096 driver=570.211.01\n",
         ""},
    };
    expect_real(tables, sizeof tables / sizeof tables[0], "nvidia_smi_csv");
}

static void
real_links_are_read(void)
{
    static const expectation links[] = {
        {"nvidia_smi_nvlink_s_h100.txt",
         "- accelerator=NVIDIA H100 80GB HBM3 links=18 link_kind=NVLink "
         "scale_up_bytes_per_s=478116000000\n",
         "raw_link_rate one_device_listed"}};
    static const expectation topologies[] = {
        {"nvidia_smi_topo_m_h200x8.txt",
         "- accelerators=8 links=18 link_kind=NVLink scale_up_domain=8 nic_count=8\n", ""}};
    expect_real(links, 1, "nvidia_nvlink");
    expect_real(topologies, 1, "nvidia_topo");
}

static void
a_fabric_that_is_not_well_is_told(void)
{
    static const char log[] =
        "<nvidia_smi_log><attached_gpus>1</attached_gpus><gpu id=\"1\">"
        "<product_name>NVIDIA GB200</product_name><uuid>GPU-1</uuid><fabric>"
        "<state>Completed</state><health><summary>%s</summary><bandwidth>%s</bandwidth></health>"
        "</fabric></gpu></nvidia_smi_log>";
    static const struct {
        const char *summary, *bandwidth, *warnings;
    } healths[] = {{"Healthy", "Full", ""},
                   {"N/A", "N/A", ""},
                   {"Unhealthy", "Degraded", "fabric_unhealthy fabric_unhealthy"},
                   {"Limited Capacity", "Full", "fabric_unhealthy"}};
    for (size_t i = 0; i < sizeof healths / sizeof healths[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, log, healths[i].summary, healths[i].bandwidth);
        expect_found(find_in_text(text), "nvidia_smi_xml",
                     "- accelerator=NVIDIA GB200 accelerators=1\n", healths[i].warnings);
    }
    expect_found(find_in_text("==============NVSMI LOG==============\nAttached GPUs : 1\n"
                              "GPU 00000000:1B:00.0\n    Product Name : NVIDIA GB200\n"
                              "    Fabric\n        State : Completed\n        Health\n"
                              "            Summary : Unhealthy\n"),
                 "nvidia_smi_text", "- accelerator=NVIDIA GB200 accelerators=1\n",
                 "fabric_unhealthy");
}

static void
old_logs_say_no_reserve_and_one_limit(void)
{
    expect_found(fixture("nvidia_smi_v10.xml"), "nvidia_smi_xml",
                 "- accelerator=Tesla V100-SXM2-32GB accelerators=2 memory_bytes=34089205760 "
                 "power_limit_w=250 driver=440.33.01\n",
                 "mixed_power");
}

static void
memory_of_a_slice_is_not_its_devices(void)
{
    expect_found(fixture("nvidia_smi_mig.xml"), "nvidia_smi_xml",
                 "- accelerator=NVIDIA A100-SXM4-40GB accelerators=2 memory_bytes=42949672960 "
                 "reserved_bytes=543162368 sliced_accelerators=1 slice=MIG, 2 slices "
                 "driver=550.90.07\n",
                 "row_remapping_failed mixed_devices");
}

static void
every_log_of_a_file_is_its_hosts(void)
{
    static const char *const files[] = {"nvidia_smi_two_hosts.xml", "nvidia_smi_pdsh.xml"};
    static const char said[] =
        " domain=0000000a-1111-2222-3333-000000000007.32766 accelerator=NVIDIA GB200 "
        "accelerators=2 memory_bytes=198674743296 reserved_bytes=778043392 driver=580.65.06\n";
    char words[1024];

    (void)snprintf(words, sizeof words, "tray01%stray02%s", said, said);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        expect_found(fixture(files[i]), "nvidia_smi_xml", words, "");
}

static void
logs_for_people_are_read_as_their_xml(void)
{
    expect_found(fixture("nvidia_smi_text.txt"), "nvidia_smi_text",
                 "gpu001 accelerator=NVIDIA A100-SXM4-80GB accelerators=2 memory_bytes=85899345920 "
                 "reserved_bytes=911212544 power_limit_w=400 sliced_accelerators=1 "
                 "slice=MIG, 2 slices of 40192 MiB driver=570.86.15\n",
                 "");
}

static void
places_are_lines_of_the_file(void)
{
    found *const f = fixture("nvidia_smi_two_hosts.xml");
    const sl_facts *const second =
        sl_findings_kind(f->findings, sl_findings_host(f->findings, 1)->kind);
    /* Equal facts of one file are kept once, where they were said first. */
    CU_ASSERT_EQUAL(second->field[SL_FIELD_ACCELERATOR].place.line, 8);
    sl_expect_text(second->field[SL_FIELD_MEMORY_BYTES].place.path, "gpu/fb_memory_usage/total",
                   "path");
    CU_ASSERT_EQUAL(second->field[SL_FIELD_MEMORY_BYTES].place.line, 11);
    CU_ASSERT_EQUAL(sl_findings_host(f->findings, 1)->line, 38);
    found_free(f);
}

static void
logs_on_one_line_are_two(void)
{
    expect_found(
        find_in_text("<nvidia_smi_log><gpu><product_name>NVIDIA L4</product_name></gpu>"
                     "</nvidia_smi_log><nvidia_smi_log><gpu><product_name>NVIDIA L40</product_name>"
                     "</gpu></nvidia_smi_log>"),
        "nvidia_smi_xml",
        "- accelerator=NVIDIA L4 accelerators=1\n- accelerator=NVIDIA L40 accelerators=1\n", "");
}

static void
a_log_without_devices_is_a_node_without(void)
{
    expect_found(find_in_text("<nvidia_smi_log><driver_version>570.1</driver_version>"
                              "<attached_gpus>0</attached_gpus></nvidia_smi_log>"),
                 "nvidia_smi_xml", "- driver=570.1\n", "");
}

static void
entities_are_refused(void)
{
    expect_refused("<!DOCTYPE nvidia_smi_log [<!ENTITY a \"b\">]><nvidia_smi_log>&a;"
                   "</nvidia_smi_log>",
                   SL_E_SYNTAX, "xml_entity");
    expect_refused("<!DOCTYPE nvidia_smi_log [<!ENTITY a SYSTEM \"file:///etc/hosts\">]>"
                   "<nvidia_smi_log/>",
                   SL_E_SYNTAX, "xml_entity");
    expect_refused("<!DOCTYPE nvidia_smi_log [<!ENTITY % a \"b\">]><nvidia_smi_log/>", SL_E_SYNTAX,
                   "xml_entity");
    expect_refused("<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\"><nvidia_smi_log>&a;"
                   "</nvidia_smi_log>",
                   SL_E_SYNTAX, "xml_entity");
    expect_refused("<nvidia_smi_log>&a;</nvidia_smi_log>", SL_E_SYNTAX, "xml_entity");
}

/* Its memory is the machine's, and it is on no bus. */
static void
a_part_of_a_system_on_a_chip_is_named(void)
{
    expect_found(
        find_in_text(
            "| NVIDIA-SMI 540.2.0   Driver Version: 540.2.0   CUDA Version: 12.2            |\n"
            "|   0  Orin (nvgpu)           N/A  | N/A              N/A |                N/A |\n"
            "| N/A   N/A  N/A    N/A /  N/A     | Not Supported        |   N/A          N/A |\n"
            "| Processes:                                                                  |\n"),
        "nvidia_smi_table", "- accelerator=Orin (nvgpu) accelerators=1 driver=540.2.0\n", "");
}

static void
broken_logs_are_refused_with_their_line(void)
{
    char deep[2048] = "<nvidia_smi_log>";
    for (size_t i = 0; i < 100; i++)
        (void)snprintf(deep + strlen(deep), sizeof deep - strlen(deep), "<a>");
    expect_refused(deep, SL_E_SYNTAX, "too_deep");
    expect_refused("<nvidia_smi_log>\n<gpu>\n", SL_E_SYNTAX, "malformed_xml");
    expect_refused("<nvidia_smi_log>\n<gpu></nvidia_smi_log>", SL_E_SYNTAX, "malformed_xml");
}

static void
rows_of_many_hosts_may_take_turns(void)
{
    expect_found(fixture("nvidia_smi_query.csv"), "nvidia_smi_csv",
                 "gpu001 accelerator=NVIDIA H100 80GB HBM3 accelerators=2 memory_bytes=85520809984 "
                 "reserved_bytes=503316480 power_limit_w=500 driver=550.54.15\n"
                 "gpu002 accelerator=NVIDIA H100 80GB HBM3 accelerators=2 memory_bytes=85520809984 "
                 "reserved_bytes=503316480 sliced_accelerators=1 slice=MIG driver=550.54.15\n"
                 "gpu003 accelerators=1 driver=550.54.15\n",
                 "device_unreadable");
}

static void
rows_without_header_or_units_are_read(void)
{
    expect_found(find_in_text("0, NVIDIA H200, 143771 MiB\n1, NVIDIA H200, 143771 MiB\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA H200 accelerators=2 memory_bytes=150754820096\n", "");
    expect_found(find_in_text("NVIDIA L4\nNVIDIA L4\n"), "nvidia_smi_csv",
                 "- accelerator=NVIDIA L4 accelerators=2\n", "");
    expect_found(
        find_in_text("memory.total [MiB], name\n81559, NVIDIA H100 80GB HBM3\n"), "nvidia_smi_csv",
        "- accelerator=NVIDIA H100 80GB HBM3 accelerators=1 memory_bytes=85520809984\n", "");
    expect_found(find_in_text("gpu01: 0, NVIDIA L4, 23034 MiB\ngpu02: 0, NVIDIA L4, 23034 MiB\n"
                              "gpu01: 1, NVIDIA L4, 23034 MiB\n"),
                 "nvidia_smi_csv",
                 "gpu01 accelerator=NVIDIA L4 accelerators=2 memory_bytes=24152899584\n"
                 "gpu02 accelerator=NVIDIA L4 accelerators=1 memory_bytes=24152899584\n",
                 "");
}

static void
a_header_or_an_index_again_begins_a_node(void)
{
    static const char node[] = "- accelerator=NVIDIA L4 accelerators=1\n";
    char two[128];
    (void)snprintf(two, sizeof two, "%s%s", node, node);
    expect_found(find_in_text("index, name\n0, NVIDIA L4\nindex, name\n0, NVIDIA L4\n"),
                 "nvidia_smi_csv", two, "");
    expect_found(find_in_text("index, name\n0, NVIDIA L4\n0, NVIDIA L4\n"), "nvidia_smi_csv", two,
                 "several_nodes");
    expect_found(
        find_in_text("index, name, uuid\n0, NVIDIA L4, GPU-ab12\n0, NVIDIA L4, GPU-cd34\n"),
        "nvidia_smi_csv", two, "several_nodes");
}

static void
samples_of_a_device_count_once(void)
{
    expect_found(find_in_text("timestamp, index, name, memory.total [MiB]\n"
                              "2026/01/01 00:00:00.000, 0, NVIDIA L4, 23034 MiB\n"
                              "2026/01/01 00:00:01.000, 0, NVIDIA L4, 23034 MiB\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA L4 accelerators=1 memory_bytes=24152899584\n",
                 "repeated_sample");
}

static void
a_script_may_put_the_host_before_each_row(void)
{
    static const char two[] = "gpu01 accelerator=NVIDIA L4 accelerators=2\n"
                              "gpu02 accelerator=NVIDIA L4 accelerators=1\n";
    expect_found(find_in_text("gpu01,index, name\ngpu01,0, NVIDIA L4\ngpu01,1, NVIDIA L4\n"
                              "gpu02,index, name\ngpu02,0, NVIDIA L4\n"),
                 "nvidia_smi_csv", two, "");
    expect_found(find_in_text("gpu01,0, NVIDIA L4\ngpu01,1, NVIDIA L4\ngpu02,0, NVIDIA L4\n"),
                 "nvidia_smi_csv", two, "");
    expect_found(find_in_text("P0, NVIDIA L4\nP0, NVIDIA L4\n"), "nvidia_smi_csv",
                 "- accelerator=NVIDIA L4 accelerators=2\n", "");
}

static void
columns_that_somebody_made_up_are_refused(void)
{
    expect_refused("Name,Rack,Model,Number\nn1,r1,NVIDIA L4,8\n", SL_E_SYNTAX, "malformed_csv");
    expect_refused("\"Asset\",\"Card, maker\"\n\"n1\",\"NVIDIA L4\"\n", SL_E_SYNTAX,
                   "malformed_csv");
    /* A command has one cell more than its rows. */
    expect_found(find_in_text("$ nvidia-smi --query-gpu=pstate,name --format=csv,noheader\n"
                              "P0, NVIDIA L4\n"),
                 "nvidia_smi_csv", "- accelerator=NVIDIA L4 accelerators=1\n", "");
}

static void
spreadsheets_may_write_semicolons(void)
{
    expect_found(find_in_text("hostname;index;name;memory.total [MiB]\r\n"
                              "gpu01;0;NVIDIA L4;23034 MiB\r\ngpu01;1;NVIDIA L4;23034 MiB\r\n"),
                 "nvidia_smi_csv",
                 "gpu01 accelerator=NVIDIA L4 accelerators=2 memory_bytes=24152899584\n", "");
    /* Who writes them writes decimals with a comma; an output behind it may have commas again. */
    static const char header[] = "hostname;index;name;power.limit [W];power.default_limit [W]\r\n";
    char text[512];
    (void)snprintf(text, sizeof text,
                   "%sgpu01;0;NVIDIA L4;60,50 W;72,00 W\r\ngpu01;1;NVIDIA L4;60,50;72,00\r\n"
                   "hostname, index, name\ngpu02, 0, NVIDIA L4\n",
                   header);
    expect_found(find_in_text(text), "nvidia_smi_csv",
                 "gpu01 accelerator=NVIDIA L4 accelerators=2 power_limit_w=60.5\n"
                 "gpu02 accelerator=NVIDIA L4 accelerators=1\n",
                 "");
}

static void
files_that_head_printed_name_their_hosts(void)
{
    expect_found(find_in_text("==> out/gpu01.csv <==\nindex, name\n0, NVIDIA L4\n\n"
                              "==> gpu02.site.example <==\nindex, name\n0, NVIDIA L4\n"),
                 "nvidia_smi_csv",
                 "gpu01 accelerator=NVIDIA L4 accelerators=1\n"
                 "gpu02.site.example accelerator=NVIDIA L4 accelerators=1\n",
                 "");
}

static void
devices_that_are_not_listed_count(void)
{
    expect_found(find_in_text("name, count, index\nNVIDIA L4, 8, 0\n"), "nvidia_smi_csv",
                 "- accelerator=NVIDIA L4 accelerators=8\n", "devices_not_listed");
    expect_found(find_in_text("name, count, index\nNVIDIA L4, 1, 0\nNVIDIA L4, 1, 1\n"),
                 "nvidia_smi_csv", "- accelerator=NVIDIA L4 accelerators=2\n",
                 "devices_contradict");
}

static void
numbers_that_leave_a_device_out_are_said(void)
{
    expect_found(find_in_text("index, name\n0, NVIDIA L4\n1, NVIDIA L4\n3, NVIDIA L4\n"),
                 "nvidia_smi_csv", "- accelerator=NVIDIA L4 accelerators=3\n",
                 "device_numbers_leave_out");
    expect_found(
        find_in_text("GPU 0: NVIDIA L4 (UUID: GPU-ab12)\nGPU 2: NVIDIA L4 (UUID: GPU-cd34)\n"),
        "nvidia_smi_list", "- accelerator=NVIDIA L4 accelerators=2\n", "device_numbers_leave_out");
}

static void
what_is_no_row_is_skipped(void)
{
    expect_found(find_in_text("$ nvidia-smi --query-gpu=index,name --format=csv\n"
                              "index, name, driver_version\n0, NVIDIA L4, 570.1\n"
                              "No devices were found\n"),
                 "nvidia_smi_csv", "- accelerator=NVIDIA L4 accelerators=1 driver=570.1\n",
                 "row_skipped");
}

static void
lists_name_the_slices(void)
{
    expect_found(fixture("nvidia_smi_list.txt"), "nvidia_smi_list",
                 "gpu001 accelerator=NVIDIA H100 80GB HBM3 accelerators=2\n"
                 "gpu002 accelerator=NVIDIA H100 80GB HBM3 accelerators=2 sliced_accelerators=1 "
                 "slice=MIG 1g.10gb\n",
                 "");
    expect_found(find_in_text("GPU 0: Tesla T4 (UUID: GPU-1a)\nGPU 0: Tesla T4 (UUID: GPU-1b)\n"
                              "  MIG 3g.20gb Device  0: (UUID: MIG-1)\n"
                              "  MIG 1g.5gb Device  1: (UUID: MIG-2)\n"),
                 "nvidia_smi_list",
                 "- accelerator=Tesla T4 accelerators=1\n"
                 "- accelerator=Tesla T4 accelerators=1 sliced_accelerators=1 slice=MIG 3g.20gb, "
                 "1g.5gb\n",
                 "");
}

static void
lists_of_an_environment_are_read(void)
{
    expect_found(find_in_text("PyTorch version: 2.4.0\nGPU models and configuration: \n"
                              "GPU 0: NVIDIA H200\nGPU 1: NVIDIA H200\n  MIG 1g.18gb Device 0:\n\n"
                              "Nvidia driver version: 550.54.15\n"),
                 "nvidia_smi_list",
                 "- accelerator=NVIDIA H200 accelerators=2 sliced_accelerators=1 slice=MIG "
                 "1g.18gb\n",
                 "");
    expect_found(find_in_text("GPU models and configuration: GPU 0: NVIDIA A10-24Q\n"),
                 "nvidia_smi_list", "- accelerator=NVIDIA A10 accelerators=1\n", "vgpu_whole");
}

static void
pasted_boxes_are_read(void)
{
    expect_found(fixture("nvidia_smi_table_mig.txt"), "nvidia_smi_table",
                 "- accelerator=NVIDIA A100 80GB PCIe accelerators=2 memory_bytes=85899345920 "
                 "sliced_accelerators=1 slice=MIG, 2 slices of 40192 MiB driver=535.161.08\n",
                 "");
    expect_found(fixture("nvidia_smi_table_old.txt"), "nvidia_smi_table",
                 "- accelerator=Tesla V100-SXM2 accelerators=1 memory_bytes=16944988160 "
                 "driver=470.57.02\n",
                 "name_cut");
}

/* The box of two devices, cut behind so many of its lines. */
static void
expect_cut(uint32_t lines, const char *words, const char *warning, const char *where)
{
    size_t size = 0;
    char *const text =
        sl_read_file(sl_tests_path("fixtures/inventories/nvidia_smi_table_mig.txt"), &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    char *end = text;
    for (uint32_t i = 0; i < lines; i++)
        end = strchr(end, '\n') + 1;
    *end = '\0';
    found *const f = find_in_text(text);
    CU_ASSERT_EQUAL_FATAL(found_warned(f, warning), 1);
    const sl_found_warning *const said = sl_findings_warning(f->findings, 0);
    CU_ASSERT_EQUAL(said->place.line, lines);
    CU_ASSERT_PTR_NOT_NULL(strstr(said->text, where));
    expect_found(f, "nvidia_smi_table", words, warning);
    free(text);
}

/* Fewer devices than there are, said by nobody: where it stops is told, and between rows no
 * number. */
static void
a_box_that_is_cut_is_not_a_smaller_node(void)
{
    static const char *const one = "- accelerator=NVIDIA A100 80GB PCIe memory_bytes=85899345920 "
                                   "driver=535.161.08\n";
    expect_cut(9, "- driver=535.161.08\n", "table_cut", "its heading");
    expect_cut(11, one, "table_cut", "device 0");
    expect_cut(13,
               "- accelerator=NVIDIA A100 80GB PCIe accelerators=1 memory_bytes=85899345920 "
               "sliced_accelerators=1 slice=MIG driver=535.161.08\n",
               "table_without_end", "device 0");
    expect_cut(15,
               "- accelerator=NVIDIA A100 80GB PCIe memory_bytes=85899345920 "
               "sliced_accelerators=1 slice=MIG driver=535.161.08\n",
               "table_cut", "device 1");
}

static void
devices_on_a_switch_share_their_links(void)
{
    expect_found(fixture("nvidia_topo_switch.txt"), "nvidia_topo",
                 "- accelerators=8 links=12 link_kind=NVLink scale_up_domain=8 nic_count=8\n",
                 "nics_apart");
}

static void
devices_without_a_switch_add_their_links_up(void)
{
    expect_found(fixture("nvidia_topo_direct.txt"), "nvidia_topo",
                 "- accelerators=4 links=12 pair_links=4 link_kind=NVLink scale_up_domain=4\n",
                 "links_added_up");
    expect_found(fixture("nvidia_topo_cube.txt"), "nvidia_topo",
                 "- accelerators=8 links=6 pair_links=1 link_kind=NVLink scale_up_domain=8\n",
                 "mixed_links links_added_up");
}

static void
bridged_pairs_reach_one_other(void)
{
    expect_found(fixture("nvidia_topo_bridges.txt"), "nvidia_topo",
                 "- accelerators=4 links=12 link_kind=NVLink scale_up_domain=2 nic_count=2 "
                 "nic_kind=efa\n",
                 "");
}

static void
devices_without_links_are_on_pcie(void)
{
    expect_found(find_in_text("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                              "GPU0\t X \tPHB\t0-15\tN/A\nGPU1\tPHB\t X \t0-15\tN/A\n"),
                 "nvidia_topo", "- accelerators=2 link_kind=PCIe\n", "");
    /* topo -p2p says who may reach whom, not over what. */
    expect_found(find_in_text(" \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n"), "none",
                 "unknown_format: no format recognises the text: it is of no known tool, 37 bytes", "");
}

static void
inactive_links_do_not_count(void)
{
    expect_found(fixture("nvidia_nvlink_inactive.txt"), "nvidia_nvlink",
                 "- accelerator=NVIDIA A100-SXM4-40GB accelerators=2 links=2 link_kind=NVLink "
                 "scale_up_bytes_per_s=50000000000\n",
                 "links_inactive mixed_links");
    expect_found(find_in_text("GPU 0: NVIDIA A40 (UUID: GPU-1)\n\t Link 0, P2P is supported: true\n"
                              "\t Link 0, SLI is supported: false\n"
                              "\t Link 1, P2P is supported: true\nGPU 1: NVIDIA A40\n"
                              "\t Link 0, P2P is supported: true\n"
                              "\t Link 1, P2P is supported: true\n"),
                 "nvidia_nvlink",
                 "- accelerator=NVIDIA A40 accelerators=2 links=2 link_kind=NVLink\n", "");
    expect_found(find_in_text("GPU 0: X\n\t Link 0: active\nGPU 1: X\n\t Link 0: active\n"),
                 "nvidia_nvlink", "- accelerator=X accelerators=2 links=1 link_kind=NVLink\n", "");
}

static void
underlines_that_a_page_shows_are_passed(void)
{
    expect_found(find_in_text("\t[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tGPU NUMA ID[0m\n"
                              "GPU0\t X \tNV18\tPIX\t0-55\tN/A\n"
                              "GPU1\tNV18\t X \tSYS\t0-55\tN/A\n"
                              "NIC0\tPIX\tSYS\t X \n"),
                 "nvidia_topo",
                 "- accelerators=2 links=18 link_kind=NVLink scale_up_domain=2 nic_count=1\n", "");
}

static void
discoveries_of_dcgm_list_devices(void)
{
    expect_found(fixture("dcgm_discovery.txt"), "dcgm_discovery",
                 "- accelerator=NVIDIA A100-SXM4-40GB accelerators=2\n", "");
    /* Two hosts, and one that has more than it lists. */
    expect_found(find_in_text("# g1\n1 GPU found.\n| GPU ID | Device Information |\n"
                              "| 0      | Name: NVIDIA H200  |\n"
                              "|        | Device UUID: GPU-1 |\n"
                              "# g2\n2 GPUs found.\n| GPU ID | Device Information |\n"
                              "| 1      | Name: NVIDIA H200  |\n"
                              "| Switch ID |\n| 12        |\n"),
                 "dcgm_discovery",
                 "g1 accelerator=NVIDIA H200 accelerators=1\n"
                 "g2 accelerator=NVIDIA H200 accelerators=2\n",
                 "devices_not_listed");
}

static void
metrics_tell_hosts_and_devices_but_not_always_memory(void)
{
    expect_found(fixture("dcgm_metrics.txt"), "dcgm_metrics",
                 "gpu001 accelerator=NVIDIA H100 80GB HBM3 accelerators=2 driver=550.54.15\n"
                 "gpu002 accelerator=NVIDIA H100 80GB HBM3 accelerators=1 sliced_accelerators=1 "
                 "slice=MIG 1g.10gb driver=550.54.15\n",
                 "memory_not_total");
    expect_found(fixture("dcgm_metrics_total.txt"), "dcgm_metrics",
                 "gpu009 accelerator=NVIDIA L40S accelerators=1 memory_bytes=48305799168 "
                 "reserved_bytes=638582784\n",
                 "");
    expect_found(find_in_text("dcgm_gpu_temp{gpu=\"0\",uuid=\"GPU-1\"} 30\n"
                              "dcgm_gpu_temp{gpu=\"1\",uuid=\"GPU-2\"} 31\n"
                              "dcgm_gpu_temp{gpu=\"1\",uuid=\"GPU-2\n"),
                 "dcgm_metrics", "- accelerators=2\n", "sample_skipped");
}

/* Every format is asked for by name as well: what is not its text is refused, never read. */
static void
other_texts_are_refused_by_every_reader(void)
{
    static const char *const texts[] = {"", "\n\n", "hello\n", "{}", "<a/>", "GPU", "\xff\xfe\x00"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        found_malformed_by_all(&sl_nvidia_formats, texts[i]);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(real_logs_are_read_to_the_byte),
        SL_CASE(real_tables_of_cells_are_read),
        SL_CASE(real_links_are_read),
        SL_CASE(a_fabric_that_is_not_well_is_told),
        SL_CASE(old_logs_say_no_reserve_and_one_limit),
        SL_CASE(memory_of_a_slice_is_not_its_devices),
        SL_CASE(every_log_of_a_file_is_its_hosts),
        SL_CASE(logs_for_people_are_read_as_their_xml),
        SL_CASE(places_are_lines_of_the_file),
        SL_CASE(logs_on_one_line_are_two),
        SL_CASE(a_log_without_devices_is_a_node_without),
        SL_CASE(entities_are_refused),
        SL_CASE(a_part_of_a_system_on_a_chip_is_named),
        SL_CASE(broken_logs_are_refused_with_their_line),
        SL_CASE(rows_of_many_hosts_may_take_turns),
        SL_CASE(rows_without_header_or_units_are_read),
        SL_CASE(a_header_or_an_index_again_begins_a_node),
        SL_CASE(samples_of_a_device_count_once),
        SL_CASE(a_script_may_put_the_host_before_each_row),
        SL_CASE(columns_that_somebody_made_up_are_refused),
        SL_CASE(spreadsheets_may_write_semicolons),
        SL_CASE(files_that_head_printed_name_their_hosts),
        SL_CASE(devices_that_are_not_listed_count),
        SL_CASE(numbers_that_leave_a_device_out_are_said),
        SL_CASE(what_is_no_row_is_skipped),
        SL_CASE(lists_name_the_slices),
        SL_CASE(lists_of_an_environment_are_read),
        SL_CASE(pasted_boxes_are_read),
        SL_CASE(a_box_that_is_cut_is_not_a_smaller_node),
        SL_CASE(devices_on_a_switch_share_their_links),
        SL_CASE(devices_without_a_switch_add_their_links_up),
        SL_CASE(bridged_pairs_reach_one_other),
        SL_CASE(devices_without_links_are_on_pcie),
        SL_CASE(inactive_links_do_not_count),
        SL_CASE(underlines_that_a_page_shows_are_passed),
        SL_CASE(discoveries_of_dcgm_list_devices),
        SL_CASE(metrics_tell_hosts_and_devices_but_not_always_memory),
        SL_CASE(other_texts_are_refused_by_every_reader),
    };
    return sl_run_cases(argc, argv, "intake_nvidia", cases, sizeof cases / sizeof cases[0]);
}
