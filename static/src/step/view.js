/** The second view of the answer, loaded when it is first opened: the timeline and the sharding map. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { start as startBeside } from "./beside.js";
import { MemoryNow } from "./memory.js";
import { ShardingMap } from "./sharding/view.js";
import { start as startPlan } from "./state.js";
import { start as startDetail } from "./timeline/detail.js";
import { Timeline } from "./timeline/view.js";

let started = false;

/** Once: what follows the plan goes on while another view is open. */
function start() {
    if (started) return;
    started = true;
    startPlan();
    startBeside();
    startDetail();
}

export function Step() {
    useEffect(start, []);
    return html`<div class="step"><${Timeline} /><${MemoryNow} /><${ShardingMap} /></div>`;
}
