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
    const packed = await zopfli.gzipAsync(Buffer.from(content), { numiterations: 40 });
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content);
    await writeFile(`${target}.gz`, packed);
    return packed.length;
}

/** Calls, statements and comparisons that stay as they were written pack better. No function without a name is made with new, nothing that is built in is replaced. */
const COMPRESS = { passes: 2, inline: 1, sequences: false, lhs_constants: false, unsafe: true, unsafe_arrows: true };

/** What is left after bundling: code and names, smaller by another 5 %. @param {string} text @param {Record<string, string>} [names]  that some of its own have to become */
async function smaller(text, names = {}) {
    const props = Object.fromEntries(Object.entries(names).map(([name, other]) => [`$${name}`, other]));
    const { code } = await minify(text, { module: true, ecma: 2020, compress: COMPRESS, nameCache: { vars: { props } } });
    return code ?? text;
}

const IMPORTED = /^import\{([^}]*)\}from/;
const EXPORTED = /export\{([^}]*)\};?\s*$/;

/** What "a as b, c" gives and takes. @param {RegExp} clause @param {string} text @returns {[string, string][]} */
const pairsOf = (clause, text) => clause.exec(text)[1].split(",").map((item) => item.split(" as ")).map(([name, other = name]) => [name, other]);

/**
 * The later script takes hundreds of names from the first. Where both call them as the first does, a list of them is left
 * in each, which packs. Either refers to the other, so that the hash in the name of each covers both.
 * @param {string} shared @param {string} rest  as they were bundled @returns {Promise<[string, string]>}
 */
async function agreed(shared, rest) {
    const first = await smaller(shared);
    const own = new Map(pairsOf(EXPORTED, first).map(([local, name]) => [name, local]));
    const later = await smaller(rest, Object.fromEntries(pairsOf(IMPORTED, rest).map(([name, local]) => [local, own.get(name)])));
    if (pairsOf(IMPORTED, later).some(([name, local]) => local !== own.get(name))) throw new Error("the scripts do not agree on names");
    const list = [...own.values()].sort().join();
    return [first.replace(EXPORTED, () => `export{${list}};`), later.replace(IMPORTED, () => `import{${list}}from`)];
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
const texts = new Map(result.outputFiles.filter(({ path: file }) => file.endsWith(".js")).map(({ path: file, text }) => [nameOf(file), text]));
const [shared, rest] = ["chunk-", "rest-"].map((start) => [...texts.keys()].find((name) => path.basename(name).startsWith(start)));
const [firstText, restText] = await agreed(texts.get(shared), texts.get(rest));

/** @type {Map<string, string | Uint8Array>} */
const contents = new Map(result.outputFiles.map(({ path: file, contents: bytes }) => [nameOf(file), texts.get(nameOf(file)) ?? bytes]));
contents.set(shared, firstText).set(rest, restText);

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
