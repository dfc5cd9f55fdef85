/** The workload and the cut: every control offers what is legal given all the others. */
import { html } from "../html.js";
import { extraMembers, withoutExtra } from "../state/plan.js";
import { units } from "../state/prefs.js";
import { answer, choices, lacksSequence, plan, setPlan } from "../state/store.js";
import { exact } from "../units.js";
import { isTrained, Trained } from "./adapter.js";
import { hasExperts, reasons } from "./single.js";
import { Choice, Count, Switch } from "../widgets/field.js";
import { Slider } from "../widgets/slider.js";
import { Help, known } from "../widgets/words.js";

const WORDS = {
    framework: { megatron: "Megatron", ddp: "DDP", fsdp1: "FSDP 1", fsdp2: "FSDP 2", deepspeed: "DeepSpeed", dp: "DP" },
    recompute: { op_sac: "by operator" },
    gradientSync: { each: "every micro-batch", last: "once a step" },
    attention: { unfused: "unfused", flash1: "Flash 1", flash2: "Flash 2", flash3: "Flash 3", cudnn: "cuDNN", efficient: "efficient" },
};

/** DDP keeps a whole replica on every device, so it goes with data parallelism alone. @type {[string, any, string][]} */
const DDP_NEEDS = [["tensor", 1, "Tensor 1"], ["pipeline", 1, "Pipeline 1"], ["virtualPipeline", 1, "Virtual pipeline 1"]];

function whyNotDdp() {
    const missing = DDP_NEEDS.filter(([key, value]) => plan.value[key] !== value).map(([, , words]) => words);
    return `${known("help", "ddp")} ${missing.length > 0 ? missing.join(", ") : "other settings"}.`;
}

const WORKLOAD_ATTENTION = ["unfused", "flash2", "flash3"];

/** The cut multiplied out: what each dimension takes and what is left for data. */
function Product() {
    const { estimate, problem } = answer.value;
    const indivisible = problem?.errors.some(({ pointer }) => pointer === "/parallelism") ?? false;
    const cut = estimate?.resolved?.parallelism ?? (indivisible ? plan.value : null);
    if (cut === null) return null;
    const parts = [["TP", cut.tensor], ["PP", cut.pipeline], ["CP", cut.context], ["DP", cut.data]]
        .filter(([name, size]) => typeof size === "number" && (size > 1 || name !== "CP"));
    const world = parts.reduce((product, [, size]) => product * size, 1);
    return html`
        <p class="product" data-testid="product">
            ${parts.map(([name, size], at) => html`${at > 0 ? " × " : ""}<b>${exact(size)}</b> <span class="muted">${name}</span>`)}
            ${" "}<span class="product-sum">= <b>${exact(world)}</b> ${indivisible
                ? html`<span class="bad">does not divide the cluster</span>` : html`<span class="muted">accelerators</span>`}</span>
        </p>`;
}

/** @param {string} pointer */
export const ofCluster = (pointer) => pointer.startsWith("/cluster/");

/**
 * Members of the request that have no control of their own: what a fix asks for, what files say of the cluster.
 * @param {{label: string, of: (pointer: string) => boolean}} props
 */
export function Extras({ label, of }) {
    const members = extraMembers(plan.value, units.value).filter(({ pointer }) => of(pointer));
    if (members.length === 0) return null;
    return html`
        <ul class="extras" aria-label=${label}>${members.map(({ pointer, text }) => html`
            <li key=${pointer}><code>${text}</code>
                <button type="button" class="icon" aria-label="Remove ${text}"
                        onClick=${() => setPlan(withoutExtra(plan.value, pointer))}>✕</button>
            </li>`)}
        </ul>`;
}

export function Workload() {
    return html`
        <section class="group" aria-labelledby="group-workload">
            <h2 id="group-workload">Workload</h2>
            <${Trained} />
            <${Choice} name="framework" fallback=${["megatron"]} words=${WORDS.framework} shown=${{ ddp: whyNotDdp() }} />
            <${Choice} name="software" fallback=${[]} />
            <${Count} name="sequenceLength" step="double" unit=${html`<span class="unit">tokens</span>`} />
            <${Count} name="globalBatch" step="double" unit=${html`<span class="unit">samples</span>`} />
            <${Choice} name="microBatch" fallback=${[1, 2, 4, 8]} />
            <${Choice} name="precision" fallback=${["bf16", "fp16", "fp32"]} />
            <${Choice} name="recompute" fallback=${["none", "selective", "full"]} words=${WORDS.recompute} />
            <${Choice} name="attention" fallback=${WORKLOAD_ATTENTION} words=${WORDS.attention} />
            <${Count} name="tokens" suffixes placeholder="such as 2T" unit=${html`<span class="unit">tokens</span>`} />
        </section>`;
}

export function Parallelism() {
    return html`
        <section class="group" aria-labelledby="group-parallelism">
            <h2 id="group-parallelism">Parallelism</h2>
            <${Slider} name="tensor" why=${reasons.value.get("tensor")} />
            <${Switch} name="sequence" legal=${choices.value.sequence ?? [false, true]} />
            <${Slider} name="pipeline" why=${reasons.value.get("pipeline")} />
            <${Slider} name="virtualPipeline" why=${reasons.value.get("virtualPipeline")} />
            <${Slider} name="context" why=${reasons.value.get("context")} />
            ${hasExperts() ? html`<${Slider} name="expert" why=${reasons.value.get("expert")} />` : null}
            ${choices.value.expert?.length > 1 && plan.value.expert === 1 && lacksSequence({ ...plan.value, expert: 2 }) ? html`<p class="hint muted"><${Help} of="with_sequence" /></p>` : null}
            <${Choice} name="zero" fallback=${[0, 1]} />
            <${Choice} name="gradientSync" fallback=${["each", "last"]} words=${WORDS.gradientSync} />
            <${Extras} label="Further settings" of=${(pointer) => !ofCluster(pointer) && !isTrained(pointer)} />
            <${Product} />
        </section>`;
}
