/** What if: one change away from the plan, with what it does, before it is made. Comes with the first answer. */
import { later } from "../../widgets/later.js";

export const WhatIf = later(async () => (await import("../../shell/rest.js")).WhatIf);
