/** What the planner shows after the first screen: one file, because small ones compress badly. */
export { CopyAs } from "../launch/view.js";
export { Palette } from "../shell/palette.js";
export { IntakeCard } from "./intake/card.js";
export { MeasuredRun } from "./measured/view.js";
export { Traffic } from "./traffic/view.js";
export { WhatIf } from "./what-if/shown.js";
