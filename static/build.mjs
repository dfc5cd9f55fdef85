/**
 * Bundles the dashboard into dist/: hashed assets, an index.html that names them, and a gzip
 * twin beside every text file so that the server never compresses at run time.
 *
 * The output depends on the sources and the lock file alone: names come from content, the gzip
 * header carries no time.
 */
import { transformFileAsync } from "@babel/core";
import zopfli from "@gfx/zopfli";
import { build } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { minify } from "terser";

const ROOT = path.dirname(fileURLToPath(import.meta.url));
const DIST = path.join(ROOT, "dist");

/** Gzip: the first screen is what index.html names, all is what a reader may ever load. */
const BUDGET_BYTES = { "first script": 60_000, "all script": 120_000, "all style": 10_000 };

/** @param {string} file @param {string | Uint8Array} content */
async function writeWithTwin(file, content) {
    const target = path.join(DIST, file);
    /* Smaller by 4 % than zlib's best, once for every reader. Its header carries no time either. */
    const packed = await zopfli.gzipAsync(Buffer.from(content), { numiterations: 15 });
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content);
    await writeFile(`${target}.gz`, packed);
    return packed.length;
}

/** Calls, statements and comparisons that stay as they were written pack better. No function without a name is made with new, no getter does anything, nothing that is built in is replaced. */
const COMPRESS = { passes: 3, inline: 1, sequences: false, lhs_constants: false, unsafe: true, unsafe_arrows: true, pure_getters: true };

/** What is left after bundling: code and names, smaller by another 5 %. @param {string} text */
async function smaller(text) {
    const { code } = await minify(text, { module: true, ecma: 2020, compress: COMPRESS });
    return code ?? text;
}

const IMPORTED = /^import\{([^}]*)\}from("[^"]*");/;
const EXPORTED = /export\{([^}]*)\};?$/;

/** Pairs of "a as b", or of "a" alone. @param {string} list @returns {[string, string][]} */
const pairsOf = (list) => list.split(",").map((item) => item.split(" as ")).map(([name, other = name]) => [name, other]);

/**
 * The later script takes hundreds of names from the first, each under a third name. Where the first exports them under
 * those that the later one uses, a list of them is left, which packs. Each refers to the other, so that the hash in the
 * name of either covers both.
 * @param {string} first @param {string} later @returns {[string, string]}
 */
function agreed(first, later) {
    const [clause, taken, from] = IMPORTED.exec(later);
    const names = new Map(pairsOf(taken));
    const given = pairsOf(EXPORTED.exec(first)[1]).map(([local, name]) => [local, names.get(name)]);
    if (given.length !== names.size || given.some(([, name]) => name === undefined)) throw new Error("the scripts do not agree on names");
    return [
        first.replace(EXPORTED, () => `export{${given.map(([local, name]) => (local === name ? name : `${local} as ${name}`)).join()}};`),
        `import{${given.map(([, name]) => name).sort().join()}}from${from};${later.slice(clause.length)}`,
    ];
}

/** Templates as the calls that htm makes of them at run time: smaller by 2 %, and nothing is parsed in the browser. */
const compiledTemplates = {
    name: "compiled templates",
    setup({ onLoad }) {
        onLoad({ filter: /[\\/]src[\\/].*\.js$/ }, async ({ path: file }) => {
            const plugins = [["babel-plugin-htm", { import: "preact", useNativeSpread: true }]];
            const { code } = await transformFileAsync(file, { cwd: ROOT, babelrc: false, configFile: false, plugins });
            return { contents: code, loader: "js" };
        });
    },
};

const result = await build({
    absWorkingDir: ROOT,
    entryPoints: { app: "src/main.js" },
    bundle: true,
    splitting: true,
    metafile: true,
    minify: true,
    format: "esm",
    target: ["es2022"],
    charset: "utf8",
    legalComments: "none",
    loader: { ".json": "file" }, /* data is fetched, not run */
    assetNames: "assets/[name]-[hash]",
    entryNames: "assets/[name]-[hash]",
    chunkNames: "assets/[name]-[hash]",
    outdir: "dist",
    write: false,
    plugins: [compiledTemplates],
    logLevel: "warning",
});

await rm(DIST, { recursive: true, force: true });

/** Names of outputs below dist/, as index.html and the metafile of esbuild see them. */
const nameOf = (file) => path.relative(DIST, path.resolve(ROOT, file)).split(path.sep).join("/");
const made = new Map(Object.entries(result.metafile.outputs).map(([file, about]) => [nameOf(file), about]));

/** @type {Map<string, number>} */
const packedBytes = new Map();
/** @type {Map<string, string | Uint8Array>} */
const contents = new Map();
for (const { path: file, text, contents: bytes } of result.outputFiles) contents.set(nameOf(file), file.endsWith(".js") ? await smaller(text) : bytes);
const [shared, later] = ["chunk-", "rest-"].map((start) => [...contents.keys()].find((name) => path.basename(name).startsWith(start)));
const [firstText, laterText] = agreed(contents.get(shared), contents.get(later));
contents.set(shared, firstText).set(later, laterText);

for (const [name, content] of contents) {
    packedBytes.set(name, await writeWithTwin(name, content));
    console.log(`${name}  ${content.length} bytes, ${packedBytes.get(name)} gzip`);
}

/** What a browser cannot start without: the entry and all that it imports at once. */
const entry = [...made.keys()].find((name) => made.get(name).entryPoint === "src/main.js" && name.endsWith(".js"));
const first = new Set([entry]);
for (const name of first) {
    for (const { path: file, kind } of made.get(name).imports) if (kind === "import-statement") first.add(nameOf(file));
}
const styles = [...made.keys()].filter((name) => name.endsWith(".css"));
const imported = [...first].filter((name) => name !== entry);

const page = (await readFile(path.join(ROOT, "index.html"), "utf8"))
    .replace("{{script}}", `/${entry}`)
    .replace("{{style}}", `/${styles[0]}`)
    .replace("{{imported}}", imported.map((name) => `<link rel="modulepreload" href="/${name}">\n`).join(""));
await writeWithTwin("index.html", page);

const sum = (names) => names.reduce((total, name) => total + packedBytes.get(name), 0);
const spent = {
    "first script": sum([...first]),
    "all script": sum([...made.keys()].filter((name) => name.endsWith(".js"))),
    "all style": sum(styles),
};
for (const [what, budget] of Object.entries(BUDGET_BYTES)) {
    console.log(`${what}  ${spent[what]} of ${budget} bytes gzip`);
    if (spent[what] > budget) {
        console.error(`the ${what} is over its budget`);
        process.exitCode = 1;
    }
}
