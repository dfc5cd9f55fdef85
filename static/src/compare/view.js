/** The comparison, loaded when it is first opened: plans, strategies or ways of fine-tuning in columns. */
import { html } from "../html.js";
import { Chips } from "../widgets/chips.js";
import { worded } from "../widgets/words.js";
import { said, say } from "./columns.js";
import { Plans } from "./plans.js";
import { Strategies } from "./strategies.js";
import { Tuning } from "./tuning.js";

/** @type {[string, string, any][]} */
export const SUBJECTS = [["", "Plans", Plans], ["strategies", "Strategies", Strategies], ["finetuning", "Fine-tuning", Tuning]];

export const Compare = worded(() => {
    const [subject, , Shown] = SUBJECTS.find(([name]) => name === said("of")) ?? SUBJECTS[0];
    return html`
        <div class="step compare" data-testid="compare">
            <div role="radiogroup" aria-label="What to compare">
                <${Chips} name="compare-of" items=${SUBJECTS} now=${subject} set=${(name) => say({ of: name, base: "", sort: "" })} /></div>
            <${Shown} key=${subject} />
        </div>`;
});
