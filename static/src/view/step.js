/** The second view of the answer, loaded when it is first opened: the timeline and the sharding map. */
import { useEffect } from "preact/hooks";
import { html } from "../html.js";
import { start } from "../state/step.js";
import { ShardingMap } from "./sharding-map.js";
import { Timeline } from "./timeline.js";

export function Step() {
    useEffect(start, []);
    return html`<div class="step"><${Timeline} /><${ShardingMap} /></div>`;
}
