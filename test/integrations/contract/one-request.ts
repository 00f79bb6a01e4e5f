import { describe, expect, it } from 'vitest';
import type { Backend, Framework } from './backend.ts';
import { OVERRIDES } from './overrides.ts';
import type { SigningGate } from './signing-gate.ts';

type Claims = Readonly<Record<string, unknown>>;

/** The claims that make an assertion good for one request only, as in plugin mode (RFC 9449 section 4.2). */
export const requestClaims = ({ origin }: SigningGate, method: string, path: string): Claims => ({
  htm: method,
  htu: origin + path,
});

/** Claims for another request than `method path`, or for none. Every backend must respond to each with 401. */
export const OTHER_REQUESTS: Readonly<Record<string, (gate: SigningGate, method: string, path: string) => Claims>> = {
  'another method': (gate, _method, path) => requestClaims(gate, 'DELETE', path),
  'its method in lower case': (gate, method, path) => requestClaims(gate, method.toLowerCase(), path),
  'a list of methods': ({ origin }, method, path) => ({ htm: [method], htu: origin + path }),
  'a method that is null': ({ origin }, _method, path) => ({ htm: null, htu: origin + path }),
  'no method': ({ origin }, _method, path) => ({ htu: origin + path }),
  'another path': (gate, method) => requestClaims(gate, method, '/private'),
  'a path below it': (gate, method, path) => requestClaims(gate, method, `${path}/more`),
  'the beginning of its path': (gate, method, path) => requestClaims(gate, method, path.slice(0, -1)),
  'another spelling of its path': (gate, method, path) => requestClaims(gate, method, encodedLast(path)),
  'its path with a query': (gate, method, path) => requestClaims(gate, method, `${path}?function=site`),
  'its path at another origin': (_gate, method, path) => ({ htm: method, htu: `https://evil.example${path}` }),
  'its path without an origin': (_gate, method, path) => ({ htm: method, htu: path }),
  'a list of addresses': ({ origin }, method, path) => ({ htm: method, htu: [origin + path] }),
  'no address': (_gate, method) => ({ htm: method }),
};

/** Other spellings of a path, which servers often take for the same. */
export const spellingsOf = (path: string): readonly string[] => [
  encodedLast(path),
  `${path}/`,
  `/${path}`,
  `${path};a=1`,
  path.toUpperCase(),
];

const encodedLast = (path: string) => `${path.slice(0, -1)}%${path.charCodeAt(path.length - 1).toString(16)}`;

/** Tests that a request is served only if its assertion was made for it; part of `describeContract`. */
export function describeOneRequest(framework: Framework, running: () => { gate: SigningGate; backend: Backend }): void {
  const asserted = (claims: Claims) => ({ 'x-coursegate-assertion': running().gate.assertion(claims) });
  const boundTo = (method: string, path: string) => asserted(requestClaims(running().gate, method, path));
  const send = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    fetch(running().backend.url + path, { redirect: 'manual', ...init, headers });
  const refusal = async (answer: Response) => ({ status: answer.status, body: await answer.json() });
  const REFUSED = { status: 401, body: { error: 'invalid_assertion' } };

  describe('a request with an assertion that was made for one request', () => {
    it('runs as the member if it is that request', async () => {
      for (const method of ['GET', 'POST']) {
        const answer = await send('/probe?a=1&b=%2F', boundTo(method, '/probe'), { method });
        expect(await answer.json()).toMatchObject({ member: '1', client: 'app-1' });
      }
      expect((await send('/probe', boundTo('HEAD', '/probe'), { method: 'HEAD' })).status).toBe(200);
    });

    it.each(Object.entries(OTHER_REQUESTS))('is refused if that is %s', async (_title, claims) => {
      const answer = await send('/probe', asserted(claims(running().gate, 'GET', '/probe')));
      expect(await refusal(answer)).toEqual(REFUSED);
    });

    it.each(['/private', ...spellingsOf('/probe')])('is refused at %s if that was for /probe', async (path) => {
      expect(await refusal(await send(path, boundTo('GET', '/probe')))).toEqual(REFUSED);
    });

    it.each([
      ['POST', 'GET'],
      ['GET', 'POST'],
      ['DELETE', 'POST'],
      ['GET', 'HEAD'],
    ])('is refused with the method %s if that was a %s', async (method, judged) => {
      expect((await send('/probe', boundTo(judged, '/probe'), { method })).status).toBe(401);
    });

    it.runIf(framework.overrides !== undefined)(
      'is refused if a parameter or a field replaces its method',
      async () => {
        for (const place of framework.overrides ?? []) {
          const ask = (method: string, judged: string) => {
            const { path, headers, body } = OVERRIDES[place](method);
            return send(path, { ...headers, ...boundTo(judged, '/method') }, { method: 'POST', ...(body && { body }) });
          };
          expect({ place, ...(await refusal(await ask('DELETE', 'POST'))) }).toEqual({ place, ...REFUSED });
          // Sent as a POST, so it was not judged as what it says.
          expect([400, 401]).toContain((await ask('DELETE', 'DELETE')).status);
          expect(await refusal(await ask('POST', 'POST'))).toEqual({ status: 200, body: { method: 'POST' } });
        }
      },
    );

    it.runIf(framework.mount !== undefined)(
      'is compared by its whole path if the site is mounted below one',
      async () => {
        const path = `${framework.mount}/probe`;
        expect((await send(path, boundTo('GET', path))).status).toBe(200);
        expect(await refusal(await send(path, boundTo('GET', '/probe')))).toEqual(REFUSED);
        expect(await refusal(await send('/probe', boundTo('GET', path)))).toEqual(REFUSED);
      },
    );

    it.runIf(framework.mayHidePath)('is refused if the server does not report the path as it was sent', async () => {
      const hidden = { 'x-test-hide-path': '1' };
      expect(await refusal(await send('/probe', { ...boundTo('GET', '/probe'), ...hidden }))).toEqual(REFUSED);
      expect((await send('/probe', { ...asserted({}), ...hidden })).status).toBe(200);
    });
  });

  it('a request with an empty assertion is anonymous: gateways send one for requests without a member', async () => {
    const answer = await send('/probe', { 'x-coursegate-assertion': '', 'x-member-id': '' });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 200,
      body: { member: null, client: null, seen: [] },
    });
  });
}
