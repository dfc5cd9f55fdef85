/** A region that scrolls when it must: sideways it is reached by the keyboard then, and only then. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../html.js";

/** Whether what is in a region is wider than it. That it goes on below its lower edge is written on the region, which fades there. @param {{current: HTMLElement | null}} region */
export function useOver(region) {
    const [over, setOver] = useState(false);
    useLayoutEffect(() => {
        const node = region.current;
        const look = () => {
            setOver(node.scrollWidth > node.clientWidth + 1);
            node.dataset.below = String(node.scrollHeight > node.scrollTop + node.clientHeight + 1);
        };
        look();
        node.addEventListener("scroll", look);
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
