/**
 * Which parts of the catalogue a printed name may stand for, and the memory that sites write into
 * it: "h100-80", "a100_40gb".
 */
#ifndef SL_INTAKE_PART_NAMES_H
#define SL_INTAKE_PART_NAMES_H

#include "catalog/catalog.h"

enum { SL_PART_CANDIDATES_MAX = 8, SL_PART_NAMES_KEPT = 16, SL_PART_NAME_SIZE = 128 };

/** What a name was found to be. */
typedef struct sl_part_name {
    char name[SL_PART_NAME_SIZE]; /* "": of one that is too long to be remembered */
    const sl_part *candidates[SL_PART_CANDIDATES_MAX];
    uint32_t candidate_count;
    bool near;    /* none goes by the name; these are like it */
    double bytes; /* the memory that the name says, which one of them has; 0: it says none */
} sl_part_name;

/** Comparing with all names of the catalogue takes a while, and thousands of nodes have few names:
 * the last ones are remembered, in a ring. Set the catalogue and zero the rest. */
typedef struct sl_part_names {
    const sl_catalog *catalog;
    sl_part_name kept[SL_PART_NAMES_KEPT];
    uint32_t used;
} sl_part_names;

/** Good until as many other names are asked for as are remembered. */
const sl_part_name *sl_part_names_find(sl_part_names *names, const char *name);

/** The same, of a word for what Slurm counts. It counts what the operating system does, and that
 * sees two devices in a module of some parts: where the catalogue has another part for its word,
 * "gpu:mi250x", that one is meant. */
const sl_part_name *sl_part_names_find_counted(sl_part_names *names, const char *name);

/** Whether both may be one part: they share a candidate, and no memory in them sets them apart. */
bool sl_part_names_share(const sl_part_name *a, const sl_part_name *b);

/** Whether a memory that somebody states, in rounder figures than tools print, may be the part's;
 * 0 is anyone's. */
bool sl_part_is_stated(double stated_bytes, const sl_part *part);

/** Whether any part of the catalogue may be stated to have that memory. */
bool sl_part_names_have(const sl_part_names *names, double stated_bytes);

/** The memory, with its unit, that a name ends in: of 10 GiB "a100_10gb"; 0: none. */
double sl_part_name_bytes(const char *name);

/** A letter and a number, "a10", "b200", "l40s": the name of a part, or of a place in a hall. */
bool sl_part_name_is_short(const char *name);

#endif
