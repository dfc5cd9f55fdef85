/** Variables and facts that Ansible has of a host, as findings. */
#ifndef SL_INTAKE_DOCUMENTS_ANSIBLE_H
#define SL_INTAKE_DOCUMENTS_ANSIBLE_H

#include "intake/document.h"

/**
 * A variable that people give hosts to say what is in them, "gpu_type" or "gpus". Others say
 * nothing. text: the value as it is written, which must outlive the facts.
 */
void sl_ansible_variable(sl_facts *facts, const char *name, const char *text, uint32_t line);

/** The variables of an object, texts and numbers. */
void sl_ansible_variables(sl_facts *facts, const sl_node *object, uint32_t line, sl_arena *arena);

/**
 * Adds the hosts that a pattern stands for: "db[01:03]", "rack[a:c]-[1:9:2]". One that is no
 * pattern is warned of (odd_name). The machine that runs Ansible itself is passed over.
 */
sl_code sl_ansible_add(sl_findings *findings, const char *pattern, uint32_t line,
                       const sl_facts *facts, sl_errors *err) SL_MUST_CHECK;

#endif
