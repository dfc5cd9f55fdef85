#include "intake/refusals.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "intake/syntax/cells.h"
#include "intake/syntax/lines.h"

/* What to send instead, where several rows say it. */
static const char kubernetes_nodes[] = "kubectl get nodes -o json";
static const char slurm_nodes[] = "scontrol show nodes";
static const char slurm_nodes_json[] = "scontrol show nodes --json";
static const char devices[] = "nvidia-smi -q -x";
static const char device_columns[] = "nvidia-smi --query-gpu=index,name,memory.total --format=csv";
static const char any_devices[] = "nvidia-smi -q -x, or amd-smi static --json";
static const char amd_devices[] = "amd-smi static --json";
static const char rocm_devices[] = "rocm-smi --showproductname --showmeminfo vram --json";
static const char own_devices[] = "nvidia-smi -q -x in the machine that a plan is for";
static const char node_with_some[] = "run it on a node that has some";
static const char in_spec[] = "name the nodes and their accelerators in a spec";
static const char in_spec_and_devices[] =
    "name the nodes in a spec, and add nvidia-smi -q -x of one of them";
static const char instance_type[] = "name the instance type in a spec: node_type";
static const char of_cloud[] = "terraform show -json, or the node types in a spec";
static const char as_printed[] = "send what the tool itself printed";
static const char unpacked[] = "gzip";
static const char fabric_cards[] = "ibstat";

/* By the beginning of a line and by words anywhere; NULL asks for nothing. The first row counts. */
static const struct {
    const char *line, *words, *more;
    const char *what; /* it is */
    const char *hint;
} known[] = {
    {"NAME ", "STATUS", "LABELS",
     "the table of kubectl get nodes with its labels, which does not tell what a node offers",
     kubernetes_nodes},
    {"NAME ", "STATUS", "ROLES", "the table of kubectl get nodes, which tells of no devices",
     kubernetes_nodes},
    {"NAME ", "DRIVER", "POOL", "the table of kubectl get resourceslices, which names no parts",
     "kubectl get resourceslices -o json"},
    {"NAME ", NULL, NULL, "a table of columns that somebody chose", kubernetes_nodes},
    {"node/", NULL, NULL, "the names of nodes and nothing of them", kubernetes_nodes},
    {NULL, "\"Status\"", "\"Failure\"", "an error of Kubernetes, which refused what was asked", ""},
    {NULL, "NodeMetrics", "\"usage\"", "the use of nodes, which names no devices",
     kubernetes_nodes},
    {NULL, "The connection to the server", NULL, "an error of kubectl: no server answered", ""},
    {NULL, "Unable to connect to the server", NULL, "an error of kubectl: no server answered", ""},
    {NULL, "NVIDIA-SMI has failed", NULL, "an error of nvidia-smi: the driver did not answer",
     "run it on a node whose driver is loaded"},
    {NULL, "Unable to determine the device handle", NULL,
     "an error of nvidia-smi: a device does not answer",
     "drain the node, and send nvidia-smi -q -x"},
    {NULL, "is not a valid field to query", NULL, "an error of nvidia-smi: it knows no such column",
     device_columns},
    {"No devices were found", NULL, NULL, "nvidia-smi, and it found no devices", node_with_some},
    {"No devices found", NULL, NULL, "nvidia-smi, and it found no devices", node_with_some},
    {NULL, "Unable to contact slurm controller", NULL,
     "an error of Slurm: its controller did not answer", ""},
    {"Node ", " not found", NULL, "scontrol, and it knows no such node", slurm_nodes},
    {NULL, "command not found", NULL, "a shell that found no such command",
     "run the tool where it is installed"},
    {NULL, "No such file or directory", NULL, "a shell that found no such file", ""},
    {"JOBID", NULL, NULL, "the queue of jobs, which names no hardware",
     "scontrol show nodes, or sinfo -N -o \"%N %G %T\""},
    {NULL, "vGPU-Util", NULL, "nvidia-smi vgpu, which lists what a hypervisor lends", own_devices},
    {"Active vGPUs", "NVSMI LOG", NULL, "nvidia-smi vgpu, which lists what a hypervisor lends",
     own_devices},
    {NULL, "= Chipset not supported", NULL, "nvidia-smi topo -p2p, which tells no links",
     "nvidia-smi topo -m"},
    {"JobId=", "NodeList=", NULL, "a job, which names what it was given and no hardware",
     slurm_nodes},
    {"ReservationName=", NULL, NULL, "reservations of Slurm, which name no hardware", slurm_nodes},
    {"JobID ", "JobName", NULL, "the accounts of jobs, which name no hardware", slurm_nodes},
    {NULL, "'real_memory':", NULL, "a dictionary of Python, as pyslurm gives it", slurm_nodes_json},
    {NULL, "\"gres\": [", "\"real_memory\"", "nodes as pyslurm gives them, by their names",
     slurm_nodes_json},
    {NULL, "\"gres\":[", "\"real_memory\"", "nodes as pyslurm gives them, by their names",
     slurm_nodes_json},
    {NULL, "configured_gres=", NULL, "what Python prints of objects of pyslurm", slurm_nodes_json},
    {NULL, "GR3D_FREQ", NULL, "tegrastats of a Jetson, which names no parts", in_spec},
    {NULL, " slots=", NULL, "a hostfile of MPI or DeepSpeed, which names no accelerators",
     in_spec_and_devices},
    {"Configuration data as of", NULL, NULL, "the settings of Slurm, which name no nodes",
     slurm_nodes},
    {NULL, "GPU instances:", "Placement", "nvidia-smi mig, which names no devices",
     "nvidia-smi -L"},
    {"[0] ", " MB |", "[1] ", "gpustat, which is not read", devices},
    {"[0] ", " MB |", "'C", "gpustat, which is not read", devices},
    {NULL, "\"query_time\"", "\"gpus\"", "gpustat, which is not read", devices},
    {"HOST_NAME", "gpu_model", NULL, "lshosts -gpu, which cuts names", in_spec_and_devices},
    {NULL, "CPU op-mode(s):", NULL, "lscpu, which tells of no accelerators", any_devices},
    {"H/W path", "Class", NULL, "lshw, which tells neither memory nor links", any_devices},
    {NULL, "bus info: pci@", NULL, "lshw, which tells neither memory nor links", any_devices},
    {NULL, "\"PCI:", "\"claimed\"", "lshw, which tells neither memory nor links", any_devices},
    {"# gpu", "# Idx", NULL, "nvidia-smi dmon or pmon, which names no devices", devices},
    {"pid,", "used_gpu_memory", NULL, "the processes of nvidia-smi, which name no devices",
     devices},
    {NULL, "utilization.gpu [%]", NULL, "columns of nvidia-smi that say nothing of what there is",
     device_columns},
    {NULL, "\"device_type\"", "\"results\"", "devices of NetBox, which is not read", in_spec},
    {NULL, ",device_type,", NULL, "devices of NetBox, which is not read", in_spec},
    {"NVIDIA-SMI version", NULL, NULL, "nvidia-smi --version, which names no devices", devices},
    {NULL, "Processing accelerators", NULL, "lspci, which tells neither memory nor links",
     any_devices},
    {NULL, "3D controller", NULL, "lspci, which tells neither memory nor links", any_devices},
    {NULL, "VGA compatible controller", NULL, "lspci, which tells neither memory nor links",
     any_devices},
    {NULL, " 0302: 10de:", NULL, "lspci, which tells neither memory nor links", any_devices},
    {NULL, " 1200: 1002:", NULL, "lspci, which tells neither memory nor links", any_devices},
    {NULL, "Concise Info", "ROCm", "the short table of rocm-smi, which names no parts",
     rocm_devices},
    {NULL, "Link Type between two GPUs", NULL, "rocm-smi --showtopo, which names no parts",
     rocm_devices},
    {"GPU ", "POWER", "GFX", "amd-smi monitor, which names no parts", amd_devices},
    {"LINK TYPE TABLE:", NULL, NULL, "amd-smi topology, which names no parts", amd_devices},
    {NULL, "AMD-SMI ", "GPU-Name", "the short table of amd-smi, which cuts names", amd_devices},
    {"device,", "Card", NULL, "the CSV of rocm-smi, whose columns are of no fixed order",
     rocm_devices},
    {"gpu,", "market_name", NULL, "the CSV of amd-smi, whose columns are those of its version",
     amd_devices},
    {"gpu,", "gpu_bdf", NULL, "the CSV of amd-smi, whose columns are those of its version",
     amd_devices},
    {NULL, "ROCk module", "HSA Agents", "rocminfo, which tells neither links nor all memory",
     amd_devices},
    {NULL, "\"neuron_device\"", NULL, "neuron-ls, which names no parts", instance_type},
    {NULL, "NEURON", "CONNECTED", "neuron-ls, which names no parts", instance_type},
    {NULL, "npu-smi ", "AICore", "npu-smi, which is not read", in_spec},
    {NULL, "device_function_type", NULL, "xpu-smi, which is not read", in_spec},
    {NULL, "| Device ID |", "Device Information", "xpu-smi, which is not read", in_spec},
    {NULL, "HL-SMI Version", NULL, "hl-smi, which is not read", in_spec},
    {NULL, "Terraform will perform", NULL, "a plan of Terraform for people",
     "terraform show -json plan.out"},
    {"resource \"", NULL, NULL, "Terraform's own language", of_cloud},
    {NULL, "\"pbs_version\"", NULL, "pbsnodes, which is not read", in_spec_and_devices},
    {NULL, "resources_available.", NULL, "pbsnodes, which is not read", in_spec_and_devices},
    {NULL, "NNODES", "NGPUS", "flux resource list, which names no parts", in_spec},
    {"plugin:", NULL, NULL, "the settings of a dynamic inventory of Ansible, not what it finds",
     "ansible-inventory --list"},
    {NULL, "\"Reservations\"", "\"InstanceType\"", "aws ec2 describe-instances, which is not read",
     of_cloud},
    {NULL, "\"InstanceTypes\"", "\"GpuInfo\"",
     "aws ec2 describe-instance-types, which tells what may be bought", of_cloud},
    {NULL, "compute#instance", NULL, "gcloud compute instances list, which is not read", of_cloud},
    {NULL, "Microsoft.Compute/", NULL, "the output of az, which is not read", of_cloud},
    {NULL, "Microsoft.ContainerService/", NULL, "the output of az, which is not read", of_cloud},
    {NULL, "container.googleapis.com", NULL, "the output of gcloud container, which is not read",
     of_cloud},
    {"# TYPE ", NULL, NULL, "metrics that are not those of dcgm-exporter", any_devices},
    {"Infiniband device '", "state:", NULL, "ibstatus, which is not read", fabric_cards},
    {NULL, " port 1 ==> ", NULL, "ibdev2netdev, which tells no rates", fabric_cards},
    {"Hostname ", "Partition", "CPUload", "pestat, which is not read", slurm_nodes},
    {NULL, "hwloc2.dtd", NULL, "lstopo, which tells neither memory nor links", any_devices},
    {"Machine (", "NUMANode", NULL, "lstopo, which tells neither memory nor links", any_devices},
    {"apiVersion:", "kind:", NULL, "an object of Kubernetes that is no node", kubernetes_nodes},
    {NULL, "\"apiVersion\"", "\"kind\"", "an object of Kubernetes that is no node",
     kubernetes_nodes},
    {"PK\003\004", NULL, NULL, "a zip archive, or a spreadsheet", "unpack it, or save it as CSV"},
    {"\x28\xB5\x2F\xFD", NULL, NULL, "zstd, which is not unpacked", unpacked},
    {"\xFD"
     "7zXZ",
     NULL, NULL, "xz, which is not unpacked", unpacked},
    {"BZh", NULL, NULL, "bzip2, which is not unpacked", unpacked},
    {NULL, "<html", NULL, "a web page", as_printed},
    {NULL, "<!DOCTYPE html", NULL, "a web page", as_printed},
    {"NODE ", "GPU", NULL, "a table of columns that somebody chose", kubernetes_nodes},
    /* Last: other tools may print the word too. */
    {NULL, "<none>", NULL, "a table of columns that somebody chose", kubernetes_nodes},
};

static sl_code
refuse(const sl_sample *sample, const char *what, const char *hint, sl_errors *err)
{
    (void)sl_fail(err, SL_E_UNSUPPORTED, "unknown_format", "",
                  "no format recognises the text: it is %s, %zu bytes", what, sample->raw->size);
    if (*hint != '\0')
        sl_hint(err, "%s", hint);
    return SL_E_UNSUPPORTED;
}

/* Hosts or lists of them, "gpu[01:04]", or with a number of processes, "node01:8"; one word a line
 * and nothing else. */
static bool
lists_hosts(const sl_sample *sample)
{
    static const char blank[] = " \t\r\n";
    static const char of_hosts[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                   "-_.,:[]";
    const char *at = sample->head + strspn(sample->head, blank);
    bool any = false;

    while (*at != '\0') {
        const size_t length = strspn(at, of_hosts);
        const char *const behind = at + length + strspn(at + length, " \t\r");
        /* A number alone is none. */
        if (strspn(at, "0123456789,") >= length || strcspn(at, "0123456789") >= length ||
            (*behind != '\n' && *behind != '\0'))
            return false;
        any = true;
        at = behind + strspn(behind, blank);
    }
    return any;
}

/* A header with a column of hosts and one of devices, as people keep lists of what they have. */
static bool
is_sheet(const sl_sample *sample)
{
    static const char *const hosts[] = {"host", "hostname", "node", "node name", "server", "name"};
    sl_lines lines = {.at = sample->head, .end = sample->head + strlen(sample->head)};
    char line[1024];
    sl_cells cells;
    bool cut = false, host = false, device = false;

    if (!sl_lines_copy(&lines, line, sizeof line, &cut))
        return false;
    sl_cells_split(line, strchr(line, ';') != NULL ? ';' : ',', &cells);
    for (uint32_t i = 0; i < cells.count && cells.count > 1; i++) {
        for (size_t j = 0; j < sizeof hosts / sizeof hosts[0]; j++)
            host = host || sl_text_equal_ignoring_case(cells.at[i], hosts[j]);
        device = device || strncasecmp(cells.at[i], "gpu", 3) == 0 ||
                 strncasecmp(cells.at[i], "accelerator", 11) == 0;
    }
    return host && device;
}

sl_code
sl_intake_refuse(const sl_sample *sample, sl_errors *err)
{
    static const char *const shapes[] = {"empty", "JSON of no known tool", "XML of no known tool",
                                         "of no known tool"};
    assert(sample != NULL && err != NULL);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((known[i].line == NULL || sl_sample_line_begins(sample, known[i].line)) &&
            (known[i].words == NULL || sl_sample_holds(sample, known[i].words)) &&
            (known[i].more == NULL || sl_sample_holds(sample, known[i].more)))
            return refuse(sample, known[i].what, known[i].hint, err);
    }
    if (sample->shape == SL_SHAPE_TEXT && lists_hosts(sample))
        return refuse(sample, "a list of hosts, which says nothing of what they hold",
                      in_spec_and_devices, err);
    if (sample->shape == SL_SHAPE_TEXT && is_sheet(sample))
        return refuse(sample, "a table of one's own, whose columns are those of no tool", in_spec,
                      err);
    return refuse(sample, shapes[sample->shape],
                  "name its format; GET /api/v1/inventories:formats lists them", err);
}
