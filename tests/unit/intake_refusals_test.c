/* What people leave around the output of a tool, and what is known and not read. */
#include "intake_reading.h"

static void
expect_unread(const char *text, size_t size, const char *what, const char *hint)
{
    char message[192];
    found *const f = find_in("", text, size, NULL);

    (void)snprintf(message, sizeof message,
                   "unknown_format: no format recognises the text: it is %s, %zu bytes", what,
                   size);
    CU_ASSERT_EQUAL(f->code, SL_E_UNSUPPORTED);
    sl_expect_text(f->words, message, text);
    sl_expect_text(f->err.list[0].hint, hint, text);
    found_free(f);
}

static void
refused(const char *text, const char *what, const char *hint)
{
    expect_unread(text, strlen(text), what, hint);
}

static void
tables_for_people_are_refused_by_name(void)
{
    refused("NAME  STATUS  ROLES   AGE  VERSION\nn1  Ready  <none>  1d  v1.29.1\n",
            "the table of kubectl get nodes, which tells of no devices",
            "kubectl get nodes -o json");
    refused("Name:  n1\nCreationTimestamp: now\nAllocatable:\n  nvidia.com/gpu: 8\n",
            "kubectl describe, which is made for people", "kubectl get nodes -o json");
    refused("  JOBID PARTITION NAME\n 12 gpu train\n", "the queue of jobs, which names no hardware",
            "scontrol show nodes, or sinfo -N -o \"%N %G %T\"");
    refused("Architecture: x86_64\nCPU op-mode(s): 32-bit, 64-bit\n",
            "lscpu, which tells of no accelerators", "nvidia-smi -q -x, or amd-smi static --json");
    refused("[root@head ~]# lscpu\nCPU op-mode(s): 32-bit, 64-bit\n",
            "lscpu, which tells of no accelerators", "nvidia-smi -q -x, or amd-smi static --json");
}

static void
errors_of_tools_are_no_output(void)
{
    refused("No devices were found\n", "nvidia-smi, and it found no devices",
            "run it on a node that has some");
    refused("bash: nvidia-smi: command not found\n", "a shell that found no such command",
            "run the tool where it is installed");
    refused("slurm_load_node error: Unable to contact slurm controller (connect failure)\n",
            "an error of Slurm: its controller did not answer", "");
}

static void
utf16_is_refused_by_name(void)
{
    static const char marked[] = "\xFF\xFEN\0o\0d\0e\0";
    static const char bare[] = "\0N\0o\0d\0e";
    expect_unread(marked, sizeof marked - 1, "UTF-16", "save it as UTF-8: Out-File -Encoding utf8");
    expect_unread(bare, sizeof bare - 1, "UTF-16", "save it as UTF-8: Out-File -Encoding utf8");
}

static void
colours_are_no_text(void)
{
    expect_found(find_in_text("\033[1;32mroot@head\033[0m:~# scontrol show node a\r\n"
                              "\033[0mNodeName=a CPUTot=8 Gres=gpu:t4:2\r\n"),
                 "slurm_nodes_text", "a accelerator=t4 accelerators=2 cpus=8\n", "");
}

static void
json_may_stand_behind_a_prompt(void)
{
    const char *const node = "{\n\"name\":\"a\",\"gres\":\"gpu:t4:2\",\"real_memory\":\"x\"}";
    char text[256];
    (void)snprintf(text, sizeof text,
                   "[root@head ~]# scontrol show node a --json\n%s\n[root@head ~]# \n", node);
    expect_found(find_in_text(text), "slurm_nodes_json", "a accelerator=t4 accelerators=2\n", "");
    refused("Dear all,\n{ these } are [words]\n", "text",
            "name it with ?format=; GET /api/v1/inventories:formats lists them");
}

static void
a_second_output_in_one_file_is_told_of(void)
{
    expect_found(find_in_text("$ scontrol show node a\nNodeName=a CPUTot=8 Gres=gpu:t4:1\n"
                              "$ nvidia-smi -L\nGPU 0: Tesla T4 (UUID: GPU-1)\n"),
                 "slurm_nodes_text", "a accelerator=t4 accelerators=1 cpus=8\n", "several_outputs");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(tables_for_people_are_refused_by_name),
        SL_CASE(errors_of_tools_are_no_output),
        SL_CASE(utf16_is_refused_by_name),
        SL_CASE(colours_are_no_text),
        SL_CASE(json_may_stand_behind_a_prompt),
        SL_CASE(a_second_output_in_one_file_is_told_of),
    };
    return sl_run_cases(argc, argv, "intake_refusals", cases, sizeof cases / sizeof cases[0]);
}
