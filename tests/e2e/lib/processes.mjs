/** Child processes that a test owns: started with a known environment, ended for certain. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Ends what a hanging test would leave behind; healthy processes never come near it. */
const PATIENCE_MS = 30_000;

/**
 * The environment of a server under test: nothing of the developer's own settings, tokens or
 * database leaks in.
 */
export function cleanEnvironment(extra = {}) {
    const foreign = /^(SHARDLINE_|HF_|HUGGING_FACE_|HUGGINGFACE_|TRANSFORMERS_|PG|[a-z]*_proxy$)/i;
    const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
    return { ...Object.fromEntries(kept), ...extra };
}

/** Runs to the end and gives back { code, stdout, stderr }. */
export async function run(command, args, options = {}) {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const out = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => { out.stdout += chunk; });
    child.stderr.on('data', (chunk) => { out.stderr += chunk; });
    const [code, signal] = await once(child, 'close');
    return { code: code ?? signal, ...out };
}

/**
 * Runs `script` when this process dies, however it dies; a time-out that kills a test leaves nothing
 * behind. Gives back what calls it off. The script's $1, $2 ... are `args`.
 */
export function guard(script, args, options = {}) {
    // Its input ends without a line when we are gone. It is detached, so that Ctrl-C passes it by.
    const child = spawn('sh', ['-c', `read -r done || { ${script}; }`, 'guard', ...args],
        { stdio: ['pipe', 'ignore', 'ignore'], detached: true, ...options });
    child.stdin.on('error', () => {});
    child.stdin.unref();
    child.unref();
    return () => child.stdin.end('done\n');
}

/** A process that runs beside the test. */
export class Process {
    /** @param {string} command @param {string[]} args */
    constructor(command, args, options = {}) {
        this.stdout = '';
        this.stderr = '';
        this.exit = null;
        this.child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
        this.child.stdout.on('data', (chunk) => { this.stdout += chunk; });
        this.child.stderr.on('data', (chunk) => { this.stderr += chunk; });
        this.closed = new Promise((done, fail) => {
            this.child.once('error', fail);
            this.child.once('close', (code, signal) => {
                this.dismiss();
                this.exit = { code, signal };
                done(this.exit);
            });
        });
        this.closed.catch(() => {});
        this.dismiss = guard('kill -KILL "$1"', [String(this.child.pid)]);
    }

    kill() {
        this.child.kill('SIGKILL');
    }

    get pid() {
        return this.child.pid;
    }

    log() {
        return `--- stdout\n${this.stdout}--- stderr\n${this.stderr}`;
    }

    /** The first line on stdout. A script that may have to build first is given more time. */
    async firstLine(patienceMs = PATIENCE_MS) {
        const line = new Promise((done) => {
            const look = () => {
                const end = this.stdout.indexOf('\n');
                if (end >= 0)
                    done(this.stdout.slice(0, end));
            };
            this.child.stdout.on('data', look);
            look();
        });
        const ended = this.closed.then((exit) => {
            const how = exit.code ?? exit.signal;
            throw new Error(`ended (${how}) before its first line\n${this.log()}`);
        });
        return withPatience(Promise.race([line, ended]), 'no first line', this, patienceMs);
    }

    signal(name) {
        this.child.kill(name);
    }

    /** Waits for the end; the exit code, or the name of the signal. */
    async ended() {
        const exit = await withPatience(this.closed, 'did not end', this);
        return exit.code ?? exit.signal;
    }
}

async function withPatience(promise, what, owner, patienceMs = PATIENCE_MS) {
    let timer;
    const late = new Promise((_, fail) => {
        timer = setTimeout(() => {
            owner.child.kill('SIGKILL');
            fail(new Error(`${what} within ${patienceMs / 1000} s\n${owner.log()}`));
        }, patienceMs);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

/** Polls until `holds` gives something true; its value. */
export async function eventually(holds, what) {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
        const value = await holds();
        if (value)
            return value;
        if (Date.now() > deadline)
            throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
        await new Promise((next) => setTimeout(next, 20));
    }
}
