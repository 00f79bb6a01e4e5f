import { type Answer, field, isHtml, isRedirect, jsonObject, strings, text, where } from '../answer.ts';
import { bearerChallenge, type ReadChallenge } from '../challenges.ts';
import { check } from '../check.ts';
import { hijacker } from '../edges.ts';
import { type ProtectedEndpoint, withTokenInQuery } from '../facts/protected-endpoints.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import { NoAnswer, Unavailable } from '../unavailable.ts';

/** How requests without a valid token are answered (RFC 6750, RFC 9728 section 5). */
export const CHALLENGE = [
  check({
    id: 'challenge.present',
    title: 'Requests without a token get 401 and a challenge',
    reference: 'RFC 6750 section 3, RFC 9110 section 15.5.2, RFC 9728 section 5.1',
    fix: 'Answer 401 with WWW-Authenticate: Bearer resource_metadata="…", and keep login pages and proxies from answering instead.',
    needs: ['protectedEndpoints'],
    async run(_site, { protectedEndpoints }) {
      const problems = protectedEndpoints.flatMap(({ none, bad }): Verdict[] => {
        const answer = none.status < 300 ? bad : none;
        // Open even to invalid tokens: reported by challenge.bad-token.
        if (answer.status < 300) return [];
        const at = where(answer);
        if (isRedirect(answer))
          return [failure(`${at}: ${hijacker(answer)?.what ?? answer.status}`, hijacker(answer)?.fix)];
        if (answer.status === 403)
          return [
            failure(
              `${at} is 403: ${hijacker(answer)?.what ?? 'forbidden without a challenge'}`,
              hijacker(answer)?.fix,
            ),
          ];
        if (answer.status !== 401) return [];
        const said = field(answer, 'www-authenticate');
        if (said === '') return [failure(`${at} is 401 without WWW-Authenticate`)];
        return bearerChallenge(said) === undefined ? [failure(`${at} challenges without Bearer: ${said}`)] : [];
      });
      const challenged = protectedEndpoints.filter(({ none, bad }) => none.status === 401 || bad.status === 401);
      if (problems.length === 0 && challenged.length === 0)
        return warning('no known address requires a token', 'Give the doctor an address that requires one.');
      return problemsOr(problems, challenged.map(({ url }) => new URL(url).pathname).join(', '));
    },
  }),
  check({
    id: 'challenge.resource-metadata',
    title: 'The challenge points to the metadata of the requested resource',
    reference: 'RFC 9728 sections 5.1, 3.3',
    fix: 'Add resource_metadata="…" to the challenge: the absolute URL of a document whose "resource" covers the address.',
    needs: ['protectedEndpoints'],
    async run({ ask }, { protectedEndpoints }) {
      const problems: Verdict[] = [];
      const good: string[] = [];
      for (const { url, challenge } of challengesOf(protectedEndpoints)) {
        const at = new URL(url).pathname;
        const named = challenge.parameters.get('resource_metadata');
        if (named === undefined) {
          problems.push(warning(`the challenge of ${at} has no resource_metadata`));
          continue;
        }
        if (URL.parse(named) === null) {
          problems.push(failure(`the challenge of ${at} contains ${named}, which is not an absolute URL`));
          continue;
        }
        const answer = await ask(named);
        const resource = text(jsonObject(answer)?.resource);
        if (answer.status !== 200 || resource === undefined)
          problems.push(failure(`${named}: ${hijacker(answer)?.what ?? `no metadata (${answer.status})`}`));
        else if (!covers(resource, url))
          problems.push(failure(`${named} describes ${resource}, which does not cover ${url}`));
        else good.push(new URL(named).pathname);
      }
      return problemsOr(problems, [...new Set(good)].join(', '));
    },
  }),
  check({
    id: 'challenge.scope',
    title: 'The challenge names the required scope',
    reference: 'RFC 6750 section 3, MCP authorization (2025-11-25)',
    fix: 'Add scope="…" to the challenge: clients request exactly that; without it, they request everything or nothing.',
    needs: ['protectedEndpoints', 'wellKnown'],
    async run(_site, { protectedEndpoints, wellKnown }) {
      const without = challengesOf(protectedEndpoints).filter(({ challenge }) => {
        if (challenge.parameters.get('scope')) return false;
        const described = wellKnown.find(({ url }) => url === challenge.parameters.get('resource_metadata'))?.answer;
        const known = described === undefined ? undefined : jsonObject(described);
        // A resource without scopes has none to name.
        return known === undefined || strings(known.scopes_supported).length > 0;
      });
      return problemsOr(
        without.map(({ url }) => warning(`the challenge of ${new URL(url).pathname} names no scope`)),
        'named wherever there are scopes',
      );
    },
  }),
  check({
    id: 'challenge.bad-token',
    title: 'An unknown token is refused as invalid',
    reference: 'RFC 6750 section 3.1',
    fix: 'Answer 401 with error="invalid_token", never as if there were no token and never with a server error.',
    needs: ['protectedEndpoints'],
    async run(_site, { protectedEndpoints }) {
      const problems = protectedEndpoints.flatMap(({ bad }): Verdict[] => {
        if (bad.status < 300) return [failure(`${where(bad)} accepts it (${bad.status})`)];
        if (bad.status >= 500) return [failure(`${where(bad)} fails with ${bad.status}`)];
        // Redirects and 403 are reported by challenge.present; a missing address is not protected.
        if (isRedirect(bad) || bad.status === 403 || bad.status === 404 || bad.status === 405) return [];
        if (bad.status !== 401) return [warning(`${where(bad)} answers ${bad.status}`)];
        const error = bearerChallenge(field(bad, 'www-authenticate'))?.parameters.get('error');
        if (field(bad, 'www-authenticate') === '' || error === 'invalid_token') return [];
        return [warning(`${where(bad)} answers 401 with ${error === undefined ? 'no error' : `error="${error}"`}`)];
      });
      return problemsOr(problems, '401 invalid_token');
    },
  }),
  check({
    id: 'challenge.authorization-field',
    title: 'The Authorization header reaches the server',
    reference: 'RFC 6750 section 2.1, RFC 3875 section 4.1.18',
    fix: 'Pass it on: Apache with CGI or FPM needs "CGIPassAuth On" (or SetEnvIf Authorization "(.*)" HTTP_AUTHORIZATION=$1), nginx "proxy_set_header Authorization $http_authorization".',
    needs: ['protectedEndpoints'],
    async run(_site, { protectedEndpoints }) {
      const problems = protectedEndpoints.flatMap(({ none, bad }): Verdict[] => {
        if (isRedirect(none) || isHtml(none) || none.status === 403 || none.status >= 500) return [];
        if (none.status === 404 || none.status === 405) return [];
        const [a, b] = [none, bad].map(
          (answer) => `${answer.status} ${field(answer, 'www-authenticate')} ${withoutIds(answer.text)}`,
        );
        return a === b
          ? [
              warning(
                `${where(bad)} answers an invalid token exactly like no token: the header seems to be removed on the way`,
              ),
            ]
          : [];
      });
      return problemsOr(problems, 'an invalid token is answered differently from no token');
    },
  }),
  check({
    id: 'challenge.query-token',
    title: 'A token in the URL is ignored',
    reference: 'RFC 6750 section 2.3, MCP authorization (2025-11-25)',
    fix: 'Accept tokens only in the Authorization header: URLs end up in logs, browser histories and Referer.',
    needs: ['protectedEndpoints'],
    async run({ ask }, { protectedEndpoints }) {
      const problems: Verdict[] = [];
      for (const { url, question, none, bad } of protectedEndpoints) {
        if (signature(none) === signature(bad)) continue;
        const answer = await ask(withTokenInQuery(url), question);
        if (signature(answer) === signature(bad))
          problems.push(failure(`${where(none)}?access_token=… is treated like a token in the header`));
      }
      return problemsOr(problems, 'answered like no token');
    },
  }),
  check({
    id: 'challenge.slash',
    title: 'The address with a trailing slash works or is refused',
    reference: 'RFC 9110 section 15.4, RFC 9728 section 3.3',
    fix: 'Serve both spellings, or answer 404 to one of them: a redirect turns POST into GET, and clients drop the token.',
    needs: ['mcp'],
    async run({ ask }, { mcp }) {
      const url = mcp.url.endsWith('/') ? mcp.url.slice(0, -1) : `${mcp.url}/`;
      try {
        const answer = await ask(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        });
        if (isRedirect(answer)) return warning(`${where(answer)} is ${answer.status} to ${field(answer, 'location')}`);
        if (answer.status < 300 && isHtml(answer)) return warning(`${where(answer)} is a page`);
        return pass(`${where(answer)} is ${answer.status}`);
      } catch (thrown) {
        if (thrown instanceof NoAnswer) return warning(`${new URL(url).pathname}: ${thrown.message}`);
        throw thrown;
      }
    },
  }),
] as const;

/** The Bearer challenges, one for each protected address. */
function challengesOf(
  protectedEndpoints: readonly ProtectedEndpoint[],
): readonly { url: string; challenge: ReadChallenge }[] {
  const found = protectedEndpoints.flatMap(({ url, none, bad }) => {
    const answer = none.status === 401 ? none : bad;
    const challenge = answer.status === 401 ? bearerChallenge(field(answer, 'www-authenticate')) : undefined;
    return challenge === undefined ? [] : [{ url, challenge }];
  });
  if (found.length === 0) throw new Unavailable('there is no challenge to read');
  return found;
}

/**
 * Whether an address is within a resource, as clients compare it (MCP authorization: the resource or a parent of it).
 */
function covers(resource: string, url: string): boolean {
  const [outer, inner] = [URL.parse(resource), new URL(url)];
  if (outer === null || outer.origin !== inner.origin) return false;
  const path = outer.pathname.replace(/\/$/, '');
  return inner.pathname === path || inner.pathname.startsWith(`${path}/`);
}

function signature(answer: Answer): string {
  const { status } = answer;
  const parameters = bearerChallenge(field(answer, 'www-authenticate'))?.parameters;
  return `${status} ${parameters?.get('error') ?? ''} ${parameters?.get('error_description') ?? ''}`;
}

/** Removes what differs between responses, such as request ids. */
function withoutIds(body: string): string {
  return body.replace(/[0-9a-f]{8}[0-9a-f-]{8,}/gi, '').replace(/\d{6,}/g, '');
}
