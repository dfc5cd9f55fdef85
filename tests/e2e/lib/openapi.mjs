/**
 * The OpenAPI document as a contract. An answer passes when its operation documents the status, the
 * content type is one of those promised, and the body is what the schema says.
 */
import assert from 'node:assert/strict';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The name of the document within the validator. */
const WHOLE = 'openapi';

export class Contract {
    constructor(document) {
        this.document = document;
        this.validators = new Map();
        // Unknown keywords are OpenAPI's own (example, discriminator), and errors are all wanted.
        this.ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
        this.ajv.addSchema(document, WHOLE, false);
        this.templates = Object.keys(document.paths).map((template) => ({
            template,
            pattern: templatePattern(template),
            literals: template.replace(/\{[^}]*\}/g, '').length,
        }));
        // Where two templates fit, the one that says more is meant.
        this.templates.sort((a, b) => b.literals - a.literals);
    }

    /** The template of a path, or undefined. */
    template(path) {
        const bare = path.split('?')[0];
        return this.templates.find(({ pattern }) => pattern.test(bare))?.template;
    }

    operation(method, path) {
        const template = this.template(path);
        // A HEAD is documented by its GET.
        const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
        return template === undefined ? undefined : this.document.paths[template][verb];
    }

    /** Throws unless the answer is a documented one. */
    check(method, path, response) {
        const where = `${method} ${path} -> ${response.status}`;
        const operation = this.operation(method, path);
        if (method === 'HEAD')
            assert.equal(response.bytes.length, 0, `${where}: a HEAD has no body`);
        if (operation === undefined) {
            this.checkUnrouted(where, method, path, response);
            return;
        }
        const promised = this.promised(operation, response.status);
        assert.ok(promised, `${where}: this status is not documented\n${response.text}`);
        if (method === 'HEAD' || response.bytes.length === 0)
            return;
        const media = promised.content?.[response.type];
        assert.ok(media, `${where}: ${response.type} is not documented for this status`);
        if (media.schema !== undefined && response.json !== undefined)
            this.validate(`${where} ${response.type}`, media.schema, response.json);
    }

    /** No such path, or a path without this method: a problem document all the same. */
    checkUnrouted(where, method, path, response) {
        const known = this.template(path) !== undefined;
        if (method === 'OPTIONS' || (!known && response.status < 400))
            return;
        const allowed = known ? [405, 421] : [404, 405, 421];
        assert.ok(allowed.includes(response.status), `${where}: not documented\n${response.text}`);
        if (method === 'HEAD')
            return;
        assert.equal(response.type, 'application/problem+json',
            `${where}: ${response.type} in place of a problem`);
        if (this.document.components?.schemas?.Problem !== undefined)
            this.validate(where, { $ref: '#/components/schemas/Problem' }, response.json);
    }

    promised(operation, status) {
        const promised = operation.responses[status]
            ?? operation.responses[`${Math.floor(status / 100)}XX`]
            ?? operation.responses.default;
        return this.resolve(promised);
    }

    resolve(node) {
        let found = node;
        while (found?.$ref !== undefined)
            found = found.$ref.slice(2).split('/').reduce((at, key) => at[key], this.document);
        return found;
    }

    validate(where, schema, value) {
        const key = JSON.stringify(schema);
        if (!this.validators.has(key)) {
            // What "#/components/..." names is compiled once for all that name it.
            const named = key.replaceAll('"$ref":"#/', `"$ref":"${WHOLE}#/`);
            this.validators.set(key, this.ajv.compile(JSON.parse(named)));
        }
        const valid = this.validators.get(key);
        assert.ok(valid(value), `${where}: against the contract\n${
            this.ajv.errorsText(valid.errors, { separator: '\n' })}\n${
            JSON.stringify(value).slice(0, 2000)}`);
    }
}

function templatePattern(template) {
    const source = template.split(/(\{[^}]*\})/).map((part) =>
        part.startsWith('{') ? '[^/]+?' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('');
    return new RegExp(`^${source}$`);
}
