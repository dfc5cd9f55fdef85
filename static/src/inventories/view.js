/** The page of inventories, loaded when it is first opened: all of them, one, or an upload. */
import { html } from "../html.js";
import { databaseStatus, ProblemError } from "../state/api.js";
import { place } from "../state/look.js";
import { List } from "./list.js";
import { useLoad, Waiting } from "../widgets/load.js";
import { Panel } from "../widgets/panel.js";
import { Help, known, worded } from "../widgets/words.js";
import { One } from "./one.js";
import { Upload } from "./upload.js";

/** Whether there is a place for inventories; a database that is only away passes, and is asked for again. */
async function lookForDatabase() {
    const status = await databaseStatus();
    if (status === "ok" || status === "not_configured") return status;
    throw new ProblemError({ type: "about:blank", title: "The database does not answer", status: 503, errors: [],
        detail: known("help", "nothing_until") });
}

/** @param {{again: () => void}} props */
function NoDatabase({ again }) {
    return html`
        <${Panel} title="No inventories here" id="no-database">
            <p><${Help} of="database" /></p>
            <p class="commands"><button type="button" onClick=${again}>Look again</button></p><//>`;
}

export const Inventories = worded(() => {
    const { inv = "", add = "" } = place.value;
    const database = useLoad("database", lookForDatabase);
    if (database.value === null) return html`<${Waiting} of=${database} what="inventories" />`;
    const away = database.value === "not_configured";
    return html`
        ${away || database.problem !== null ? html`
            <div class="step"><${Waiting} of=${database} what="inventories" />${away ? html`<${NoDatabase} again=${database.again} />` : null}</div>` : null}
        ${add === "1" || away ? html`<${Upload} canStore=${!away} />` : inv === "" ? html`<${List} />` : html`<${One} key=${inv} slug=${inv} />`}`;
});
