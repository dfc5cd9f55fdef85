/* What nvidia-smi prints of devices that fail, or that may be one device several times. */
#include "intake_reading.h"

#include "intake/nvidia/nvidia.h"

static void
errors_in_the_place_of_values_are_told(void)
{
    expect_found(find_in_text("index, name, memory.total [MiB], power.limit [W]\n"
                              "0, NVIDIA H200, 143771 MiB, 700.00 W\n"
                              "1, NVIDIA H200, [Unknown Error], [GPU requires reset]\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA H200 accelerators=2 memory_bytes=150754820096\n",
                 "device_failing");
    expect_found(find_in_text("==============NVSMI LOG==============\n\n"
                              "Driver Version                            : 550.54.15\n"
                              "Attached GPUs                             : 1\n"
                              "GPU 00000000:07:00.0\n"
                              "    Product Name                          : NVIDIA H200\n"
                              "    FB Memory Usage\n"
                              "        Total                             : GPU is lost\n"),
                 "nvidia_smi_text", "- accelerator=NVIDIA H200 accelerators=1 driver=550.54.15\n",
                 "device_failing");
    expect_found(
        find_in_text(
            "| NVIDIA-SMI 450.51.06    Driver Version: 450.51.06    CUDA Version: 11.0     |\n"
            "|   0  NVIDIA A40          On   | 00000000:07:00.0 Off |                    0 |\n"
            "|ERR!  ERR! ERR!   ERR! / 300W  |      0MiB / 46068MiB |    ERR!      Default |\n"
            "| Processes:                                                                  |\n"),
        "nvidia_smi_table",
        "- accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168 driver=450.51.06\n",
        "device_failing");
}

static void
what_a_device_does_not_have_is_no_error(void)
{
    expect_found(find_in_text("index, name, memory.total [MiB], power.limit [W]\n"
                              "0, NVIDIA T400, 1870 MiB, [N/A]\n"
                              "1, NVIDIA T400, 1870 MiB, [Not Supported]\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA T400 accelerators=2 memory_bytes=1960837120\n", "");
}

static void
samples_that_nothing_tells_apart_are_told(void)
{
    static const char rows[] = "2024/03/11 11:30:59.123, NVIDIA A40, 46068 MiB\n";
    char text[512];

    (void)sl_text_format(text, sizeof text, "timestamp, name, memory.total [MiB]\n%s", rows);
    expect_found(find_in_text(text), "nvidia_smi_csv",
                 "- accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n", "");
    (void)sl_text_format(text, sizeof text, "timestamp, name, memory.total [MiB]\n%s%s", rows,
                         rows);
    expect_found(find_in_text(text), "nvidia_smi_csv",
                 "- accelerator=NVIDIA A40 accelerators=2 memory_bytes=48305799168\n",
                 "samples_alike");
    /* One row each of two hosts is two devices, whatever else is missing. */
    expect_found(find_in_text("host, timestamp, name, memory.total [MiB]\n"
                              "gpu01, 2024/03/11 11:30:59.123, NVIDIA A40, 46068 MiB\n"
                              "gpu02, 2024/03/11 11:30:59.123, NVIDIA A40, 46068 MiB\n"),
                 "nvidia_smi_csv",
                 "gpu01 accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n"
                 "gpu02 accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n",
                 "");
}

static void
a_failing_device_is_told_once(void)
{
    found *const rows = find_in_text("index, name, memory.total [MiB], power.limit [W]\n"
                                     "0, NVIDIA A40, [Unknown Error], [GPU is lost]\n"
                                     "1, NVIDIA A40, [Unknown Error], ERR!\n");
    CU_ASSERT_EQUAL(found_warned(rows, "device_failing"), 2);
    found_free(rows);
    found *const log = find_in_text("<nvidia_smi_log><gpu id=\"0\"><product_name>NVIDIA A40"
                                    "</product_name><fan_speed>[Unknown Error]</fan_speed>"
                                    "<clocks>[Unknown Error]</clocks></gpu></nvidia_smi_log>");
    CU_ASSERT_EQUAL(found_warned(log, "device_failing"), 1);
    found_free(log);
}

static void
rules_around_the_name_of_a_host_are_no_rows(void)
{
    expect_found(find_in_text("---------------\ngpu[01-02] (2)\n---------------\n"
                              "name, memory.total [MiB]\nNVIDIA A40, 46068 MiB\n"
                              "---------------\ngpu03\n---------------\n"
                              "name, memory.total [MiB]\nNVIDIA A40, 46068 MiB\n"),
                 "nvidia_smi_csv",
                 "gpu01 accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n"
                 "gpu02 accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n"
                 "gpu03 accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n",
                 "");
}

static void
a_file_without_a_name_names_no_host(void)
{
    expect_found(find_in_text("==> <==\nname, memory.total [MiB]\nNVIDIA A40, 46068 MiB\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n", "");
    expect_found(find_in_text("==>  <==\nname, memory.total [MiB]\nNVIDIA A40, 46068 MiB\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA A40 accelerators=1 memory_bytes=48305799168\n", "");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(errors_in_the_place_of_values_are_told),
        SL_CASE(what_a_device_does_not_have_is_no_error),
        SL_CASE(samples_that_nothing_tells_apart_are_told),
        SL_CASE(a_failing_device_is_told_once),
        SL_CASE(rules_around_the_name_of_a_host_are_no_rows),
        SL_CASE(a_file_without_a_name_names_no_host),
    };
    return sl_run_cases(argc, argv, "intake_health", cases, sizeof cases / sizeof cases[0]);
}
