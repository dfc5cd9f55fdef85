/** Every view but the planner's own, in one file: apart from each other they pack worse by a tenth. */
export { Compare } from "../compare/view.js";
export { Concepts } from "../concepts/view.js";
export { Inventories } from "../inventories/view.js";
export { Models } from "../models/view.js";
export { Search } from "../search/view.js";
export { Step } from "../step/view.js";
export * from "../planner/parts.js";
export { write } from "../export/write.js";
