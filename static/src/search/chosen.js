/** What can be done with the plan that is chosen, and the way to those set aside. */
import { html } from "../html.js";
import { comparing } from "../state/look.js";
import { MOST_PINS, pins } from "../state/pins.js";
import { openTab } from "../state/store.js";
import { isWhole } from "./plans.js";
import { apply, askWhy, canPin, chosen, isPinnedRow, rowByKey, togglePin } from "./run.js";

function openComparison() {
    comparing.value = {};
    openTab("compare");
}

export function Chosen() {
    const row = rowByKey.value.get(chosen.value);
    const whole = row !== undefined && isWhole(row);
    const pinned = whole && isPinnedRow(row.key);
    return html`
        <div class="commands" role="group" aria-label="The chosen plan" data-testid="chosen">
            <button type="button" class="primary" disabled=${!whole} onClick=${() => apply(row.plan)}>Apply to the planner</button>
            <button type="button" aria-pressed=${pinned} disabled=${!pinned && !canPin(row)}
                onClick=${() => togglePin(row.key)}>Pin to compare</button>
            <button type="button" disabled=${!whole} onClick=${() => askWhy(row.key, row.plan)}>Why not this one?</button>
            <span class="muted">${pins.value.length} of ${MOST_PINS} pinned</span>
            <button type="button" class="link" disabled=${pins.value.length === 0} onClick=${openComparison}>Compare them</button>
        </div>`;
}
