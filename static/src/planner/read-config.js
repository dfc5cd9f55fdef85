/** A config.json as somebody pasted or dropped it. Pure. */

const MOST_CONFIG_BYTES = 262144;

/** @param {string} text @returns {{config: Record<string, any> | null, fault: string}} */
export function readConfig(text) {
    if (text.length > MOST_CONFIG_BYTES) return { config: null, fault: "larger than a config.json can be (256 KiB)" };
    try {
        const config = JSON.parse(text);
        if (config !== null && typeof config === "object" && !Array.isArray(config)) return { config, fault: "" };
        return { config: null, fault: "must be a JSON object, the whole config.json" };
    } catch (error) {
        return { config: null, fault: `not valid JSON: ${/** @type {Error} */ (error).message}` };
    }
}

/** Whether a file is the description of a model, and no output of a tool. @param {string} text */
export function isConfig(text) {
    const { config } = readConfig(text);
    return config !== null && ["model_type", "architectures", "hidden_size", "n_embd"].some((name) => name in config);
}
