/** Figures of a software profile that a request replaces (workload.profile), and what they are. */
#ifndef SL_CODEC_PROFILE_H
#define SL_CODEC_PROFILE_H

#include "codec/question/question.h"
#include "json/writer.h"

/** The request's own copies of its profiles, made when first asked for; none without profiles. */
sl_software *sl_profile_own(sl_estimate_request *request);

/** workload.profile, into the profiles to consider. Rules: wrong_type, out_of_range,
 * unknown_field. */
sl_code sl_profile_read(sl_estimate_request *request, sl_errors *warnings,
                        sl_errors *err) SL_MUST_CHECK;

/** What flash-attn's own functions, which some releases call where a kernel is asked for by name, do
 * otherwise than SDPA. Before sl_profile_read, which may say otherwise again. */
void sl_profile_name_kernel(sl_estimate_request *request, uint32_t attention_word);

/** "profile": the same figures, as they were used; null without a profile. */
void sl_profile_write(sl_writer *writer, const sl_software *software);

#endif
