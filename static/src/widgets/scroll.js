/** A region that scrolls sideways when it must: then, and only then, the keyboard can reach it. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";

/** Whether what is in a region is wider than it. @param {{current: HTMLElement | null}} region */
export function useOver(region) {
    const [over, setOver] = useState(false);
    useLayoutEffect(() => {
        const node = region.current;
        const look = () => setOver(node.scrollWidth > node.clientWidth + 1);
        look();
        const observer = new ResizeObserver(look);
        observer.observe(node);
        observer.observe(node.firstElementChild);
        return () => observer.disconnect();
    }, []);
    return over;
}

/** @param {{over: boolean}} props */
export function ScrollHint({ over }) {
    return over ? html`<p class="scroll-hint muted" aria-hidden="true">more columns: scroll sideways →</p>` : null;
}

/** @param {{label: string, children?: any}} props */
export function Scroll({ label, children }) {
    const region = useRef(/** @type {HTMLElement | null} */ (null));
    const over = useOver(region);
    const reach = over ? { tabindex: "0", role: "region", "aria-label": `${label}, scrolls sideways` } : {};
    return html`
        <${ScrollHint} over=${over} />
        <div class="scroll" data-over=${over} ref=${region} ...${reach}>${children}</div>`;
}
