/** What every refusal has in common, and the one error a test is about. */
import assert from 'node:assert/strict';

/**
 * The answer is an RFC 9457 document with this status; with `code` or `pointer`, one of its errors
 * has them. Gives that error back (or the first).
 */
export function assertProblem(response, status, { code, pointer, says } = {}) {
    assert.equal(response.status, status, response.text);
    assert.equal(response.type, 'application/problem+json');
    const problem = response.json;
    assert.match(problem.type, /^\/problems\/[a-z-]+$/);
    assert.ok(problem.title.length > 0);
    assert.equal(problem.status, status);
    assert.ok(problem.detail.length > 0);
    assert.equal(problem.instance, response.headers['x-request-id']);
    assertNoSecrets(response.text);
    const found = (problem.errors ?? []).find((error) =>
        (code === undefined || error.code === code)
        && (pointer === undefined || error.pointer === pointer));
    if (code !== undefined || pointer !== undefined)
        assert.ok(found, `no error ${code ?? ''} at ${pointer ?? 'anywhere'} in ${response.text}`);
    if (says !== undefined)
        assert.match(response.text, says);
    return found;
}

/** Nothing of our insides: no SQL, no path of the machine, no token. */
function assertNoSecrets(text) {
    assert.doesNotMatch(text, /\bSELECT\b|\bINSERT\b|\/tmp\/|\/home\/|hf_[A-Za-z0-9]/);
}
