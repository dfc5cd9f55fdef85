#include "codec/question/profile.h"

#include <assert.h>
#include <stddef.h>

#include "codec/question/figures.h"

#define FIELD(name, member, least, most)                                                           \
    {                                                                                              \
        name, offsetof(sl_software, member), least, most                                           \
    }

/* Figures of a software profile that a request may replace. */
enum { HOST_OPERATOR };
static const sl_figure_field fields[] = {
    [HOST_OPERATOR] = FIELD("host_operator_s", host_operator_s, 0.0, 1.0),
    FIELD("expert_operator_s", expert_operator_s, 0.0, 1.0),
    FIELD("step_overhead_s", step_overhead_s, 0.0, 60.0),
    FIELD("overlap_loss_ratio", overlap_loss_ratio, 0.0, 1.0),
    FIELD("step_lists", step_lists, 0.0, 4.0),
    FIELD("relays_outputs", relays_outputs, 0.0, 1.0),
    FIELD("repeats_keys", repeats_keys, 0.0, 1.0),
    FIELD("gradient_accumulation_fusion", gradient_accumulation_fusion, 0.0, 1.0),
    FIELD("logits_peak_bytes", logits_peak_bytes, 0.0, 32.0),
    FIELD("fused_logits_peak_bytes", fused_logits_peak_bytes, 0.0, 32.0),
    FIELD("norm_ratio", streaming.norm_ratio, 0.01, 1.0),
    FIELD("activation_ratio", streaming.activation_ratio, 0.01, 1.0),
    FIELD("rotary_ratio", streaming.rotary_ratio, 0.01, 1.0),
    FIELD("softmax_ratio", streaming.softmax_ratio, 0.01, 1.0),
    FIELD("residual_ratio", streaming.residual_ratio, 0.01, 1.0),
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

sl_software *
sl_profile_own(sl_estimate_request *request)
{
    assert(request->software_count <= SL_SOFTWARE_OPEN_MAX);
    if (request->software != request->own_software && request->software != NULL)
        for (uint32_t i = 0; i < request->software_count; i++)
            request->own_software[i] = request->software[i];
    if (request->software != NULL)
        request->software = request->own_software;
    return request->own_software;
}

static void
take_package(sl_software *software)
{
    if (!software->calls_flash_attn)
        return;
    software->relays_outputs = 0.0;
    software->repeats_keys = 0.0;
}

void
sl_profile_name_kernel(sl_estimate_request *request, uint32_t attention_word)
{
    const bool named = attention_word == SL_ATTENTION_FLASH1 ||
                       attention_word == SL_ATTENTION_FLASH2 ||
                       attention_word == SL_ATTENTION_FLASH3;

    if (!named || request->software == NULL)
        return;
    sl_software *const own = sl_profile_own(request);
    for (uint32_t k = 0; k < request->software_count; k++)
        take_package(&own[k]);
    if (request->sharded != NULL) {
        request->own_sharded = *request->sharded;
        take_package(&request->own_sharded);
        request->sharded = &request->own_sharded;
    }
}

sl_code
sl_profile_read(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    sl_software read = {.host_operator_s = 0.0};
    uint32_t said = 0;
    sl_node profile;

    if (!sl_node_member(&request->workload_object, "profile", &profile))
        return SL_OK;
    const sl_code code = sl_figures_read(&profile, fields, FIELDS, &read, &said, warnings, err);
    if (code != SL_OK || request->software == NULL)
        return code;

    sl_software *const own = sl_profile_own(request);
    request->profile_said = true;
    for (uint32_t k = 0; k < request->software_count; k++) {
        sl_figures_copy(fields, FIELDS, said, &read, &own[k]);
        own[k].host_said = (said & (1u << HOST_OPERATOR)) != 0;
    }
    return SL_OK;
}

void
sl_profile_write(sl_writer *writer, const sl_software *software)
{
    if (software != NULL) {
        sl_figures_write(writer, "profile", fields, FIELDS, software);
        return;
    }
    sl_write_key(writer, "profile");
    sl_write_null(writer);
}
