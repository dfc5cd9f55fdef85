/**
 * Devices, as the tools that list them say each, gathered into the nodes that hold them. Nodes may
 * take turns and a device may be told of more than once; like devices are kept once.
 */
#ifndef SL_INTAKE_DEVICES_H
#define SL_INTAKE_DEVICES_H

#include "intake/findings.h"

enum {
    SL_DEVICE_KINDS_MAX = 2048, /* that differ in anything */
    SL_NODE_KINDS_MAX = 16      /* of them in one node */
};

typedef struct sl_devices sl_devices;

/** Lives in the arena of the findings. SL_E_MEMORY. */
sl_code sl_devices_new(sl_findings *findings, sl_devices **out, sl_errors *err) SL_MUST_CHECK;

/** What is read is a catalogue: what names a node is its type, and each type is said of one node
 * that nobody named. */
void sl_devices_are_offers(sl_devices *devices);

/** The node of that name, the same for the same name; a new one where it is NULL or "". */
sl_code sl_devices_node(sl_devices *devices, const char *name, uint32_t line, uint32_t *node,
                        sl_errors *err) SL_MUST_CHECK;

/**
 * Says of `count` like devices of a node what is true of each: of it SL_FIELD_ACCELERATOR,
 * _MEMORY_BYTES, _NOMINAL_MEMORY_BYTES, _RESERVED_BYTES, _POWER_LIMIT_W, _SLICED_ACCELERATORS (how
 * much of it is cut: 1) and _SLICE count; other fields are the node's. `identity` tells a device
 * from the others of its node: of one that was told of before, what was unsaid is taken, and *known
 * says so. NULL or "" is always another device; known may be NULL.
 */
sl_code sl_devices_add(sl_devices *devices, uint32_t node, const char *identity, uint32_t count,
                       const sl_facts *facts, bool *known, sl_errors *err) SL_MUST_CHECK;

/** Completes what is said of a node as a whole. Fields of devices are the node's word then: it
 * overrules the devices' own, and their number what was counted. */
sl_code sl_devices_say(sl_devices *devices, uint32_t node, const sl_facts *facts,
                       sl_errors *err) SL_MUST_CHECK;
sl_code sl_devices_domain(sl_devices *devices, uint32_t node, const char *domain,
                          sl_errors *err) SL_MUST_CHECK;

/** How many devices the tool says a node has, whether it lists them or not. Where it lists fewer,
 * the others are taken to be of the most common part (devices_not_listed); where it lists more,
 * those count (devices_contradict). The first word counts. path: static. */
void sl_devices_attached(sl_devices *devices, uint32_t node, uint32_t count, uint32_t line,
                         const char *path);

/** The number by which the tool calls a device it lists, from 0. Numbers that leave some out are
 * said (device_numbers_leave_out): a device may be lost, drained, or not have been asked of. */
void sl_devices_numbered(sl_devices *devices, uint32_t node, uint32_t number, uint32_t line);

/** A tool that was asked of one device lists one: how many the node has is not said. */
void sl_devices_uncounted(sl_devices *devices, uint32_t node);

/** Whether a device of that identity was told of. */
bool sl_devices_knows(const sl_devices *devices, uint32_t node, const char *identity);

/** How many devices a node has by now. */
uint32_t sl_devices_count(const sl_devices *devices, uint32_t node);

/**
 * Adds every node to the findings. A node of several parts is said to hold the most common of them
 * (mixed_devices); of unequal memories and limits the smallest counts (mixed_memory, mixed_power).
 */
sl_code sl_devices_finish(sl_devices *devices, sl_errors *err) SL_MUST_CHECK;

#endif
