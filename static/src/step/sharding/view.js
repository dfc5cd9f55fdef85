/** The sharding map: a cell for each device, the groups and tensors of the chosen one, all in words too. */
import { signal } from "@preact/signals";
import { html } from "../../html.js";
import { at_s, axis, AXES, node, rank } from "../../state/look.js";
import { placesData } from "../exported.js";
import { holders, places } from "../state.js";
import { estimate } from "../bytes.js";
import { requestText } from "../../state/store.js";
import { storedSize } from "../../state/prefs.js";
import { exact, scaled, seconds } from "../../units.js";
import { many, wordsOf } from "../../words.js";
import { Swatch } from "../../widgets/charts.js";
import { Chips } from "../../widgets/chips.js";
import { Fold } from "../../widgets/fold.js";
import { Export } from "../../widgets/export.js";
import { Panel } from "../../widgets/panel.js";
import { Plain } from "../../widgets/plain.js";
import { Problem } from "../../widgets/problem.js";
import { Help, titled } from "../../widgets/words.js";
import { Areas } from "./areas.js";
import { MOST_TONES } from "./cells.js";
import { Moving } from "./moving.js";
import { CellsPlot } from "./plot.js";
import { axisFace, axisShown, chosen, doing, fillWords, groups, lit, nodeShown, pointedGroup, ranks, sizes } from "./shown.js";
import { Tensors } from "./tensors.js";
import { kindLook, names } from "../timeline/kinds.js";
import { coordinateWords, doingWords } from "./words.js";

/** Axes that are none of the plan. @type {Record<string, string>} */
const AXIS_WORDS = { activity: "at the cursor", fill: "fill, %" };
const PAGE_ROWS = 64;

function AxisChoice() {
    const offered = AXES.filter((name) => name === "activity" || name === "fill" || sizes.value.has(name));
    return html`
        <div class="row-control by">
            <span class="muted">Colour by</span>
            <${Chips} label="Colour by" small name="map-axis" now=${axisShown.value}
                items=${offered.map((name) => [name, AXIS_WORDS[name] ?? name])} set=${(name) => { axis.value = name; }} />
        </div>`;
}

/** Of the activities only those of this moment: the timeline above has all. */
function Legend() {
    const by = axisShown.value;
    const size = sizes.value.get(by);
    if (by === "activity") {
        const now = [...new Set(doing.value.values())].filter((kind) => kind !== "").map(kindLook);
        return html`
            <ul class="key" aria-label="What devices do at the cursor">${now.map((look) => html`
                <li key=${look.label}><${Swatch} ...${look} /><span><b>${look.letter}</b> ${look.label}</span></li>`)}
                <li>empty: idle, at ${seconds(at_s.value)}</li></ul>`;
    }
    if (by === "fill") {
        return html`<p class="key">At ${seconds(at_s.value)}: <${Help} of="fill" /></p>`;
    }
    if (size > MOST_TONES) return html`<p class="key">${by} rank 0 is the faintest, ${size - 1} the strongest</p>`;
    return html`
        <ul class="key" aria-label="Ranks of the axis">${Array.from({ length: size }, (_, value) => html`
            <li key=${value}><${Swatch} ...${axisFace(value, size)} />${by} ${value}</li>`)}</ul>`;
}

function Readout() {
    const place = chosen();
    const { all, same, bytes } = lit.value;
    const gone = [...(rank.value >= 0 ? [`rank ${rank.value}`] : []), ...(node.value >= 0 && nodeShown.value < 0 ? [`node ${node.value}`] : [])];
    const each = [...new Set(bytes.values())];
    const shards = bytes.size > 0 ? ` ${holders.value.name} is held by ${many(all.length, "device")}, ${exact(same.size)} with this very slice: ${
        each.slice(0, 3).map(storedSize).join(", ")} each.` : "";
    return html`
        <p class="readout" id="map-readout" role="status" data-testid="map-readout">
            ${place === null ? html`${gone.length > 0 ? `This plan has no ${gone.join(" and no ")}. ` : ""}<span class="hand"><${Help} of="devices" /></span>`
                : `Rank ${place.rank}: node ${place.node}, device ${place.local_rank}; ${coordinateWords(place)}.${shards}`}</p>`;
}

/** From the cluster to a node, from the node to a device: where the reader is. */
function Levels() {
    const place = chosen();
    const shownNode = nodeShown.value;
    const nodeOf = place?.node ?? shownNode;
    const all = () => { node.value = -1; };
    return html`
        <nav class="levels" aria-label="Level of the map"><ol>
            <li><button type="button" class="link" aria-current=${shownNode < 0 ? "true" : undefined} onClick=${all}>cluster</button></li>
            ${nodeOf < 0 ? null : html`<li><button type="button" class="link" aria-current=${shownNode === nodeOf ? "true" : undefined}
                onClick=${() => { node.value = nodeOf; }}>node ${nodeOf}</button></li>`}
            ${place === null ? null : html`<li>rank ${place.rank}</li>`}
        </ol></nav>`;
}

/** What the ranks of a group say to each other in a step. @param {string} kind */
function collectivesOf(kind) {
    return (estimate.value?.communication ?? []).filter(({ group }) => group === kind).map(({ collective, bytes_per_step: bytes, level }) =>
        `${wordsOf(collective)} ${scaled(bytes, "B")} over ${wordsOf(level)}`).join("; ") || "–";
}

/** The groups of the chosen device; the one under the pointer or the focus is lit on the map. */
function Groups() {
    if (chosen() === null || groups.value.length === 0) return null;
    /** @param {string} kind */
    const point = (kind) => () => { pointedGroup.value = kind; };
    return html`
        <${Plain} tight label="Groups of the chosen device" testid="groups"
            columns=${["Group", "#Devices", "#Groups alike", "Slowest link", "~Collectives of a step"]}
            rows=${groups.value.map(({ kind, size, count, level = "–" }) => [
                html`<button type="button" class="link" onMouseEnter=${point(kind)} onMouseLeave=${point("")} onFocus=${point(kind)}
                    onBlur=${point("")}>${wordsOf(kind)}</button>`, exact(size), exact(count), wordsOf(level), collectivesOf(kind)])} />`;
}

const firstRow = signal(0);

/** A page of devices, from a rank on. @param {{first: number}} props */
function DeviceRows({ first }) {
    const axes = [...sizes.value.keys()];
    return html`
        <${Plain} tight label=${names.says.devices}
            columns=${["Rank", "#Node", "#Device", ...axes.map((name) => `#${titled("names", name)}`), "#Fill", "At the cursor"]}
            rows=${ranks.value.slice(first, first + PAGE_ROWS).map((place) => [
                html`<button type="button" class="link" onClick=${() => { rank.value = place.rank; }}>rank ${place.rank}</button>`,
                place.node, place.local_rank, ...axes.map((name) => place.coordinates[name]),
                fillWords(place) || "–", doingWords(place.coordinates.pipeline)])} />`;
}

/** The map in words, a page of devices at a time. */
function Devices() {
    const count = ranks.value.length;
    const first = firstRow.value < count ? firstRow.value : 0;
    /** @param {number} by */
    const turn = (by) => { firstRow.value = Math.max(0, Math.min(first + by, count - 1)); };
    return html`
        <${Fold} title="Devices" count=${exact(count)} testid="devices">${() => html`
            ${count > PAGE_ROWS ? html`
                <p class="more"><button type="button" disabled=${first === 0} onClick=${() => turn(-PAGE_ROWS)}>Before</button>
                    <button type="button" disabled=${first + PAGE_ROWS >= count} onClick=${() => turn(PAGE_ROWS)}>Next</button>
                    <span class="muted">ranks ${first} to ${Math.min(first + PAGE_ROWS, count) - 1}</span></p>` : null}
            <${DeviceRows} first=${first} />`}
        <//>`;
}

export function ShardingMap() {
    const { phase, problem, answer, of } = places.value;
    const stale = phase !== "problem" && (phase === "loading" || of !== requestText.value);
    const nodes = new Set(ranks.value.map((place) => place.node)).size;
    return html`
        <${Panel} id="sharding" title="Sharding map" data-phase=${stale ? "loading" : phase} head=${answer && html`
            <p class="key">${many(ranks.value.length, "device")} on ${many(nodes, "node")}</p>
            <${Export} name="sharding" title="Sharding map" data=${placesData} />`}>
            ${problem ? html`<${Problem} problem=${problem} />` : answer === null ? html`<p class="muted">Placing the ranks…</p>` : html`
                <div class="answer" data-phase=${stale ? "loading" : "done"}>
                    <div class="map-head"><${AxisChoice} /><${Legend} /></div>
                    <${Levels} /><${CellsPlot} /><${Readout} /><${Moving} />
                    <${Groups} /><${Areas} key=${chosen() === null} /><${Tensors} />
                    <div class="folds"><${Devices} /></div>
                </div>`}
        <//>`;
}
