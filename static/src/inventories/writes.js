/** What changes stored inventories. Each write is of the revision that the reader saw, and each can be undone. */
import { deleteInventory, fetchSpecText, putInventory, restoreInventory } from "../state/api-inventories.js";
import { asProblem } from "../state/store.js";
import { tell } from "../shell/share.js";
import { noteWrite } from "../widgets/load.js";
import { goTo } from "./parts.js";

/** Says what went wrong with a write; it stays until it is read. @param {unknown} error */
function tellProblem(error) {
    const problem = asProblem(error);
    if (problem === null) return;
    const why = problem.status === 412 ? "somebody changed it meanwhile; look at it again first" : problem.errors[0]?.detail ?? problem.detail;
    tell(`Nothing was changed: ${why}`, { words: "Understood", act: noteWrite });
}

/** @param {string} slug @param {string} name */
export async function bringBack(slug, name) {
    try {
        await restoreInventory(slug);
        noteWrite();
        goTo({ inv: slug });
        tell(`${name} is back`);
    } catch (error) {
        tellProblem(error);
    }
}

/** No question first: a way back is offered after. @param {any} inventory */
export async function remove({ slug, revision, spec }) {
    const name = spec.name || slug;
    try {
        await deleteInventory(slug, revision);
        noteWrite();
        goTo({});
        tell(`${name} is deleted`, { words: "Undo", act: () => void bringBack(slug, name) });
    } catch (error) {
        tellProblem(error);
    }
}

/** An older spec as the next revision, byte for byte. @param {any} inventory @param {number} wanted  revision */
export async function goBack({ slug, revision }, wanted) {
    try {
        const next = await putInventory(slug, await fetchSpecText(slug, wanted), revision);
        noteWrite();
        if (next.revision === revision) tell(`Revision ${wanted} says the same as ${revision}: nothing to do`);
        else tell(`Revision ${wanted} is back as revision ${next.revision}`, { words: "Undo", act: () => void goBack(next, revision) });
    } catch (error) {
        tellProblem(error);
    }
}

/** @param {string} slug @param {any} spec @param {number | null} revision  that it replaces @returns {Promise<any>} the inventory; fails as it may */
export async function store(slug, spec, revision) {
    const next = await putInventory(slug, JSON.stringify(spec), revision);
    noteWrite();
    goTo({ inv: slug });
    const undo = revision === null ? () => void remove(next) : () => void goBack(next, revision);
    if (next.revision === revision) tell(`Stored already: revision ${revision} says the same`);
    else tell(`Stored as revision ${next.revision}`, { words: "Undo", act: undo });
    return next;
}
