/**
 * A name server that knows one name, as the engine's own does for the replicas of a service.
 *
 *     const names = await startNames(['127.0.0.1', '127.0.0.2']);
 *     names.address; names.list = ['127.0.0.2']; names.stop()
 */
import { createSocket } from 'node:dgram';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** The end of the first question: labels up to an empty one, then type and class. */
function questionEnd(query) {
    let at = HEADER_BYTES;
    while (query[at] !== 0)
        at += query[at] + 1;
    return at + 5;
}

function answer(query, list) {
    const end = questionEnd(query);
    const addresses = query.readUInt16BE(end - 4) === TYPE_A ? list : [];
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180, 2); // an answer, recursion desired and available, no error
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const records = addresses.map((address) => Buffer.from([
        0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]));
    return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]);
}

/** Answers every name with the addresses of `list`, which a test may change. */
export async function startNames(list) {
    const socket = createSocket('udp4');
    const names = { list, stop: () => socket.close() };
    socket.on('message', (query, { address, port }) => {
        socket.send(answer(query, names.list), port, address);
    });
    await new Promise((done) => socket.bind(0, '127.0.0.1', done));
    names.address = `127.0.0.1:${socket.address().port}`;
    return names;
}
