/** JSON Merge Patch (RFC 7396): `change` of an answer becomes a request by it. */
export function mergePatch(target, patch) {
    if (patch === null || typeof patch !== 'object' || Array.isArray(patch))
        return patch;
    const merged = { ...(typeof target === 'object' ? target : {}) };
    for (const [key, value] of Object.entries(patch)) {
        if (value === null)
            delete merged[key];
        else
            merged[key] = mergePatch(merged[key], value);
    }
    return merged;
}
