/**
 * Every view but the planner's own, and what the planner shows after the first screen, by the names that Part and the
 * address know: one file, because small ones pack worse by a tenth; in the order of these that was found to pack best.
 */
/* Nothing of it is used here: it lays the whole first screen in one file, which two would outweigh by 1.7 kB. */
import "./start.js";
export { write } from "../export/write.js";
export { Traffic as traffic } from "../planner/traffic/view.js";
export { Step as step } from "../step/view.js";
export { Inventories as inventories } from "../inventories/view.js";
export { IntakeCard as intake } from "../planner/intake/card.js";
export { WhatIf as whatIf } from "../planner/what-if/shown.js";
export { CopyAs as copyAs } from "../launch/view.js";
export { MeasuredRun as measured } from "../planner/measured/view.js";
export { rulesOfViews } from "./view-rules.js";
export { Search as search } from "../search/view.js";
export { Compare as compare } from "../compare/view.js";
export { Models as models } from "../models/view.js";
export { Concepts as concepts } from "../concepts/view.js";
export { Keys as keys } from "./keys.js";
