/**
 * Requests as the tests want them: any method, any header (Host too), the body as it came over the
 * wire; each answer checked against the server's own OpenAPI document.
 */
import http from 'node:http';
import { connect } from 'node:net';
import { Contract } from './openapi.mjs';

const kept = new http.Agent({ keepAlive: true, maxSockets: 256 });

/** One request, unchecked; agent false takes a connection of its own. */
export function send(url, method, path, { headers = {}, body, agent = kept } = {}) {
    const { hostname, port } = new URL(url);
    return new Promise((done, fail) => {
        const request = http.request(
            { hostname, port, method, path, headers, agent },
            (response) => {
                const chunks = [];
                response.on('data', (chunk) => chunks.push(chunk));
                response.on('error', fail);
                response.on('end', () => done(answer(response, Buffer.concat(chunks))));
            });
        request.on('error', fail);
        request.end(body);
    });
}

function answer(response, bytes) {
    const type = (response.headers['content-type'] ?? '').split(';')[0].trim();
    const text = bytes.toString('utf8');
    const plain = response.headers['content-encoding'] === undefined;
    let json;
    if (plain && /(^|[/+])json$/.test(type) && bytes.length > 0)
        json = JSON.parse(text);
    return { status: response.statusCode, headers: response.headers, type, bytes, text, json };
}

/**
 * A client of one server. Every answer that names a documented operation must be one the OpenAPI
 * document promises; `options.json` sends JSON.
 */
export async function connectTo(server) {
    const contract = new Contract((await send(server.url, 'GET', '/openapi.json')).json);

    async function request(method, path, { json, headers = {}, body, ...rest } = {}) {
        const sent = { ...headers };
        if (json !== undefined) {
            body = JSON.stringify(json);
            if (!Object.keys(sent).some((name) => name.toLowerCase() === 'content-type'))
                sent['Content-Type'] = 'application/json';
        }
        const response = await send(server.url, method, path, { headers: sent, body, ...rest });
        contract.check(method, path, response);
        return response;
    }
    return {
        url: server.url,
        contract,
        request,
        get: (path, options) => request('GET', path, options),
        post: (path, json, options) => request('POST', path, { json, ...options }),
        put: (path, json, options) => request('PUT', path, { json, ...options }),
        patch: (path, json, { headers, ...options } = {}) => request('PATCH', path, { json,
            headers: { 'Content-Type': 'application/merge-patch+json', ...headers }, ...options }),
        delete: (path, options) => request('DELETE', path, options),
    };
}

/** A bare connection, for what no HTTP client would send. */
export function openSocket(url) {
    const { hostname, port } = new URL(url);
    return new Promise((done, fail) => {
        const socket = connect({ host: hostname, port: Number(port) }, () => {
            socket.removeListener('error', fail);
            socket.on('error', () => {});
            done(socket);
        });
        socket.once('error', fail);
    });
}

/** Sends text on a bare connection; everything that comes back until the other side closes. */
export async function exchange(url, text) {
    const socket = await openSocket(url);
    socket.write(text);
    const chunks = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await new Promise((done) => socket.once('close', done));
    return Buffer.concat(chunks).toString('utf8');
}
