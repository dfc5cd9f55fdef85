/** Readers of documents, each in a file of its own: what sl_format asks for. */
#ifndef SL_INTAKE_DOCUMENTS_FORMATS_H
#define SL_INTAKE_DOCUMENTS_FORMATS_H

#include "intake/document.h"

extern const sl_formats sl_document_formats;

extern const sl_format sl_spec_format;

extern const sl_format sl_terraform_format;

extern const sl_format sl_ansible_ini_format;

extern const sl_format sl_ansible_yaml_format;

extern const sl_format sl_ansible_list_format;

extern const sl_format sl_ansible_facts_format;

extern const sl_format sl_topograph_format;

extern const sl_format sl_netq_format;

extern const sl_format sl_mlperf_format;

#endif
