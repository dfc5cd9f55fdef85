/** A miniature of the KV cache: bytes of each token, for models side by side. */
import { html } from "../html.js";
import { exact, scaled } from "../units.js";
import { share } from "../widgets/charts.js";
import { Scroll } from "../widgets/scroll.js";
import { CacheNum } from "../models/figures.js";

/** @param {{list: import("./state.js").Shown[]}} props  estimate holds the model */
export function Cache({ list }) {
    const most = Math.max(1, ...list.map(({ estimate }) => estimate.kv_cache.bytes_per_token));
    return html`
        <${Scroll} label="KV cache by model">
            <table class="figures tight falls">
                <caption class="visually-hidden">KV cache of models, bytes for each token</caption>
                <thead><tr><th scope="col">Model</th><th scope="col" class="drawn"><span class="visually-hidden">Drawn</span></th>
                    <th scope="col" class="n">per token</th><th scope="col" class="n">bytes</th><th scope="col" class="n">per sequence</th></tr></thead>
                <tbody>${list.map(({ variant, estimate: info }) => html`
                    <tr key=${variant.label} data-bytes=${info.kv_cache.bytes_per_token}>
                        <th scope="row">${variant.label}</th>
                        <td class="drawn"><svg class="fall" width="100%" height="20" aria-hidden="true" focusable="false">
                            <rect class="bar tone-sky" x="0" y="3" height="14" width=${share(info.kv_cache.bytes_per_token / most)} /></svg></td>
                        <td class="n"><${CacheNum} info=${info} text=${scaled(info.kv_cache.bytes_per_token, "B")} /></td>
                        <td class="n">${exact(info.kv_cache.bytes_per_token)}</td>
                        <td class="n">${info.kv_cache.bytes_per_sequence === 0 ? "–" : scaled(info.kv_cache.bytes_per_sequence, "B")}</td></tr>`)}
                </tbody>
            </table>
        <//>`;
}
