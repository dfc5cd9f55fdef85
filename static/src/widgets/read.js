/** The way from a term of the page to the concept that explains it. */
import { html } from "../html.js";
import { openPage } from "../state/store.js";

/** The concepts in the order of reading. @type {Record<string, string>} */
export const CONCEPTS = {
    data: "Data parallelism", ddp: "Distributed data parallelism (DDP)", zero: "ZeRO stages",
    fsdp: "FSDP units", hsdp: "Hybrid sharding (HSDP)", ring: "Ring all-reduce",
    tensor: "Tensor parallelism", sequence: "Sequence parallelism", pipeline: "Pipeline and its bubble",
    naive: "Layer-wise, naive", context: "Context parallelism", expert: "Expert parallelism",
    states: "Mixed precision and optimizer states", recompute: "Recomputation", attention: "Fused attention",
    microBatch: "Micro-batches and accumulation", offload: "Offload", lora: "LoRA and QLoRA",
    reserved: "Allocated and reserved memory", cache: "KV cache", mfu: "MFU and HFU",
};

/** What explains a term or a pointer of an answer. @type {Record<string, string>} */
const OF_TERM = {
    parameters: "states", gradients: "states", master_weights: "states", optimizer: "states", adapters: "lora",
    activations: "recompute", recompute: "recompute", gathered_parameters: "fsdp", communication_buffers: "ddp",
    fragmentation: "reserved", context: "reserved", kv_cache: "cache", bubble: "pipeline",
    pipeline_communication: "pipeline", tensor_communication: "tensor", context_communication: "context",
    expert_communication: "expert", data_communication: "ddp",
    "/time/bubble_ratio": "pipeline", "/throughput/mfu_full": "mfu", "/throughput/mfu_causal": "mfu",
    "/throughput/hfu": "mfu", "/memory/peak_allocated_bytes": "reserved", "/memory/peak_reserved_bytes": "reserved",
    "/memory/device_total_bytes": "reserved",
};

/** Controls that are explained under another name than their own. @type {Record<string, string>} */
const OF_CONTROL = { precision: "states", virtualPipeline: "pipeline", trained: "lora" };

/** @param {string} id */
export function hrefOf(id) {
    return `?page=concepts&p.term=${id}`;
}

/** A plain click stays on the page, any other does what the browser does. @param {() => void} go */
export function stay(go) {
    return (/** @type {MouseEvent} */ event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go();
    };
}

/** @param {{of: string, onGo: () => void}} props */
export function Read({ of, onGo }) {
    const id = OF_TERM[of];
    if (id === undefined) return null;
    const go = () => {
        onGo();
        openPage("concepts", { term: id });
    };
    return html`<p class="source"><a href=${hrefOf(id)} onClick=${stay(go)}>Read about ${CONCEPTS[id]}</a></p>`;
}

/**
 * The label of a control, a link where there is a concept of it.
 * @param {{of: string, text: string, help?: string}} props  help: what the label says to a pointer already
 */
export function ReadLabel({ of, text, help }) {
    const id = OF_CONTROL[of] ?? of;
    if (!(id in CONCEPTS)) return text;
    return html`<a class="read" href=${hrefOf(id)} title=${help ? null : `Read about ${CONCEPTS[id]}`}
        onClick=${stay(() => openPage("concepts", { term: id }))}>${text}</a>`;
}
