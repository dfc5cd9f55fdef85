/* What people leave around the output of a tool, and what is known and not read. */
#include "intake_reading.h"

static void
expect_unread_of(const char *text, size_t size, const char *what, size_t told, const char *hint)
{
    char message[192];
    found *const f = find_in("", text, size, NULL);

    (void)snprintf(message, sizeof message,
                   "unknown_format: no format recognises the text: it is %s, %zu bytes", what,
                   told);
    CU_ASSERT_EQUAL(f->code, SL_E_UNSUPPORTED);
    sl_expect_text(f->words, message, text);
    sl_expect_text(f->err.list[0].hint, hint, text);
    found_free(f);
}

static void
expect_unread(const char *text, size_t size, const char *what, const char *hint)
{
    expect_unread_of(text, size, what, size, hint);
}

static void
refused(const char *text, const char *what, const char *hint)
{
    expect_unread(text, strlen(text), what, hint);
}

static void
outputs_beside_those_that_are_read_are_refused_by_name(void)
{
    static const char of_cloud[] = "terraform show -json, or the node types in a spec";
    static const char any_devices[] = "nvidia-smi -q -x, or amd-smi static --json";

    refused("# aws_instance.gpu[0]:\nresource \"aws_instance\" \"gpu\" {\n  ami = \"a\"\n}\n",
            "Terraform's own language", of_cloud);
    refused("[{\"vmSize\": \"Standard_ND96isr_H100_v5\", "
            "\"type\": \"Microsoft.ContainerService/managedClusters/agentPools\"}]",
            "the output of az, which is not read", of_cloud);
    refused("[{\"selfLink\": \"https://container.googleapis.com/v1/projects/p\"}]",
            "the output of gcloud container, which is not read", of_cloud);
    refused("# TYPE kube_node_status_capacity gauge\nkube_node_status_capacity{node=\"n\"} 8\n",
            "metrics that are not those of dcgm-exporter", any_devices);
    refused("<!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology/>",
            "lstopo, which tells neither memory nor links", any_devices);
    refused("Machine (504GB total)\n  Package L#0\n    NUMANode L#0 (P#0 252GB)\n",
            "lstopo, which tells neither memory nor links", any_devices);
    refused(
        "{\"kind\": \"Status\", \"apiVersion\": \"v1\", \"status\": \"Failure\", \"code\": 403}",
        "an error of Kubernetes, which refused what was asked", "");
    refused("{\"kind\": \"NodeMetricsList\", \"apiVersion\": \"metrics.k8s.io/v1beta1\", "
            "\"items\": [{\"metadata\": {\"name\": \"n1\"}, \"usage\": {\"cpu\": \"1\"}}]}",
            "the use of nodes, which names no devices", "kubectl get nodes -o json");
    refused("{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{\"kind\": \"NodeMetrics\", "
            "\"metadata\": {\"name\": \"n1\", \"labels\": {\"kubernetes.io/hostname\": \"n1\"}}, "
            "\"usage\": {\"cpu\": \"1\"}}]}",
            "the use of nodes, which names no devices", "kubectl get nodes -o json");
    refused("{\"pbs_version\": \"22.05.11\", \"nodes\": {}}", "pbsnodes, which is not read",
            "name the nodes in a spec, and add nvidia-smi -q -x of one of them");
    refused("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n",
            "an object of Kubernetes that is no node", "kubectl get nodes -o json");
}

static void
lists_of_hosts_are_refused_by_name(void)
{
    static const char what[] = "a list of hosts, which says nothing of what they hold";
    static const char hint[] = "name the nodes in a spec, and add nvidia-smi -q -x of one of them";

    refused("gpu[001-128,130]\n", what, hint);
    refused("gpu001\r\ngpu002.cluster.local\n\n10.0.0.3", what, hint);
    refused("81559\n81559\n", "of no known tool",
            "name its format; GET /api/v1/inventories:formats lists them");
    refused("gpu001 and others\n", "of no known tool",
            "name its format; GET /api/v1/inventories:formats lists them");
    refused("hosts\n", "of no known tool", "name its format; GET /api/v1/inventories:formats lists them");
    refused("worker-1 slots=8\nworker-2 slots=8\n",
            "a hostfile of MPI or DeepSpeed, which names no accelerators", hint);
    refused("ReservationName=maint StartTime=2025-10-14T13:09:17\n   Nodes=node[1-4] NodeCnt=4\n",
            "reservations of Slurm, which name no hardware", "scontrol show nodes");
    refused("JobID           JobName  Partition\n------------ ---------- ----------\n",
            "the accounts of jobs, which name no hardware", "scontrol show nodes");
}

static void
tables_for_people_are_refused_by_name(void)
{
    refused("NAME  STATUS  ROLES   AGE  VERSION\nn1  Ready  <none>  1d  v1.29.1\n",
            "the table of kubectl get nodes, which tells of no devices",
            "kubectl get nodes -o json");
    refused("NAME    NODE   DRIVER          POOL  AGE\na-x  a  gpu.nvidia.com  a  5d\n",
            "the table of kubectl get resourceslices, which names no parts",
            "kubectl get resourceslices -o json");
    refused("NODE   GPUS   PRODUCT\nn1     8      NVIDIA-L4\nn2     <none> <none>\n",
            "a table of columns that somebody chose", "kubectl get nodes -o json");
    refused("NAME  STATUS  ROLES   AGE  VERSION  LABELS\n"
            "n1  Ready  worker  1d  v1.29.1  nvidia.com/gpu.count=8\n",
            "the table of kubectl get nodes with its labels, which does not tell what a node "
            "offers",
            "kubectl get nodes -o json");
    refused("NODE         GPUS\ngpu-node-1   8\n", "a table of columns that somebody chose",
            "kubectl get nodes -o json");
    refused("GPU  POWER  GPU_T  MEM_T  GFX_CLK  GFX%\n  0  139 W  40 C  34 C  132 MHz  0 %\n",
            "amd-smi monitor, which names no parts", "amd-smi static --json");
    refused("Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t 4: ACTIVE\n",
            "ibstatus, which is not read", "ibstat");
    refused("mlx5_0 port 1 ==> ib0 (Up)\nmlx5_1 port 1 ==> ib1 (Down)\n",
            "ibdev2netdev, which tells no rates", "ibstat");
    refused("Hostname  Partition  Node Num_CPU  CPUload\ngpu01  gpu*  idle  0 224  0.10\n",
            "pestat, which is not read", "scontrol show nodes");
    refused("node/n1\nnode/n2\n", "the names of nodes and nothing of them",
            "kubectl get nodes -o json");
    refused("STATE NNODES NCORES NGPUS NODELIST\n free 4 256 32 gpu[1-4]\n",
            "flux resource list, which names no parts",
            "name the nodes and their accelerators in a spec");
    refused("plugin: amazon.aws.aws_ec2\nregions:\n- us-east-1\n",
            "the settings of a dynamic inventory of Ansible, not what it finds",
            "ansible-inventory --list");
    refused("{\"Reservations\": [{\"Instances\": [{\"InstanceType\": \"p5.48xlarge\"}]}]}",
            "aws ec2 describe-instances, which is not read",
            "terraform show -json, or the node types in a spec");
    refused("{\"InstanceTypes\": [{\"InstanceType\": \"p5.48xlarge\", \"GpuInfo\": {}}]}",
            "aws ec2 describe-instance-types, which tells what may be bought",
            "terraform show -json, or the node types in a spec");
    refused("====== Link Type between two GPUs ======\n       GPU0         GPU1\n",
            "rocm-smi --showtopo, which names no parts",
            "rocm-smi --showproductname --showmeminfo vram --json");
    refused("LINK TYPE TABLE:\n             0000:0c:00.0 0000:22:00.0\n",
            "amd-smi topology, which names no parts", "amd-smi static --json");
    refused("# gpu    pwr  gtemp\n# Idx      W      C\n    0     67     29\n",
            "nvidia-smi dmon or pmon, which names no devices", "nvidia-smi -q -x");
    refused("NVIDIA-SMI version  : 560.35.03\nNVML version        : 560.35\n",
            "nvidia-smi --version, which names no devices", "nvidia-smi -q -x");
    refused("0c:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI]\n",
            "lspci, which tells neither memory nor links",
            "nvidia-smi -q -x, or amd-smi static --json");
    refused("| GPU instances:                    |\n| GPU  Name  Instance   Placement |\n",
            "nvidia-smi mig, which names no devices", "nvidia-smi -L");
    refused("n1  Mon Nov 17  550.54.15\n[0] NVIDIA L4 | 30'C,  0 % |  0 / 23034 MB |\n",
            "gpustat, which is not read", "nvidia-smi -q -x");
    refused("n1  Mon Nov 17  550.54.15\n[0] NVIDIA L4 | 30\u00b0C,  0 % |  0 / 23034 MB |\n"
            "[1] NVIDIA L4 | 30\u00b0C,  0 % |  0 / 23034 MB |\n",
            "gpustat, which is not read", "nvidia-smi -q -x");
    refused("{\"hostname\": \"n1\", \"query_time\": \"now\", \"gpus\": []}",
            "gpustat, which is not read", "nvidia-smi -q -x");
    refused("HOST_NAME   gpu_id  gpu_model        gpu_driver\ngpu01  0 TeslaV100_SXM2_ 418.67\n",
            "lshosts -gpu, which cuts names",
            "name the nodes in a spec, and add nvidia-smi -q -x of one of them");
    refused("[{\"kind\": \"compute#instance\", \"name\": \"a3-0\"}]",
            "gcloud compute instances list, which is not read",
            "terraform show -json, or the node types in a spec");
    refused("[{\"type\": \"Microsoft.Compute/virtualMachines\", \"name\": \"nd\"}]",
            "the output of az, which is not read",
            "terraform show -json, or the node types in a spec");
    refused("JobId=123 JobName=train\n   NodeList=gpu[01-02]\n   TRES=cpu=256,gres/gpu=16\n",
            "a job, which names what it was given and no hardware", "scontrol show nodes");
    refused("Configuration data as of 2025-06-01T10:00:00\nGresTypes               = gpu\n",
            "the settings of Slurm, which name no nodes", "scontrol show nodes");
    refused("gpu,market_name,vendor_id\n0,AMD Instinct MI300X,0x1002\n",
            "the CSV of amd-smi, whose columns are those of its version", "amd-smi static --json");
    refused("gpu,gpu_bdf,gpu_uuid\n0,0000:05:00.0,aaff74a1\n",
            "the CSV of amd-smi, whose columns are those of its version", "amd-smi static --json");
    refused("ROCk module is loaded\nHSA Agents\n  Marketing Name: AMD Instinct MI300X\n",
            "rocminfo, which tells neither links nor all memory", "amd-smi static --json");
    refused("[{\"neuron_device\": 0, \"nc_count\": 2, \"memory_size\": 34359738368}]",
            "neuron-ls, which names no parts", "name the instance type in a spec: node_type");
    refused("| NEURON | NEURON | CONNECTED |\n| DEVICE | CORES  |  DEVICES  |\n",
            "neuron-ls, which names no parts", "name the instance type in a spec: node_type");
    refused("| npu-smi 24.1.rc1  Version: 24.1.rc1 |\n| Chip | Bus-Id | AICore(%) |\n",
            "npu-smi, which is not read", "name the nodes and their accelerators in a spec");
    refused("{\"device_list\": [{\"device_function_type\": \"physical\"}]}",
            "xpu-smi, which is not read", "name the nodes and their accelerators in a spec");
    refused("| Device ID | Device Information |\n| 0 | Device Name: Intel(R) GPU |\n",
            "xpu-smi, which is not read", "name the nodes and their accelerators in a spec");
    refused("  JOBID PARTITION NAME\n 12 gpu train\n", "the queue of jobs, which names no hardware",
            "scontrol show nodes, or sinfo -N -o \"%N %G %T\"");
    refused(" \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n\n  CNS  = Chipset not supported\n",
            "nvidia-smi topo -p2p, which tells no links", "nvidia-smi topo -m");
    refused("| NVIDIA-SMI 535.54.06   Driver Version: 535.54.06 |\n"
            "| GPU  Name        | Bus-Id           | GPU-Util  |\n"
            "|      vGPU ID     | VM ID    VM Name | vGPU-Util |\n",
            "nvidia-smi vgpu, which lists what a hypervisor lends",
            "nvidia-smi -q -x in the machine that a plan is for");
    refused("==============NVSMI LOG==============\nAttached GPUs : 1\nGPU 00000000:3B:00.0\n"
            "    Active vGPUs : 1\n",
            "nvidia-smi vgpu, which lists what a hypervisor lends",
            "nvidia-smi -q -x in the machine that a plan is for");
    refused("  *-display\n       description: 3D controller\n       bus info: pci@0000:19:00.0\n",
            "lshw, which tells neither memory nor links",
            "nvidia-smi -q -x, or amd-smi static --json");
    refused("H/W path     Device   Class    Description\n/0/1    display   GH100\n",
            "lshw, which tells neither memory nor links",
            "nvidia-smi -q -x, or amd-smi static --json");
    refused("[{\"id\": \"display\", \"claimed\": true, \"handle\": \"PCI:0000:19:00.0\"}]",
            "lshw, which tells neither memory nor links",
            "nvidia-smi -q -x, or amd-smi static --json");
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
    refused("Field \"memory.totl\" is not a valid field to query.\n",
            "an error of nvidia-smi: it knows no such column",
            "nvidia-smi --query-gpu=index,name,memory.total --format=csv");
    refused("bash: nvidia-smi: command not found\n", "a shell that found no such command",
            "run the tool where it is installed");
    refused("slurm_load_node error: Unable to contact slurm controller (connect failure)\n",
            "an error of Slurm: its controller did not answer", "");
    /* "<none>" is of the tables of kubectl, unless what it stands in is known. */
    refused("Unable to connect to the server: dial tcp: lookup <none>: no such host\n",
            "an error of kubectl: no server answered", "");
}

static void
nodes_of_other_programs_are_refused_by_name(void)
{
    static const char json[] = "scontrol show nodes --json";
    static const char devices[] = "name the nodes in a spec, and add nvidia-smi -q -x of one of "
                                  "them";

    refused("{'gpu01': {'cpus': 64, 'gres': ['gpu:h100:8'], 'real_memory': 2063937}}\n",
            "a dictionary of Python, as pyslurm gives it", json);
    refused("{\"gpu01\": {\"cpus\": 64, \"gres\": [\"gpu:h100:8\"], \"real_memory\": 2063937}}\n",
            "nodes as pyslurm gives them, by their names", json);
    refused("{\"gpu01\":{\"gres\":[\"gpu:h100:8\"],\"state\":\"IDLE\",\"real_memory\":2063937}}\n",
            "nodes as pyslurm gives them, by their names", json);
    refused("Node(name='gpu01', state='IDLE', configured_gres={'gpu:h100': 8})\n",
            "what Python prints of objects of pyslurm", json);
    refused("RAM 2448/30536MB (lfb 6x4MB) CPU [0%@729] GR3D_FREQ 0% tj@44.2C\n",
            "tegrastats of a Jetson, which names no parts",
            "name the nodes and their accelerators in a spec");
    refused("18:00.0 0302: 10de:2330 (rev a1)\n", "lspci, which tells neither memory nor links",
            "nvidia-smi -q -x, or amd-smi static --json");
    refused("pid, process_name, used_gpu_memory [MiB]\n1, python, 10 MiB\n",
            "the processes of nvidia-smi, which name no devices", "nvidia-smi -q -x");
    refused("utilization.gpu [%], utilization.memory [%]\n10 %, 20 %\n",
            "columns of nvidia-smi that say nothing of what there is",
            "nvidia-smi --query-gpu=index,name,memory.total --format=csv");
    refused(
        "{\"count\": 1, \"results\": [{\"name\": \"g1\", \"device_type\": {\"model\": \"DGX\"}}]}",
        "devices of NetBox, which is not read", "name the nodes and their accelerators in a spec");
    refused("name,status,site,device_type,role\ng1,active,dc1,DGX H100,compute\n",
            "devices of NetBox, which is not read",
            "name the nodes and their accelerators in a spec");
    refused("{\"apiVersion\": \"karpenter.sh/v1\", \"kind\": \"NodePool\", \"metadata\": {}}",
            "an object of Kubernetes that is no node", "kubectl get nodes -o json");
    refused("Hostname,GPU Model,GPU Count,Rack\ngpu01,H100,8,r1\n",
            "a table of one's own, whose columns are those of no tool",
            "name the nodes and their accelerators in a spec");
    refused("hostname,gpu,count\ngpu01,H100,8\n",
            "a table of one's own, whose columns are those of no tool",
            "name the nodes and their accelerators in a spec");
    refused("gpu[01:04]\n", "a list of hosts, which says nothing of what they hold", devices);
    refused("node01:8\nnode02:8\n", "a list of hosts, which says nothing of what they hold",
            devices);
}

/* srun -l: one task is one node, and which hosts several are is not said. */
static void
numbers_of_tasks_are_no_hosts(void)
{
    expect_found(find_in_text("0: GPU 0: NVIDIA L4 (UUID: GPU-ab12)\n0: \n"), "nvidia_smi_list",
                 "- accelerator=NVIDIA L4 accelerators=1\n", "");
    expect_found(find_in_text("0: name, memory.total [MiB]\n0: NVIDIA L4, 23034 MiB\n"),
                 "nvidia_smi_csv",
                 "- accelerator=NVIDIA L4 accelerators=1 memory_bytes=24152899584\n", "");
    found *const f = find_in_text("0: GPU 0: NVIDIA L4 (UUID: GPU-ab12)\n"
                                  "1: GPU 0: NVIDIA L4 (UUID: GPU-ab13)\n");
    CU_ASSERT_EQUAL(f->code, SL_E_UNSUPPORTED);
    sl_expect_text(f->err.list[0].rule, "tasks_unnamed", "srun -l");
    found_free(f);
}

static void
utf16_is_read(void)
{
    static const char plain[] = "GPU 0: NVIDIA L4 (UUID: GPU-ab12)\r\n";
    char text[2][2 * sizeof plain];
    const size_t size = 2 * (sizeof plain - 1);
    memcpy(text[0], "\xFF\xFE", 2); /* the mark of PowerShell, and none the other way round */
    for (size_t i = 0; i < sizeof plain - 1; i++) {
        text[0][2 + 2 * i] = text[1][2 * i + 1] = plain[i];
        text[0][2 + 2 * i + 1] = text[1][2 * i] = '\0';
    }
    static const char expected[] = "- accelerator=NVIDIA L4 accelerators=1\n";
    expect_found(find_in("", text[0], size + 2, NULL), "nvidia_smi_list", expected, "");
    expect_found(find_in("", text[1], size, NULL), "nvidia_smi_list", expected, "");
    /* A byte too many, and half a pair at the end. */
    expect_found(find_in("", text[0], size + 1, NULL), "nvidia_smi_list", expected, "");
    memcpy(text[0] + size, "\x3D\xD8", 2);
    expect_found(find_in("", text[0], size + 2, NULL), "nvidia_smi_list", expected, "");
    /* The length is that of what was read: a pair is one character of four bytes. */
    static const char pair[] = "\xFF\xFE\x3D\xD8\x00\xDE";
    expect_unread_of(pair, sizeof pair - 1, "of no known tool", 4,
                     "name its format; GET /api/v1/inventories:formats lists them");
}

/* What fits into no memory is no other format. */
static void
utf16_past_memory_is_told_as_such(void)
{
    enum { ARENA_BYTES = 1 << 20, SIZE = 4 << 20 };
    static char text[SIZE];
    sl_errors err = {.count = 0};
    const sl_format *used = NULL;
    uint32_t confidence = 0;
    sl_arena *const arena = sl_arena_new(ARENA_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    sl_findings *const findings = sl_findings_new(arena, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(findings);

    for (size_t i = 0; i < SIZE; i += 2)
        text[i] = 'x';
    const sl_raw raw = {.name = "", .text = text, .size = SIZE};
    CU_ASSERT_EQUAL(sl_intake_read(&raw, NULL, findings, &used, &confidence, &err), SL_E_MEMORY);
    sl_expect_text(err.list[0].message, "no memory to read UTF-16", "message");
    sl_arena_free(arena);
}

static void
what_is_packed_otherwise_is_refused_by_name(void)
{
    expect_unread("PK\003\004\024\0", 6, "a zip archive, or a spreadsheet",
                  "unpack it, or save it as CSV");
    expect_unread("\xFD"
                  "7zXZ\0",
                  6, "xz, which is not unpacked", "gzip");
    expect_unread("\x28\xB5\x2F\xFD\0", 5, "zstd, which is not unpacked", "gzip");
    expect_unread("BZh91AY", 7, "bzip2, which is not unpacked", "gzip");
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
    refused("Dear all,\n{ these } are [words]\n", "of no known tool",
            "name its format; GET /api/v1/inventories:formats lists them");
}

/* A parser of YAML stumbles over the first and over the last of them. */
static void
prompts_and_fences_around_yaml_are_passed(void)
{
    static const char *const around[][2] = {
        {"admin@head:~$ kubectl get node n1 -o yaml\n", "admin@head:~$ \n"},
        {"[root@head ~]# kubectl get node n1 -o yaml\r\n", "[root@head ~]# exit\n"},
        {"$ kubectl get node n1 -o yaml\n\n", "$"},
        {"(base) me@host % kubectl get node n1 -o yaml\n", "\n(base) me@host %\n"},
        {"```yaml\n", "```\n\n"},
    };
    for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "%sapiVersion: v1\nkind: Node\nmetadata:\n  name: n1\nstatus:\n"
                       "  capacity:\n    nvidia.com/gpu: \"8\"\n%s",
                       around[i][0], around[i][1]);
        expect_found(find_in_text(text), "kubernetes_nodes", "n1 accelerators=8\n", "");
    }
    /* A row may end in the mark of a state and name somebody before it. */
    expect_found(find_in_text("NODELIST GRES REASON STATE\nn1 gpu:t4:1 none idle\n"
                              "n2 gpu:t4:1 bob@x alloc$\n"),
                 "slurm_sinfo_text",
                 "n1 accelerator=t4 accelerators=1\nn2 accelerator=t4 accelerators=1\n", "");
    /* Comments and values that hold such marks are of the document. */
    expect_found(
        find_in_text("# of me@host: kept\nNodeName=n1 CPUs=8\nNodeName=n2 CPUs=8 # b@c #\n"),
        "slurm_conf", "n1 cpus=8\nn2 cpus=8\n", "");
}

/* Nothing but prompts is what it was. */
static void
prompts_alone_are_no_output(void)
{
    refused("admin@head:~$ \nadmin@head:~$ \n", "of no known tool",
            "name its format; GET /api/v1/inventories:formats lists them");
}

static void
a_second_output_in_one_file_is_told_of(void)
{
    expect_found(find_in_text("$ scontrol show node a\nNodeName=a CPUTot=8 Gres=gpu:t4:1\n"
                              "$ nvidia-smi -L\nGPU 0: Tesla T4 (UUID: GPU-1)\n"),
                 "slurm_nodes_text", "a accelerator=t4 accelerators=1 cpus=8\n", "several_outputs");
    /* Far behind the beginning as well. */
    enum { NODES = 2000, NODE_SIZE = 64 };
    char *const many = calloc(NODES + 4, NODE_SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(many);
    size_t size = 0;
    for (int i = 0; i < NODES; i++)
        size += (size_t)snprintf(many + size, NODE_SIZE, "NodeName=a CPUTot=8 Gres=gpu:t4:1\n\n");
    (void)snprintf(many + size, 2 * NODE_SIZE, "GPU 0: Tesla T4 (UUID: GPU-1)\n");
    expect_found(find_in_text(many), "slurm_nodes_text", "a accelerator=t4 accelerators=1 cpus=8\n",
                 "several_outputs");
    free(many);
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(lists_of_hosts_are_refused_by_name),
        SL_CASE(outputs_beside_those_that_are_read_are_refused_by_name),
        SL_CASE(tables_for_people_are_refused_by_name),
        SL_CASE(errors_of_tools_are_no_output),
        SL_CASE(nodes_of_other_programs_are_refused_by_name),
        SL_CASE(numbers_of_tasks_are_no_hosts),
        SL_CASE(utf16_is_read),
        SL_CASE(utf16_past_memory_is_told_as_such),
        SL_CASE(what_is_packed_otherwise_is_refused_by_name),
        SL_CASE(colours_are_no_text),
        SL_CASE(json_may_stand_behind_a_prompt),
        SL_CASE(prompts_and_fences_around_yaml_are_passed),
        SL_CASE(prompts_alone_are_no_output),
        SL_CASE(a_second_output_in_one_file_is_told_of),
    };
    return sl_run_cases(argc, argv, "intake_refusals", cases, sizeof cases / sizeof cases[0]);
}
