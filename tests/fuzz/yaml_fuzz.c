/* Any bytes as YAML: what is left out before libyaml sees it changes nothing. */
#include <assert.h>
#include <stdint.h>

#include "../unit/intake/yaml_compared.h"
#include "json/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    sl_buffer skimmed, whole;

    sl_json_start();
    const bool same = sl_yaml_compared((const char *)bytes, size, &skimmed, &whole);
    assert(same);
    sl_buffer_clear(&skimmed);
    sl_buffer_clear(&whole);
    return 0;
}
