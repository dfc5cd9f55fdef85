/** What the labels of NVIDIA's feature discovery say of a node: whole, cut or shared devices. */
#ifndef SL_INTAKE_KUBERNETES_NVIDIA_H
#define SL_INTAKE_KUBERNETES_NVIDIA_H

#include "intake/kubernetes/kubernetes.h"

/** Into facts; nothing where the node has no such labels and offers no such device. */
void sl_kubernetes_nvidia(sl_kubernetes_node *node, sl_facts *facts);

#endif
