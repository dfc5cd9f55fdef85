/** Readers of documents, each in a file of its own: what sl_format asks for. */
#ifndef SL_INTAKE_DOCUMENTS_FORMATS_H
#define SL_INTAKE_DOCUMENTS_FORMATS_H

#include "intake/document.h"

extern const sl_formats sl_document_formats;

uint32_t sl_spec_recognise(const sl_sample *sample);
sl_code sl_spec_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

uint32_t sl_terraform_recognise(const sl_sample *sample);
sl_code sl_terraform_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

uint32_t sl_ansible_ini_recognise(const sl_sample *sample);
sl_code sl_ansible_ini_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

uint32_t sl_ansible_yaml_recognise(const sl_sample *sample);
sl_code sl_ansible_yaml_read(const sl_raw *raw, sl_findings *findings,
                             sl_errors *err) SL_MUST_CHECK;

uint32_t sl_ansible_list_recognise(const sl_sample *sample);
sl_code sl_ansible_list_read(const sl_raw *raw, sl_findings *findings,
                             sl_errors *err) SL_MUST_CHECK;

uint32_t sl_ansible_facts_recognise(const sl_sample *sample);
sl_code sl_ansible_facts_read(const sl_raw *raw, sl_findings *findings,
                              sl_errors *err) SL_MUST_CHECK;

uint32_t sl_topograph_recognise(const sl_sample *sample);
sl_code sl_topograph_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

uint32_t sl_netq_recognise(const sl_sample *sample);
sl_code sl_netq_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

uint32_t sl_mlperf_recognise(const sl_sample *sample);
sl_code sl_mlperf_read(const sl_raw *raw, sl_findings *findings, sl_errors *err) SL_MUST_CHECK;

#endif
