/**
 * A PostgreSQL cluster that lives as long as a test: a temporary folder, a Unix socket, no port.
 *
 *     const database = await startPostgres();
 *     // SHARDLINE_DATABASE_URL=database.url
 *     await database.kill(); await database.start(); await database.stop();
 */
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanEnvironment, guard, run } from './processes.mjs';

const BIN = '/usr/lib/postgresql/15/bin';

/** initdb refuses root, so as root the cluster belongs to the first of these that exists. */
const ACCOUNTS = ['postgres', 'nobody'];

async function findAccount() {
    if (process.getuid() !== 0)
        return null;
    const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((l) => l.split(':'));
    for (const name of ACCOUNTS) {
        const user = users.find((fields) => fields[0] === name);
        if (user !== undefined)
            return { uid: Number(user[2]), gid: Number(user[3]) };
    }
    throw new Error('no unprivileged account to run PostgreSQL under');
}

async function must(command, args, options) {
    const result = await run(command, args, options);
    if (result.code !== 0)
        throw new Error(`${command} ended with ${result.code}\n${result.stdout}${result.stderr}`);
    return result.stdout;
}

/**
 * A cluster that was never started is copied in a quarter of the time that initdb takes: the first of a run of the
 * tests leaves one, where tests/run says.
 */
async function createCluster(data, options) {
    const pattern = process.env.SHARDLINE_TEST_CLUSTER;
    if (pattern !== undefined && existsSync(pattern)) {
        await must('cp', ['-a', pattern, data]);
        return;
    }
    await must(join(BIN, 'initdb'), ['-D', data, '--username=shardline', '--auth=trust',
        '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'], options);
    if (pattern === undefined)
        return;
    const copy = await mkdtemp(`${pattern}-`);
    await must('cp', ['-a', `${data}/.`, copy]);
    await rename(copy, pattern).catch(() => rm(copy, { recursive: true })); // another was first
}

/** fsync: as in production, for measurements; a test outlives no power cut. */
export async function startPostgres({ fsync = false } = {}) {
    // Not in TMPDIR: the path of a socket may have 107 bytes, and the account must get there.
    const folder = await mkdtemp('/tmp/slpg-');
    const account = await findAccount();
    await chmod(folder, 0o700);
    if (account !== null)
        await chown(folder, account.uid, account.gid);
    const options = { cwd: folder, env: cleanEnvironment({ HOME: folder }), ...account };
    const data = join(folder, 'data');
    // -QUIT lets the postmaster take its children along.
    const dismiss = guard('pid="$(head -n 1 "$1/data/postmaster.pid")"; kill -QUIT "$pid"; kill -CONT "$pid"; rm -rf "$1"',
        [folder], { ...options, cwd: '/' });
    const socket = `-h ${folder} -p 5432 -U shardline`.split(' ');

    let frozen = [];
    const cluster = {
        folder,
        url: `host=${folder} port=5432 dbname=shardline user=shardline`,
        start: () => must(join(BIN, 'pg_ctl'), ['start', '-w', '-t', '60', '-s', '-D', data,
            '-l', join(folder, 'log'), '-o',
            `-p 5432 -k ${folder} -c listen_addresses= -c fsync=${fsync ? 'on' : 'off'} -c max_connections=50`],
            options),
        /** Polite: waits for no client, loses nothing. */
        shutDown: () => must(join(BIN, 'pg_ctl'),
            ['stop', '-w', '-s', '-m', 'fast', '-D', data], options),
        /** As a power cut would end it. */
        async kill() {
            const pid = await postmaster(data);
            process.kill(pid, 'SIGKILL');
            await gone(pid);
        },
        /** It stands still, as a machine whose disk hangs: connections stay, and nothing answers. */
        async freeze() {
            frozen = [await postmaster(data)];
            process.kill(frozen[0], 'SIGSTOP'); // starts no child from here on
            for (const child of await childrenOf(frozen[0])) {
                frozen.push(child);
                process.kill(child, 'SIGSTOP');
            }
        },
        /** It goes on where it stood. */
        thaw() {
            for (const pid of frozen.splice(0)) {
                try {
                    process.kill(pid, 'SIGCONT');
                } catch {
                    // it ended meanwhile
                }
            }
        },
        query: async (sql) => (await must(join(BIN, 'psql'),
            [...socket, '-d', 'shardline', '-XAtc', sql], options)).trim(),
        /** Ends it whatever its state, and removes every trace. Fine to call twice. */
        async stop() {
            if (!existsSync(folder))
                return;
            cluster.thaw();
            await run(join(BIN, 'pg_ctl'), ['stop', '-w', '-s', '-m', 'immediate', '-D', data],
                options);
            await rm(folder, { recursive: true, force: true });
            dismiss();
        },
    };
    try {
        await createCluster(data, options);
        await cluster.start();
        await must(join(BIN, 'createdb'), [...socket, 'shardline'], options);
    } catch (error) {
        await cluster.stop();
        throw error;
    }
    return cluster;
}

const postmaster = async (data) => Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[0]);

async function childrenOf(parent) {
    const found = [];
    for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
        // Behind the name of the program, which may hold anything: the state and the parent.
        const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
        if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent)
            found.push(Number(name));
    }
    return found;
}

/** The postmaster is no child of ours, so all that can be done is to look for it. */
async function gone(pid) {
    for (;;) {
        try {
            process.kill(pid, 0);
        } catch {
            return;
        }
        await new Promise((next) => setTimeout(next, 10));
    }
}
