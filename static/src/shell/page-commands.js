/** What can be done from everywhere: the commands of the header, every page, every view, every setting. */
import { EXAMPLES } from "../state/examples.js";
import { FIELDS } from "../state/fields.js";
import { page } from "../state/look.js";
import { emptyPlan, hasModel } from "../state/plan.js";
import { explainAll, toggleTheme, toggleUnits } from "../state/prefs.js";
import { openPage, ownPin, plan, resetParallelism, setPlan, startExample, togglePin } from "../state/store.js";
import { isShown, reach } from "../widgets/reach.js";
import { openCopyAs } from "./dialogs.js";
import { copyCurl, copyLink } from "./share.js";
import { goToTab, goToTuning, PAGES, VIEWS } from "./views.js";

const planned = () => hasModel(plan.value);
const planning = () => page.value === "planner";

/** @returns {import("./commands.js").Command[]} */
export function pageCommands() {
    /* One control each: the example and the revision stand in the field of the model. */
    const settings = FIELDS.filter(({ key }) => key !== "example" && key !== "revision");
    return [
        { title: "Explain every number", key: "e", also: "formula source", run: () => { explainAll.value = !explainAll.value; } },
        { title: "Go to the model", key: "/", also: "hub search", ready: () => isShown("hub"), run: () => reach("hub") },
        { title: "Switch GiB and GB", key: "u", also: "units", run: toggleUnits },
        { title: "Switch light and dark", key: "t", also: "theme", run: toggleTheme },
        { title: "Copy as curl", key: "c", also: "command request", ready: planned, run: () => void copyCurl() },
        { title: "Copy as flags of a launcher", key: "x", also: "export megatron deepspeed torchtitan fsdp accelerate slurm json",
            ready: planned, run: openCopyAs },
        { title: "Copy the link", key: "l", also: "share url", run: () => void copyLink() },
        { title: "Pin the plan, to compare it", key: "p", also: "compare", ready: () => ownPin.value !== "", run: () => togglePin(ownPin.value) },
        { title: "Reset the parallelism", ready: () => planned() && planning(), run: resetParallelism },
        { title: "Start over without a model", also: "new clear examples", ready: planning, run: () => setPlan(emptyPlan()) },
        ...[...EXAMPLES].map(([id, { title }]) => ({ title: `Start from ${title}`, also: "example", ready: planning, run: () => startExample(id) })),
        ...PAGES.map(([name, words]) => ({ title: `Open the page: ${words}`, ready: () => page.value !== name, run: () => openPage(name) })),
        ...VIEWS.map(([name, words]) => ({ title: `Open the view: ${words}`, also: name === "summary" ? "what if waterfall" : "", ready: () => planned() && planning(), run: () => goToTab(name) })),
        { title: "Compare ways of fine-tuning", also: "lora qlora adapters", ready: () => planned() && planning(), run: goToTuning },
        ...settings.filter(({ key }) => key !== "hub").map(({ key, label }) => ({
            title: `Set: ${label}`, also: key, ready: () => isShown(key), run: () => reach(key),
        })),
    ];
}
