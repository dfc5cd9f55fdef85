/** What changes stored inventories. Each write is of the revision that the reader saw, and each can be undone. */
import { deleteInventory, fetchSpecText, putInventory, restoreInventory } from "../state/api-inventories.js";
import { asProblem } from "../state/store.js";
import { tell } from "../shell/share.js";
import { noteWrite } from "../widgets/load.js";
import { known } from "../widgets/words.js";
import { goTo } from "./parts.js";

/** Where a write fails it says why, until that is read. @param {() => Promise<void>} act */
async function write(act) {
    try {
        await act();
    } catch (error) {
        const problem = asProblem(error);
        if (problem === null) return;
        const why = problem.status === 412 ? known("help", "meanwhile") : problem.errors[0]?.detail ?? problem.detail;
        tell(`Nothing was changed: ${why}`, { words: "Understood", act: noteWrite });
    }
}

/** @param {string} slug @param {string} name */
export function bringBack(slug, name) {
    return write(async () => {
        await restoreInventory(slug);
        noteWrite();
        goTo({ inv: slug });
        tell(`${name} is back`);
    });
}

/** No question first: a way back is offered after. @param {Api.Inventory} inventory */
export function remove({ slug, revision, spec }) {
    const name = spec.name || slug;
    return write(async () => {
        await deleteInventory(slug, revision);
        noteWrite();
        goTo({});
        tell(`${name} is deleted`, { words: "Undo", act: () => bringBack(slug, name) });
    });
}

/** What was stored, with the way back. @param {any} next @param {number | null} revision  before it @param {string} done @param {string} same */
function tellStored(next, revision, done, same) {
    noteWrite();
    if (next.revision === revision) tell(same);
    else tell(done, { words: "Undo", act: () => (revision === null ? remove(next) : goBack(next, revision)) });
}

/** An older spec as the next revision, byte for byte. @param {Api.Inventory} inventory @param {number} wanted  revision @returns {Promise<void>} */
export function goBack({ slug, revision }, wanted) {
    return write(async () => {
        const next = await putInventory(slug, await fetchSpecText(slug, wanted), revision);
        tellStored(next, revision, `Revision ${wanted} is back as revision ${next.revision}`, `Revision ${wanted} says the same as ${revision}: nothing to do`);
    });
}

/** Fails as it may. @param {string} slug @param {any} spec @param {number | null} revision  that it replaces */
export async function store(slug, spec, revision) {
    const next = await putInventory(slug, JSON.stringify(spec), revision);
    goTo({ inv: slug });
    tellStored(next, revision, `Stored as revision ${next.revision}`, `Stored already: revision ${revision} says the same`);
}
