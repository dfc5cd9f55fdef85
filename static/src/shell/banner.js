/** What a reader is told while the service is away, busy or slow, and of a saved plan that was to be opened. */
import { useEffect, useState } from "preact/hooks";
import { html } from "../html.js";
import { trouble, tryNow } from "../state/connection.js";
import { notice } from "../state/saved.js";
import { answer, unread } from "../state/store.js";

/** Counts down beside the sentence that is read aloud, so that no second is. @param {{next_ms: number}} props */
function Countdown({ next_ms }) {
    const [now_ms, setNow] = useState(Date.now());
    useEffect(() => {
        const timer = setInterval(() => setNow(Date.now()), 250);
        return () => clearInterval(timer);
    }, []);
    const left_s = Math.max(0, Math.ceil((next_ms - now_ms) / 1000));
    return html`<span aria-hidden="true">Next try in ${left_s} s.</span>`;
}

/** Asks at once when the browser finds a network again. */
function useNetwork() {
    useEffect(() => {
        addEventListener("online", tryNow);
        return () => removeEventListener("online", tryNow);
    }, []);
}

export function Banner() {
    useNetwork();
    const now = trouble.value;
    return html`
        <div class="banner" data-testid="banner" data-kind=${now?.kind ?? "none"}>
            <p role="status">${now === null ? "" : html`<b>${now.detail}</b> ${now.kind === "slow" ? "Still waiting."
                : "It is asked again until it answers. Nothing you set is lost."}`}</p>
            ${now === null ? null : html`
                ${now.next_ms === null ? now.kind === "fault" ? html`<span aria-hidden="true">Trying…</span>` : null
                    : html`<${Countdown} key=${now.next_ms} next_ms=${now.next_ms} />`}
                <button type="button" onClick=${tryNow}>Try now</button>`}
        </div>
        <div class="banner" data-testid="notice" data-kind=${notice.value === "" ? "none" : "notice"}>
            <p role="status">${notice.value}</p>
            ${notice.value === "" ? null : html`<button type="button" onClick=${() => { notice.value = ""; }}>Dismiss</button>`}
        </div>`;
}

/** Above an answer that is not of what the reader set: a count cannot be read, or the plan's own answer does not come. */
export function Stale() {
    const { phase, estimate } = answer.value;
    const late = trouble.value !== null && phase === "loading" && estimate ? "the plan before your last change" : "";
    const of = unread.value.length > 0 ? `the last valid plan, without what stands in ${unread.value.join(", ")}` : late;
    return of && html`<p class="stale" data-testid="stale"><span aria-hidden="true">▲ </span>What stands below answers ${of}.</p>`;
}
