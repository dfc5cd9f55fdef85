/**
 * Bundles the dashboard into dist/: hashed assets, an index.html that names them, and a gzip
 * twin beside every text file so that the server never compresses at run time.
 *
 * The output depends on the sources and the lock file alone: names come from content, the gzip
 * header carries no time.
 */
import { build } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = path.dirname(fileURLToPath(import.meta.url));
const DIST = path.join(ROOT, "dist");
const BUDGET_BYTES = { ".js": 60_000, ".css": 10_000 };

/** @param {string} file @param {string | Uint8Array} content */
async function writeWithTwin(file, content) {
    const target = path.join(DIST, file);
    const packed = gzipSync(content, { level: 9 });
    packed[9] = 255; /* the operating system byte differs between builds of zlib */
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content);
    await writeFile(`${target}.gz`, packed);
    return packed.length;
}

const result = await build({
    absWorkingDir: ROOT,
    entryPoints: { app: "src/main.js" },
    bundle: true,
    minify: true,
    format: "esm",
    target: ["es2022"],
    charset: "utf8",
    legalComments: "none",
    entryNames: "assets/[name]-[hash]",
    outdir: "dist",
    write: false,
    logLevel: "warning",
});

await rm(DIST, { recursive: true, force: true });

/** @type {Record<string, string>} */
const names = {};
let withinBudget = true;
for (const output of result.outputFiles) {
    const name = path.relative(DIST, output.path).split(path.sep).join("/");
    const kind = path.extname(name);
    const packed = await writeWithTwin(name, output.contents);
    names[kind] = name;
    console.log(`${name}  ${output.contents.length} bytes, ${packed} gzip`);
    if (packed > BUDGET_BYTES[kind]) {
        console.error(`${name} is over its budget of ${BUDGET_BYTES[kind]} bytes gzip`);
        withinBudget = false;
    }
}

const page = (await readFile(path.join(ROOT, "index.html"), "utf8"))
    .replace("{{script}}", `/${names[".js"]}`)
    .replace("{{style}}", `/${names[".css"]}`);
await writeWithTwin("index.html", page);

if (!withinBudget) process.exit(1);
