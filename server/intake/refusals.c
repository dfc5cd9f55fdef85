#include "intake/refusals.h"

#include <assert.h>
#include <string.h>

/* By the beginning of a line and by words anywhere; NULL asks for nothing. The first row counts. */
static const struct {
    const char *line, *words, *more;
    const char *what; /* it is */
    const char *hint;
} known[] = {
    {"NAME ", "STATUS", "ROLES", "the table of kubectl get nodes, which tells of no devices",
     "kubectl get nodes -o json"},
    {"NAME ", "DRIVER", "POOL", "the table of kubectl get resourceslices, which names no parts",
     "kubectl get resourceslices -o json"},
    {"NAME ", NULL, NULL, "a table of columns that somebody chose", "kubectl get nodes -o json"},
    {"node/", NULL, NULL, "the names of nodes and nothing of them", "kubectl get nodes -o json"},
    {NULL, "The connection to the server", NULL, "an error of kubectl: no server answered", ""},
    {NULL, "Unable to connect to the server", NULL, "an error of kubectl: no server answered", ""},
    {NULL, "NVIDIA-SMI has failed", NULL, "an error of nvidia-smi: the driver did not answer",
     "run it on a node whose driver is loaded"},
    {NULL, "Unable to determine the device handle", NULL,
     "an error of nvidia-smi: a device does not answer",
     "drain the node, and send nvidia-smi -q -x"},
    {"No devices were found", NULL, NULL, "nvidia-smi, and it found no devices",
     "run it on a node that has some"},
    {"No devices found", NULL, NULL, "nvidia-smi, and it found no devices",
     "run it on a node that has some"},
    {NULL, "Unable to contact slurm controller", NULL,
     "an error of Slurm: its controller did not answer", ""},
    {"Node ", " not found", NULL, "scontrol, and it knows no such node", "scontrol show nodes"},
    {NULL, "command not found", NULL, "a shell that found no such command",
     "run the tool where it is installed"},
    {NULL, "No such file or directory", NULL, "a shell that found no such file", ""},
    {"JOBID", NULL, NULL, "the queue of jobs, which names no hardware",
     "scontrol show nodes, or sinfo -N -o \"%N %G %T\""},
    {NULL, "vGPU-Util", NULL, "nvidia-smi vgpu, which lists what a hypervisor lends",
     "nvidia-smi -q -x in the machine that a plan is for"},
    {"Active vGPUs", "NVSMI LOG", NULL, "nvidia-smi vgpu, which lists what a hypervisor lends",
     "nvidia-smi -q -x in the machine that a plan is for"},
    {NULL, "= Chipset not supported", NULL, "nvidia-smi topo -p2p, which tells no links",
     "nvidia-smi topo -m"},
    {"JobId=", "NodeList=", NULL, "a job, which names what it was given and no hardware",
     "scontrol show nodes"},
    {"Configuration data as of", NULL, NULL, "the settings of Slurm, which name no nodes",
     "scontrol show nodes"},
    {NULL, "GPU instances:", "Placement", "nvidia-smi mig, which names no devices",
     "nvidia-smi -L"},
    {"[0] ", " MB |", "[1] ", "gpustat, which is not read", "nvidia-smi -q -x"},
    {"[0] ", " MB |", "'C", "gpustat, which is not read", "nvidia-smi -q -x"},
    {NULL, "\"query_time\"", "\"gpus\"", "gpustat, which is not read", "nvidia-smi -q -x"},
    {"HOST_NAME", "gpu_model", NULL, "lshosts -gpu, which cuts names",
     "name the nodes in a spec, and add nvidia-smi -q -x of one of them"},
    {NULL, "CPU op-mode(s):", NULL, "lscpu, which tells of no accelerators",
     "nvidia-smi -q -x, or amd-smi static --json"},
    {"H/W path", "Class", NULL, "lshw, which tells neither memory nor links",
     "nvidia-smi -q -x, or amd-smi static --json"},
    {NULL, "bus info: pci@", NULL, "lshw, which tells neither memory nor links",
     "nvidia-smi -q -x, or amd-smi static --json"},
    {NULL, "\"PCI:", "\"claimed\"", "lshw, which tells neither memory nor links",
     "nvidia-smi -q -x, or amd-smi static --json"},
    {NULL, "3D controller", NULL, "lspci, which tells neither memory nor links",
     "nvidia-smi -q -x, or amd-smi static --json"},
    {NULL, "VGA compatible controller", NULL, "lspci, which tells neither memory nor links",
     "nvidia-smi -q -x, or amd-smi static --json"},
    {NULL, "Concise Info", "ROCm", "the short table of rocm-smi, which names no parts",
     "rocm-smi --showproductname --showmeminfo vram --json"},
    {NULL, "AMD-SMI ", "GPU-Name", "the short table of amd-smi, which cuts names",
     "amd-smi static --json"},
    {"device,", "Card", NULL, "the CSV of rocm-smi, whose columns are of no fixed order",
     "rocm-smi --showproductname --showmeminfo vram --json"},
    {"gpu,", "market_name", NULL, "the CSV of amd-smi, whose columns are those of its version",
     "amd-smi static --json"},
    {"gpu,", "gpu_bdf", NULL, "the CSV of amd-smi, whose columns are those of its version",
     "amd-smi static --json"},
    {NULL, "ROCk module", "HSA Agents", "rocminfo, which tells neither links nor all memory",
     "amd-smi static --json"},
    {NULL, "\"neuron_device\"", NULL, "neuron-ls, which names no parts",
     "name the instance type in a spec: node_type"},
    {NULL, "NEURON", "CONNECTED", "neuron-ls, which names no parts",
     "name the instance type in a spec: node_type"},
    {NULL, "npu-smi ", "AICore", "npu-smi, which is not read",
     "name the nodes and their accelerators in a spec"},
    {NULL, "device_function_type", NULL, "xpu-smi, which is not read",
     "name the nodes and their accelerators in a spec"},
    {NULL, "| Device ID |", "Device Information", "xpu-smi, which is not read",
     "name the nodes and their accelerators in a spec"},
    {NULL, "HL-SMI Version", NULL, "hl-smi, which is not read",
     "name the nodes and their accelerators in a spec"},
    {NULL, "Terraform will perform", NULL, "a plan of Terraform for people",
     "terraform show -json plan.out"},
    {NULL, "resources_available.", NULL, "pbsnodes, which is not read",
     "name the nodes in a spec, and add nvidia-smi -q -x of one of them"},
    {NULL, "NNODES", "NGPUS", "flux resource list, which names no parts",
     "name the nodes and their accelerators in a spec"},
    {"plugin:", NULL, NULL, "the settings of a dynamic inventory of Ansible, not what it finds",
     "ansible-inventory --list"},
    {NULL, "\"Reservations\"", "\"InstanceType\"", "aws ec2 describe-instances, which is not read",
     "terraform show -json, or the node types in a spec"},
    {NULL, "\"InstanceTypes\"", "\"GpuInfo\"",
     "aws ec2 describe-instance-types, which tells what may be bought",
     "terraform show -json, or the node types in a spec"},
    {NULL, "compute#instance", NULL, "gcloud compute instances list, which is not read",
     "terraform show -json, or the node types in a spec"},
    {NULL, "Microsoft.Compute/", NULL, "the output of az, which is not read",
     "terraform show -json, or the node types in a spec"},
    {"PK\003\004", NULL, NULL, "a zip archive, or a spreadsheet", "unpack it, or save it as CSV"},
    {"\x28\xB5\x2F\xFD", NULL, NULL, "zstd, which is not unpacked", "gzip"},
    {"\xFD"
     "7zXZ",
     NULL, NULL, "xz, which is not unpacked", "gzip"},
    {"BZh", NULL, NULL, "bzip2, which is not unpacked", "gzip"},
    {NULL, "<html", NULL, "a web page", "send what the tool itself printed"},
    {NULL, "<!DOCTYPE html", NULL, "a web page", "send what the tool itself printed"},
    /* Last: other tools may print the word too. */
    {NULL, "<none>", NULL, "a table of columns that somebody chose", "kubectl get nodes -o json"},
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

sl_code
sl_intake_refuse(const sl_sample *sample, sl_errors *err)
{
    static const char *const shapes[] = {"empty", "JSON", "XML", "text"};
    assert(sample != NULL && err != NULL);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if ((known[i].line == NULL || sl_sample_line_begins(sample, known[i].line)) &&
            (known[i].words == NULL || sl_sample_holds(sample, known[i].words)) &&
            (known[i].more == NULL || sl_sample_holds(sample, known[i].more)))
            return refuse(sample, known[i].what, known[i].hint, err);
    }
    return refuse(sample, shapes[sample->shape],
                  "name it with ?format=; GET /api/v1/inventories:formats lists them", err);
}
