/**
 * Virtual GPUs of NVIDIA by the names that tools print inside of machines: "GRID A100-4C" is a
 * share of 4 GB of an A100, "A100-3-20C" one of three MIG slices. A share is no accelerator that a
 * plan can have, but for one that has all of its card's memory and computes: no other machine is on
 * that card.
 */
#ifndef SL_INTAKE_VGPU_H
#define SL_INTAKE_VGPU_H

#include "intake/findings.h"

enum { SL_VGPU_TEXT_SIZE = 64 };

typedef struct sl_vgpu {
    char type[SL_VGPU_TEXT_SIZE]; /* "vGPU A100-4C" */
    char card
        [SL_VGPU_TEXT_SIZE]; /* "NVIDIA A100-PCIE-40GB"; of a board that is not known its code */
    uint32_t gigabytes;      /* of the card's memory; 0: half a one */
    uint32_t slices;         /* of MIG; 0: shares take turns on the card */
    bool whole;
} sl_vgpu;

/**
 * Whether a name is one of a virtual GPU: a board's code, the slices where it is cut by MIG,
 * gigabytes and the series (A applications, B desktops, C computing, Q workstations), "A100-3-20C".
 * A code that is not known counts behind the word GRID or NVIDIA only.
 * Source: docs.nvidia.com/ai-enterprise (types by hardware) and docs.nvidia.com/vgpu (user guide).
 */
bool sl_vgpu_read(const char *name, sl_vgpu *out);

/** Whether a word is the code of a board, "A16", whether the catalogue has it or not. */
bool sl_vgpu_is_board(const char *word);

/** Facts that name a virtual GPU become those of the card: of a share without number and memory,
 * which are not the card's (warning vgpu_shares); of a whole one with both (vgpu_whole). The facts
 * point into *vgpu from here on. */
void sl_vgpu_settle(const sl_vgpu *vgpu, sl_facts *facts, sl_findings *findings);

#endif
