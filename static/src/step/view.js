/** The second view of the answer, loaded when it is first opened: the timeline and the sharding map. */
import { html } from "../html.js";
import { MemoryNow } from "./memory.js";
import { ShardingMap } from "./sharding/view.js";
import { Timeline } from "./timeline/view.js";
import { worded } from "../widgets/words.js";

export const Step = worded(() => html`<div class="step"><${Timeline} /><${MemoryNow} /><${ShardingMap} /></div>`);
