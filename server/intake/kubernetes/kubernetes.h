/** Nodes of Kubernetes: labels, resources and conditions of one, as facts; and the devices that
 * drivers publish beside them. */
#ifndef SL_INTAKE_KUBERNETES_H
#define SL_INTAKE_KUBERNETES_H

#include "intake/document.h"

extern const sl_formats sl_kubernetes_formats;

/* kubectl get nodes */
extern const sl_format sl_kubernetes_nodes_format;

/* kubectl describe nodes */
extern const sl_format sl_kubernetes_describe_format;

/* kubectl get resourceslices */
extern const sl_format sl_kubernetes_slices_format;

enum { SL_KUBERNETES_TEXT_SIZE = 128 };

/** A node while it is read; texts that facts point at until they are added. */
typedef struct sl_kubernetes_node {
    const char *name;
    uint32_t line;
    sl_node labels, capacity, allocatable;
    bool labelled, has_capacity, has_allocatable;
    sl_findings *findings;
    double offered, usable; /* devices and slices of any vendor; filled by sl_kubernetes_devices */
    char accelerator[SL_KUBERNETES_TEXT_SIZE], slice[SL_KUBERNETES_TEXT_SIZE];
    char driver[SL_KUBERNETES_TEXT_SIZE], reason[2 * SL_KUBERNETES_TEXT_SIZE];
} sl_kubernetes_node;

/** Visits the objects that kubectl prints, as JSON or YAML. Members that are most of a node and
 * that nobody needs, its images, say, may be left out. Errors: those of elements.h, and the
 * visitor's. */
sl_code sl_kubernetes_objects(const sl_raw *raw, sl_element_visit visit, void *context,
                              sl_errors *err) SL_MUST_CHECK;

/** A label that is not empty, or NULL. */
const char *sl_kubernetes_label(const sl_kubernetes_node *node, const char *name);

/** A quantity of Kubernetes: "8", "1k", "31850m", "123662920Ki", "1e3". */
bool sl_kubernetes_quantity(const sl_node *value, double *out);

/** What the capacity names of a resource; 0 where it does not. */
double sl_kubernetes_capacity(const sl_kubernetes_node *node, const char *resource);

/** Accelerators of any vendor, whole or cut, into facts. */
void sl_kubernetes_devices(sl_kubernetes_node *node, sl_facts *facts);

/** Network cards that are offered to containers, into facts. */
void sl_kubernetes_nics(const sl_kubernetes_node *node, sl_facts *facts);

#endif
