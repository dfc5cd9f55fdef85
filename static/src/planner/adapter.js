/**
 * What is trained: all weights, or adapters beside frozen ones. A plan keeps both members of the request that say so among
 * its further settings: most plans have neither.
 */
import { html } from "../html.js";
import { withExtra, withoutExtra } from "../state/plan.js";
import { model, plan, setPlan } from "../state/store.js";
import { Chips } from "../widgets/chips.js";
import { Row } from "../widgets/field.js";

const KIND = "/workload/kind";
const ADAPTER = "/workload/adapter";

/** Members of an adapter that stand in these controls. */
const SHOWN = ["method", "rank", "base", "targets"];

/** What the service takes where a request names none. */
const RANK = 16;
const RANKS = [4, 8, 16, 32, 64, 128, 256];

/** @returns {{kind?: string, adapter?: any}} */
const trained = () => ({ kind: "pretraining", ...plan.value.extra?.workload });

/** Whether a member of the request stands here, and not among those without a control. @param {string} pointer */
export function isTrained(pointer) {
    const { adapter } = trained();
    return pointer === KIND ? ["pretraining", "finetuning"].includes(trained().kind) : pointer === ADAPTER && wayOf(adapter) !== "" && Object.keys(adapter).every((name) => SHOWN.includes(name));
}

/** @param {any} adapter @returns {string} "" for one of another kind */
const wayOf = ({ method = "lora", base = "bf16" }) => (method !== "lora" ? "" : base === "bf16" ? "lora" : base === "nf4" ? "qlora" : "");

/** @param {any} adapter  members to change, null for what goes without saying */
const adapt = (adapter) => setPlan(withExtra(plan.value, { workload: { kind: "finetuning", adapter } }));

/** @param {string} way */
function train(way) {
    if (way === "lora" || way === "qlora") return adapt({ method: "lora", rank: trained().adapter?.rank ?? RANK, base: way === "qlora" ? "nf4" : null });
    const whole = withoutExtra(withoutExtra(plan.value, ADAPTER), KIND);
    return setPlan(way === "finetuning" ? withExtra(whole, { workload: { kind: way } }) : whole);
}

/** The module that a matrix stands in, as a pattern of the service; one that stands alone is its own. @param {{name: string}} tensor */
const moduleOf = ({ name }) => name.replace(/\.weight$/, "").replace(/\.[^.]*$/, ".*");

/** Whether a pattern is of that matrix too: it begins at any dot. @param {string} pattern @param {{name: string}} tensor */
const takes = (pattern, { name }) => `.${name}`.includes(`.${pattern.replace("*", "")}`);

/** Linear layers by their role, as patterns of the service: only such as the model has, and such as take no others. @returns {[string, string][]} */
function targetsOf() {
    const matrices = (model.value.info?.layers ?? []).flatMap((run) => run.tensors).filter(({ shape }) => shape.length === 2);
    return [["attention", "attention"], ["mlp", "MLP"]].flatMap(([of, words]) => {
        const patterns = [...new Set(matrices.filter(({ role }) => role === of).map(moduleOf))];
        const others = matrices.filter(({ role }) => role !== of);
        return patterns.length > 0 && !patterns.some((pattern) => others.some((other) => takes(pattern, other))) ? [/** @type {[string, string]} */ ([String(patterns), words])] : [];
    });
}

/** @param {{name: string, label: string, items: [string, string][], now: string, other?: string, set: (value: string) => void}} props  other: a value that is none of the items, in words */
function Choose({ name, label, items, now, other = now, set }) {
    const all = items.some(([value]) => value === now) ? items : [...items, /** @type {[string, string]} */ ([now, other])];
    return html`<${Row} name=${name} label=${label} group><${Chips} name=${name} label=${label} items=${all} now=${now} set=${set} /><//>`;
}

export function Trained() {
    const { kind, adapter } = trained();
    const way = adapter ? wayOf(adapter) : kind;
    const { targets = [], rank = RANK } = adapter ?? {};
    return html`
        <${Choose} name="trained" label="Training" now=${way} other=${adapter ? "other adapters" : kind} set=${train}
            items=${[["pretraining", "from scratch"], ["finetuning", "all weights"], ["lora", "LoRA"], ["qlora", "QLoRA"]]} />
        ${adapter && way ? html`
            <${Choose} name="rank" label="Rank" items=${RANKS.map((size) => [String(size), String(size)])} now=${String(rank)} set=${(size) => adapt({ rank: Number(size) })} />
            <${Choose} name="targets" label="Adapted" items=${[["", "all linear"], ...targetsOf()]} now=${String(targets)} set=${(part) => adapt({ targets: part === "" ? null : part.includes(",") ? part.split(",") : part })} />`
            : null}`;
}
