/** Every view but the planner's own, in one file: apart from each other they pack worse by a tenth. */
/* Nothing of it is used here: it lays the whole first screen in one file, which two would outweigh by 1.7 kB. */
import "./app.js";
export { Compare } from "../compare/view.js";
export { Concepts } from "../concepts/view.js";
export { Inventories } from "../inventories/view.js";
export { Models } from "../models/view.js";
export { Search } from "../search/view.js";
export { Step } from "../step/view.js";
export * from "../planner/parts.js";
export { write } from "../export/write.js";
