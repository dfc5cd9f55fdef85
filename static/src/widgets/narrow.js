/** Whether the page is one column, as its style has it: a phone, or a desk at twice the size. */
import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 900px)");

export const narrow = signal(query.matches);

query.addEventListener("change", () => { narrow.value = query.matches; });
