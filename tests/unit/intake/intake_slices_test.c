/* Devices that drivers of Kubernetes publish: kubectl get resourceslices. */
#include "intake_reading.h"

#include "json/reader.h"

static void
devices_of_a_node_are_counted_once(void)
{
    expect_found(fixture("kubernetes_slices.yaml"), "kubernetes_slices",
                 "gpu-a accelerator=NVIDIA H100 80GB HBM3 accelerators=2 memory_bytes=85520809984 "
                 "driver=580.126.9\n"
                 "vm1 accelerator=NVIDIA A100-PCIE-40GB slice=vGPU A100-10C\n",
                 "device_tainted slice_passed vgpu_shares");
}

/* The first versions of the API held what is said of a device in "basic". */
static void
slices_of_mig_are_of_one_device(void)
{
    expect_found(fixture("kubernetes_slices.json"), "kubernetes_slices",
                 "n1 accelerator=NVIDIA GB200 accelerators=2 memory_bytes=198674743296 "
                 "sliced_accelerators=1 slice=MIG 1g.23gb driver=570.86.15\n",
                 "");
}

static found *
slice(const char *driver, const char *devices)
{
    static char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"apiVersion\": \"resource.k8s.io/v1\", \"kind\": \"ResourceSlice\",\n"
                   " \"metadata\": {\"name\": \"a\"},\n \"spec\": {\"driver\": \"%s\", %s}}\n",
                   driver, devices);
    return find_in_text(text);
}

/* A driver that cuts on demand offers every part that a whole device could be cut into. */
static void
parts_to_come_are_not_there(void)
{
    expect_found(
        slice("gpu.nvidia.com",
              "\"nodeName\": \"n1\", \"devices\": ["
              "{\"name\": \"gpu-0\", \"attributes\": {\"uuid\": {\"string\": \"GPU-1\"}, "
              "\"productName\": {\"string\": \"NVIDIA H200\"}}}, "
              "{\"name\": \"gpu-0-mig-1\", \"consumesCounters\": [], \"attributes\": {"
              "\"type\": {\"string\": \"mig\"}, \"parentUUID\": {\"string\": \"GPU-1\"}}}]"),
        "kubernetes_slices", "n1 accelerator=NVIDIA H200 accelerators=1\n", "");
}

static void
partitions_of_amd_are_of_one_device(void)
{
    expect_found(
        slice(
            "gpu.amd.com",
            "\"nodeName\": \"w2\", \"devices\": ["
            "{\"name\": \"gpu-4\", \"attributes\": {\"type\": {\"string\": \"amdgpu-partition\"}, "
            "\"partitionProfile\": {\"string\": \"cpx_nps1\"}, \"parentPciAddr\": {\"string\": "
            "\"0002:00:01.0\"}, \"productName\": {\"string\": \"AMD_Instinct_MI300X_OAM\"}}, "
            "\"capacity\": {\"memory\": {\"value\": \"24574Mi\"}}}, "
            "{\"name\": \"gpu-5\", \"attributes\": {\"type\": {\"string\": \"amdgpu-partition\"}, "
            "\"partitionProfile\": {\"string\": \"cpx_nps1\"}, \"parentPciAddr\": {\"string\": "
            "\"0002:00:01.0\"}, \"productName\": {\"string\": \"AMD_Instinct_MI300X_OAM\"}}}]"),
        "kubernetes_slices",
        "w2 accelerator=AMD_Instinct_MI300X_OAM accelerators=1 sliced_accelerators=1 "
        "slice=cpx_nps1\n",
        "");
}

/* What a part is and of what may be missing: it is one still. */
static void
parts_that_say_little_are_parts(void)
{
    expect_found(slice("gpu.nvidia.com",
                       "\"nodeName\": \"n1\", \"devices\": [{\"name\": \"a\", \"attributes\": "
                       "{\"type\": {\"string\": \"mig\"}}, \"capacity\": {\"memory\": "
                       "{\"value\": \"9856Mi\"}}}, {\"name\": \"b\", \"attributes\": "
                       "{\"type\": {\"string\": \"mig\"}}}]"),
                 "kubernetes_slices", "n1 accelerators=1 sliced_accelerators=1 slice=MIG\n", "");
}

/* Names may stand behind the driver's, and the first versions print quantities bare. */
static void
names_and_quantities_come_in_two_forms(void)
{
    expect_found(slice("gpu.intel.com",
                       "\"nodeName\": \"n1\", \"devices\": [{\"name\": \"0000-03\", \"basic\": {"
                       "\"attributes\": {\"gpu.intel.com/model\": {\"string\": \"Max 1550\"}}, "
                       "\"capacity\": {\"memory\": \"131072Mi\"}}}]"),
                 "kubernetes_slices",
                 "n1 accelerator=Max 1550 accelerators=1 memory_bytes=137438953472\n", "");
}

static void
slices_without_accelerators_of_a_node_are_refused(void)
{
    static const char *const drivers[] = {"dra.net", "compute-domain.nvidia.com", "dra.cpu"};
    for (size_t i = 0; i < sizeof drivers / sizeof drivers[0]; i++) {
        found *const f =
            slice(drivers[i], "\"nodeName\": \"n1\", \"devices\": [{\"name\": \"a\"}]");
        CU_ASSERT_EQUAL(f->code, SL_E_UNSUPPORTED);
        CU_ASSERT_EQUAL(found_warned(f, "slice_passed"), 1);
        found_free(f);
    }
    found *const f =
        slice("gpu.nvidia.com", "\"allNodes\": true, \"devices\": [{\"name\": \"a\"}]");
    sl_expect_text(f->words, "no_nodes: holds no slice of accelerators on a node", "words");
    CU_ASSERT_EQUAL(found_warned(f, "slice_of_no_node"), 1);
    found_free(f);
}

/* Attributes that are no objects, devices that are none: what is missing is not said. */
static void
odd_devices_say_nothing(void)
{
    expect_found(
        slice("gpu.nvidia.com",
              "\"nodeName\": \"n1\", \"devices\": [7, {\"name\": \"a\", \"attributes\": "
              "{\"productName\": \"H100\", \"type\": 3}, \"capacity\": {\"memory\": []}}]"),
        "kubernetes_slices", "n1 accelerators=1\n", "");
}

int
main(int argc, char **argv)
{
    static const sl_case cases[] = {
        SL_CASE(devices_of_a_node_are_counted_once),
        SL_CASE(slices_of_mig_are_of_one_device),
        SL_CASE(parts_to_come_are_not_there),
        SL_CASE(partitions_of_amd_are_of_one_device),
        SL_CASE(parts_that_say_little_are_parts),
        SL_CASE(names_and_quantities_come_in_two_forms),
        SL_CASE(slices_without_accelerators_of_a_node_are_refused),
        SL_CASE(odd_devices_say_nothing),
    };
    sl_json_start();
    return sl_run_cases(argc, argv, "intake_slices", cases, sizeof cases / sizeof cases[0]);
}
