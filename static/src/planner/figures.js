/** The headline figures, each with its interval and with what the last change did to it. */
import { html } from "../html.js";
import { cost, rate, units } from "../state/prefs.js";
import { answer } from "../state/store.js";
import { change, count, digits, gigabytes, percent, scaled, seconds } from "../units.js";
import { Num } from "../widgets/explain.js";

/** Differences below this are noise to a reader. */
const LEAST_CHANGE = 0.0005;
const WATT_HOUR_J = 3600;

/** @param {{now: number, before: number | undefined, lessIsBetter?: boolean}} props */
function Delta({ now, before, lessIsBetter = false }) {
    if (typeof before !== "number" || !(before > 0) || Math.abs(now / before - 1) < LEAST_CHANGE) return null;
    const better = now < before === lessIsBetter;
    return html`
        <span class="delta ${better ? "good" : "bad"}" title="Against the plan before the last change">
            ${change(now, before)}<span class="visually-hidden"> ${better ? "better" : "worse"} than before</span>
        </span>`;
}

/** @param {[number, number] | undefined} interval @param {(value: number) => string} write */
function span(interval, write) {
    return interval ? `${write(interval[0])} – ${write(interval[1])}` : "";
}

/** What the two ends are, because a reader would take them for a confidence interval. */
function RangeWord() {
    return html`<abbr title="Spanned by the fields left open and by the range of sustained clocks. It is not a confidence interval.">range</abbr>`;
}

/** The label of a figure that is written in one of two ways: it turns to the other. @param {{way: {toggle: () => void}, now: string, other: string}} props */
function Way({ way, now, other }) {
    return html`<button type="button" class="way" aria-label="${now}. Switch to ${other.toLowerCase()}" title="Switch to ${other.toLowerCase()}"
        onClick=${way.toggle}>${now} <span aria-hidden="true">⇄</span></button>`;
}

/**
 * @param {{label: any, title: string, text: string, value: number, unit?: string, pointer?: string,
 *          about?: any, note?: any, delta?: any, testid: string}} props
 */
function Tile({ label, title, text, value, unit, pointer, about, note, delta, testid }) {
    return html`
        <div class="tile" data-testid=${testid}>
            <dt>${label}${delta}</dt>
            <dd class="tile-value"><${Num} title=${title} text=${text} value=${value} unit=${unit} pointer=${pointer} about=${about} inline /></dd>
            <dd class="tile-note">${note}</dd>
        </div>`;
}

/** What comes with a run over weeks. @param {{estimate: any}} props */
function Run({ estimate }) {
    const { tokens } = estimate.resolved.workload;
    return html`
        for ${count(tokens)} tokens, goodput <${Num} title="Share of the time that failures and checkpoints leave"
            text=${percent(estimate.goodput_ratio)} value=${estimate.goodput_ratio} pointer="/goodput_ratio" />,
        <${Num} title="Energy with nodes and facility" text=${scaled(estimate.energy_j / WATT_HOUR_J, "Wh")}
            value=${estimate.energy_j} unit="J" pointer="/energy_j" />`;
}

/** @param {{throughput: any, before: any}} props  before: of the estimate before */
function Rate({ throughput, before }) {
    const samples = rate.now() === "samples";
    const name = samples ? "samples_per_s" : "tokens_per_s";
    return html`
        <${Tile} testid="tokens" label=${html`<${Way} way=${rate} now=${samples ? "Samples/s" : "Tokens/s"} other=${samples ? "Tokens/s" : "Samples/s"} />`}
                 title=${samples ? "Samples per second" : "Tokens per second"} text=${scaled(throughput[name])} value=${throughput[name]} pointer="/throughput/${name}"
                 note=${html`<${Num} title="Tokens per second and device" text=${digits(throughput.tokens_per_s_per_accelerator)}
                     value=${throughput.tokens_per_s_per_accelerator} pointer="/throughput/tokens_per_s_per_accelerator" /> ${samples ? "tokens " : ""}per device`}
                 delta=${html`<${Delta} now=${throughput[name]} before=${before?.[name]} />`} />`;
}

/** In the currency of the price; only where there is one. @param {{estimate: any, before: any}} props */
function Cost({ estimate, before }) {
    const { nodes, price_per_node_hour } = estimate.resolved.cluster ?? {};
    if (typeof price_per_node_hour !== "number") return null;
    const hourly = cost.now() === "hour";
    const [now, other] = hourly ? ["Cost per hour", "Cost of the run"] : ["Cost of the run", "Cost per hour"];
    const about = { formula: "nodes x price_per_node_hour", inputs: { nodes, price_per_node_hour }, source: "The price that this estimate counts with" };
    const label = html`<${Way} way=${cost} now=${now} other=${other} />`;
    if (!hourly && typeof estimate.cost !== "number") {
        return html`<div class="tile" data-testid="cost"><dt>${label}</dt><dd class="tile-value muted">–</dd><dd class="tile-note">set the training tokens</dd></div>`;
    }
    const value = hourly ? nodes * price_per_node_hour : estimate.cost;
    return html`
        <${Tile} testid="cost" label=${label} title=${now} text=${scaled(value)} value=${value} ...${hourly ? { about } : { pointer: "/cost" }}
                 note=${html`<${Num} title="Price of a node and hour" text=${digits(price_per_node_hour)} value=${price_per_node_hour} /> per node and hour`}
                 delta=${hourly ? null : html`<${Delta} now=${estimate.cost} before=${before?.cost} lessIsBetter />`} />`;
}

export function Figures() {
    const { estimate, previous } = answer.value;
    const { time, throughput, memory, interval } = estimate;
    const unit = units.value;
    const size = (bytes) => gigabytes(bytes, unit);
    const days = estimate.time_to_train_s;
    return html`
        <dl class="tiles">
            <${Tile} testid="step" label="Step time" title="Step time" text=${seconds(time.step_s)} value=${time.step_s} unit="s"
                     pointer="/time/step_s" note=${html`<${RangeWord} /> ${span(interval?.step_s, seconds)}`}
                     delta=${html`<${Delta} now=${time.step_s} before=${previous?.time.step_s} lessIsBetter />`} />
            <${Rate} throughput=${throughput} before=${previous?.throughput} />
            <${Tile} testid="mfu" label="MFU" title="Model FLOPs utilisation" text=${percent(throughput.mfu_full)}
                     value=${throughput.mfu_full} pointer="/throughput/mfu_full"
                     note=${html`causal <${Num} title="MFU counting causal attention" text=${percent(throughput.mfu_causal)}
                         value=${throughput.mfu_causal} pointer="/throughput/mfu_causal" />, HFU <${Num} title="Hardware FLOPs utilisation"
                         text=${percent(throughput.hfu)} value=${throughput.hfu} pointer="/throughput/hfu" />`}
                     delta=${html`<${Delta} now=${throughput.mfu_full} before=${previous?.throughput.mfu_full} />`} />
            <${Tile} testid="peak" label="Peak memory" title="Peak reserved memory" text=${`${size(memory.peak_reserved_bytes)} ${unit}`}
                     value=${memory.peak_reserved_bytes} unit="bytes" pointer="/memory/peak_reserved_bytes"
                     note=${html`<${RangeWord} /> ${span(interval?.peak_reserved_bytes, size)}`}
                     delta=${html`<${Delta} now=${memory.peak_reserved_bytes} before=${previous?.memory.peak_reserved_bytes} lessIsBetter />`} />
            <${Tile} testid="bubble" label="Pipeline idle" title="Idle share of the pipeline, uneven stages included" text=${percent(time.bubble_ratio)}
                     value=${time.bubble_ratio} pointer="/time/bubble_ratio"
                     note=${html`exposed comm. <${Num} title="Communication that nothing hides" text=${seconds(time.exposed_communication_s)}
                         value=${time.exposed_communication_s} unit="s" pointer="/time/exposed_communication_s" />`} />
            ${typeof days === "number" && days > 0 ? html`
                <${Tile} testid="train" label="Time to train" title="Time to train" text=${seconds(days)} value=${days} unit="s"
                         pointer="/time_to_train_s" note=${html`<${Run} estimate=${estimate} />`}
                         delta=${html`<${Delta} now=${days} before=${previous?.time_to_train_s} lessIsBetter />`} />` : html`
                <div class="tile"><dt>Time to train</dt><dd class="tile-value muted">–</dd><dd class="tile-note">set the training tokens</dd></div>`}
            <${Cost} estimate=${estimate} before=${previous} />
        </dl>`;
}
