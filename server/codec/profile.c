#include "codec/profile.h"

#include <assert.h>
#include <stddef.h>

#include "json/members.h"

/* Figures of a software profile that a request may replace; one table reads and writes them. */
static const struct field {
    const char *name;
    size_t offset;
    double least, most;
} fields[] = {
    {"host_operator_s", offsetof(sl_software, host_operator_s), 0.0, 1.0},
    {"step_overhead_s", offsetof(sl_software, step_overhead_s), 0.0, 60.0},
    {"overlap_loss_ratio", offsetof(sl_software, overlap_loss_ratio), 0.0, 1.0},
    {"norm_ratio", offsetof(sl_software, streaming.norm_ratio), 0.01, 1.0},
    {"activation_ratio", offsetof(sl_software, streaming.activation_ratio), 0.01, 1.0},
    {"rotary_ratio", offsetof(sl_software, streaming.rotary_ratio), 0.01, 1.0},
    {"softmax_ratio", offsetof(sl_software, streaming.softmax_ratio), 0.01, 1.0},
    {"residual_ratio", offsetof(sl_software, streaming.residual_ratio), 0.01, 1.0},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static double *
field_of(sl_software *software, const struct field *field)
{
    return (double *)(void *)((char *)software + field->offset);
}

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

sl_code
sl_profile_read(sl_estimate_request *request, sl_errors *warnings, sl_errors *err)
{
    sl_member members[FIELDS];
    double values[FIELDS];
    bool said[FIELDS] = {false};
    sl_node profile;

    if (!sl_node_member(&request->workload_object, "profile", &profile))
        return SL_OK;
    sl_code first = sl_node_object(&profile, err);
    if (first != SL_OK)
        return first;
    for (uint32_t i = 0; i < FIELDS; i++) {
        members[i] = (sl_member){fields[i].name, NULL};
        sl_keep(&first, sl_node_double(&profile, fields[i].name, fields[i].least, fields[i].most,
                                       &values[i], &said[i], err));
    }
    sl_keep(&first, sl_members_check(&profile, members, FIELDS, warnings, err));
    if (first != SL_OK || request->software == NULL)
        return first;

    sl_software *const own = sl_profile_own(request);
    for (uint32_t i = 0; i < FIELDS; i++)
        for (uint32_t k = 0; said[i] && k < request->software_count; k++)
            *field_of(&own[k], &fields[i]) = values[i];
    return SL_OK;
}

void
sl_profile_write(sl_writer *writer, const sl_software *software)
{
    sl_write_key(writer, "profile");
    if (software == NULL) {
        sl_write_null(writer);
        return;
    }
    sl_software shown = *software;
    sl_write_object(writer);
    for (uint32_t i = 0; i < FIELDS; i++)
        sl_put_double(writer, fields[i].name, *field_of(&shown, &fields[i]));
    sl_write_object_end(writer);
}
