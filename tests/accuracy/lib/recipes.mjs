/** What a recipe of Megatron-Bridge sets that no column of a row says (recipes.csv). */
import { readFileSync } from 'node:fs';
import { readFacts } from './csv.mjs';
import { count, tokenDrop } from './words.mjs';

const recipes = readFacts(readFileSync(new URL('../recipes.csv', import.meta.url), 'utf8'));
const degrees = ['pp', 'vpp', 'ep'];

/** Releases sort as text: 25.09, 26.02, 26.02.01. */
function isOf(recipe, row) {
    const [, release] = row.software.match(/^mbridge-(.+)$/) ?? [];
    return release !== undefined && release >= recipe.since && row.task === 'pretraining'
        && row.model === recipe.model && row.gpu.split(' ')[0] === recipe.gpu
        && (recipe.precision === '*' || row.precision === recipe.precision)
        && degrees.every((name) => (count(row[name], 1) ?? 1) === Number(recipe[name]));
}

/** Words for the notes of a row: its dispatcher, and whether tokens travel under computing. */
export function recipeOf(row) {
    const recipe = recipes.find((one) => isOf(one, row));
    if (recipe === undefined || tokenDrop.test(`${row.flags} ${row.notes}`)) // a recipe of its own
        return '';
    const dispatcher = recipe.dispatcher === 'alltoall' ? 'all-to-all dispatcher' : recipe.dispatcher;
    return `, ${dispatcher}${recipe.overlap === '1' ? ', moe_a2a_overlap' : ''}`;
}
