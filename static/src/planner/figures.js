/**
 * The headline figures, each with its interval and with what the last change did to it. None has a digit that the interval
 * does not bear out: what is left of the difference of two plans is the same error, so differences keep theirs.
 */
import { html } from "../html.js";
import { cost, rate, units } from "../state/prefs.js";
import { answer, estimated } from "../state/store.js";
import { change, count, digits, LEAST_CHANGE, percent, scaled, seconds } from "../units.js";
import { Num } from "../widgets/explain.js";
import { valueAt } from "../widgets/values.js";
import { Figure } from "./figure.js";
import { lasting, offBy, sureBy, sureSize } from "./spread.js";
import { known } from "../widgets/words.js";

const WATT_HOUR_J = 3600;

/** How far the figures of the answer may be off. */
const off = () => offBy(estimated.value);

/** @type {import("../units.js").Digits} */
const sure = (value) => sureBy(off())(value);
/** @param {number} value */
const sureAmount = (value) => scaled(value, "", sure);
/** @param {number} value_s */
const sureTime = (value_s) => seconds(value_s, sure);
/** @param {number} ratio */
const sureShare = (ratio) => percent(ratio, sure);

/** A figure now and before the last change; null where it did not move. @param {string} at */
function moved(at) {
    const { estimate, previous } = answer.value;
    const [now, before] = [estimate, previous].map((of) => valueAt(of, at));
    return before > 0 && Math.abs(now / before - 1) >= LEAST_CHANGE ? [now, before] : null;
}

/** @param {{at: string, better: "more" | "less"}} props */
function Delta({ at, better }) {
    const both = moved(at);
    if (!both) return null;
    const [now, before] = both;
    const improved = now < before === (better === "less");
    return html`
        <span class="delta ${improved ? "good" : "bad"}" title=${known("help", "delta")}>
            ${change(now, before)}<span class="visually-hidden"> ${improved ? "better" : "worse"} than before</span>
        </span>`;
}

/** The interval, and what its two ends are: a reader would take them for a confidence interval. @param {{of: "step_s" | "peak_reserved_bytes", write: (value: number) => string}} props */
function Range({ of, write }) {
    const ends = estimated.value.interval?.[of] ?? [];
    const [low = "", high = ""] = ends.map(write);
    /* Both ends in one unit: that of the upper. */
    const unit = high.replace(/^\S+/, "");
    const first = low.endsWith(unit) ? low : sure((ends[0] / ends[1]) * parseFloat(high)) + unit;
    return html`<abbr title=${known("help", "range")}>range</abbr> ${
        `${first}–${high}`.replaceAll(" ", "\u00a0").replace("–", " – ")}`;
}

/** The label of a figure that is written in one of two ways: it turns to the other. @param {{way: {toggle: () => void}, now: string, other: string}} props */
function Way({ way, now, other }) {
    return html`<button type="button" class="way" aria-label="${now}. Switch to ${other.toLowerCase()}" title="Switch to ${other.toLowerCase()}"
        onClick=${way.toggle}>${now} <span aria-hidden="true">⇄</span></button>`;
}

/** @param {{testid: string, label: any, note: any, delta?: any, children?: any}} props  children: the figure, where there is one */
function Tile({ testid, label, note, delta, children }) {
    return html`
        <div class="tile" data-testid=${testid}>
            <dt>${label}${delta}</dt>
            <dd class="tile-value ${children ? "" : "muted"}">${children ?? "–"}</dd>
            <dd class="tile-note">${note}</dd>
        </div>`;
}

/**
 * @param {{testid: string, label: any, title?: string, at: string, write: (value: number) => string, note: any,
 *          better?: "more" | "less"}} props  better: the change since the last plan is shown, and judged so
 */
function Headline({ testid, label, title = label, at, write, note, better }) {
    return html`
        <${Tile} testid=${testid} label=${label} note=${note} delta=${better && html`<${Delta} at=${at} better=${better} />`}>
            <${Figure} at=${at} title=${title} write=${write} inline /><//>`;
}

/** What comes with a run over weeks. */
function Run() {
    return html`
        for ${count(estimated.value.resolved.workload.tokens)} tokens, goodput <${Figure} at="/goodput_ratio" write=${percent}
            title=${known("help", "goodput")} />,
        ${" "}<${Figure} at="/energy_j" title="Energy with nodes and facility" write=${(energy_j) => scaled(energy_j / WATT_HOUR_J, "Wh", sure)} />`;
}

function Rate() {
    const samples = rate.now() === "samples";
    const [now, other] = samples ? ["Samples", "Tokens"] : ["Tokens", "Samples"];
    return html`
        <${Headline} testid="tokens" label=${html`<${Way} way=${rate} now="${now}/s" other="${other}/s" />`} title="${now} per second"
                     at="/throughput/${now.toLowerCase()}_per_s" write=${sureAmount} better="more"
                     note=${html`<${Figure} title="Tokens per second and device" at="/throughput/tokens_per_s_per_accelerator" write=${sure} />
                         ${samples ? " tokens" : ""} per device`} />`;
}

const NEEDS_TOKENS = "set the training tokens";

/** Of a listed price; one of the reader's own has the reader's. @param {Api.Estimate} estimate */
const currencyOf = ({ assumptions = [] }) =>
    / ([A-Z]{3}) per node/.exec(assumptions.find(({ code }) => code === "price_assumed")?.message)?.[1] ?? "in your currency";

/** Only where there is a price. */
function Cost() {
    const estimate = estimated.value;
    const { nodes, price_per_node_hour } = estimate.resolved.cluster ?? {};
    if (typeof price_per_node_hour !== "number") return null;
    const hourly = cost.now() === "hour";
    const [now, other] = hourly ? ["Cost per hour", "Cost of the run"] : ["Cost of the run", "Cost per hour"];
    const label = html`<${Way} way=${cost} now=${now} other=${other} />`;
    const note = html`<${Num} title="Price of a node and hour" text=${digits(price_per_node_hour)} value=${price_per_node_hour} /> per node and hour, ${currencyOf(estimate)}`;
    if (!hourly) {
        return typeof estimate.cost === "number"
            ? html`<${Headline} testid="cost" label=${label} title=${now} at="/cost" write=${sureAmount} better="less" note=${note} />`
            : html`<${Tile} testid="cost" label=${label} note=${NEEDS_TOKENS} />`;
    }
    const value = nodes * price_per_node_hour;
    const about = { formula: "nodes x price_per_node_hour", inputs: { nodes, price_per_node_hour }, source: known("help", "price") };
    return html`<${Tile} testid="cost" label=${label} note=${note}><${Num} title=${now} text=${scaled(value)} value=${value} about=${about} inline /><//>`;
}

export function Figures() {
    const size = sureSize(estimated.value, units.value);
    return html`
        <dl class="tiles">
            <${Headline} testid="step" label="Step time" at="/time/step_s" write=${sureTime} better="less"
                         note=${html`<${Range} of="step_s" write=${sureTime} />${moved("/time/step_s") && html`<br />${known("help", "delta")}`}`} />
            <${Rate} />
            <${Headline} testid="mfu" label="MFU" title="Model FLOPs utilisation" at="/throughput/mfu_full" write=${sureShare} better="more"
                         note=${html`causal <${Figure} title="MFU counting causal attention" at="/throughput/mfu_causal" write=${sureShare} />,
                             ${" "}HFU <${Figure} title="Hardware FLOPs utilisation" at="/throughput/hfu" write=${sureShare} />`} />
            <${Headline} testid="peak" label="Peak reserved" title="Peak reserved memory" at="/memory/peak_reserved_bytes" write=${(bytes) => `${size(bytes)} ${units.value}`} better="less"
                         note=${html`<${Range} of="peak_reserved_bytes" write=${size} />, <${Figure} at="/memory/device_total_bytes"
                             title=${known("help", "outside_allocator")} write=${size} /> with context`} />
            <${Headline} testid="bubble" label="Pipeline idle" at="/time/bubble_ratio" write=${sureShare}
                         note=${html`bubble and uneven stages; exposed comm. <${Figure} title="Communication that nothing hides" at="/time/exposed_communication_s" write=${sureTime} />`} />
            ${estimated.value.time_to_train_s > 0
                ? html`<${Headline} testid="train" label="Time to train" at="/time_to_train_s" write=${(value_s) => lasting(value_s, off())} better="less" note=${html`<${Run} />`} />`
                : html`<${Tile} testid="train" label="Time to train" note=${NEEDS_TOKENS} />`}
            <${Cost} />
        </dl>`;
}
