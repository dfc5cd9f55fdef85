/** A miniature of the KV cache: bytes of each token, for models side by side. */
import { html } from "../html.js";
import { storedSize } from "../state/prefs.js";
import { exact } from "../units.js";
import { share } from "../widgets/charts.js";
import { Plain } from "../widgets/plain.js";
import { CacheNum } from "../models/figures.js";

/** @param {{list: (Omit<import("./state.js").Shown, "estimate"> & {estimate: Api.Model})[]}} props */
export function Cache({ list }) {
    const caches = list.map(({ estimate }) => estimate.kv_cache);
    const most = Math.max(1, ...caches.map(({ bytes_per_token: each }) => each));
    return html`
        <div class="falls"><${Plain} tight label="KV cache of models, bytes for each token" more=${(row) => ({ "data-bytes": caches[row].bytes_per_token })}
            columns=${["Model", html`<span class="visually-hidden">Drawn</span>`, "#per token", "#bytes", "#per sequence"]}
            rows=${list.map(({ label, estimate: info }, at) => {
                const { bytes_per_token: each, bytes_per_sequence: whole } = caches[at];
                return [label, html`
                    <td class="drawn"><svg class="fall" width="100%" height="20" aria-hidden="true">
                        <rect class="bar tone-sky" x="0" y="3" height="14" width=${share(each / most)} /></svg></td>`,
                html`<${CacheNum} info=${info} text=${storedSize(each)} />`, exact(each), whole === 0 ? "–" : storedSize(whole)];
            })} /></div>`;
}
