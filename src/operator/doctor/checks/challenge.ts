import { field, isHtml, isRedirect, jsonObject, type SiteAnswer, strings, text, where } from '../answer.ts';
import { bearerChallenge } from '../challenges.ts';
import { insteadAt, insteadOf } from '../edges.ts';
import type { ProtectedEndpoint } from '../facts/facts.ts';
import { mcpQuestion } from '../facts/mcp-endpoint.ts';
import { withTokenInQuery } from '../facts/protected-endpoints.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../finding.ts';
import { checks } from '../site.ts';
import { NoAnswer, Unavailable } from '../unavailable.ts';

/** How requests without a valid token are answered (RFC 6750, RFC 9728 section 5). */
export const CHALLENGE = [
  ...checks(['protectedEndpoints'], {
    async 'challenge.present'({ protectedEndpoints }) {
      const challenged = protectedEndpoints.filter(({ none, bad }) => none.status === 401 || bad.status === 401);
      const verdicts = await checkEach(
        challenged.map(({ url }) => new URL(url).pathname).join(', '),
        protectedEndpoints,
        ({ none, bad }) => checkChallenge(none.status < 300 ? bad : none),
      );
      if (challenged.length > 0 || verdicts.some(({ level }) => level !== 'pass')) return verdicts;
      return warning('no known address requires a token', 'Give the doctor an address that requires one.');
    },
    async 'challenge.resource-metadata'({ ask, protectedEndpoints }) {
      const good = new Set<string>();
      return checkEach(
        () => [...good].join(', '),
        await challengesOf(protectedEndpoints),
        async ({ url, parameters: { resource_metadata: named } }) => {
          const at = new URL(url).pathname;
          if (named === undefined) return warning(`the challenge of ${at} has no resource_metadata`);
          if (!URL.canParse(named))
            return failure(`the challenge of ${at} contains ${named}, which is not an absolute URL`);
          const answer = await ask(named);
          const resource = text(jsonObject(answer)?.resource);
          if (answer.status !== 200 || resource === undefined)
            return failure(`${named}: ${insteadOf(answer, `no metadata (${answer.status})`)[0]}`);
          if (!covers(resource, url)) return failure(`${named} describes ${resource}, which does not cover ${url}`);
          good.add(new URL(named).pathname);
          return undefined;
        },
      );
    },
    'challenge.bad-token': ({ protectedEndpoints }) =>
      checkEach('401 invalid_token', protectedEndpoints, async ({ bad }) => {
        if (bad.status < 300) return failure(`${where(bad)} accepts it (${bad.status})`);
        if (bad.status >= 500) return failure(`${where(bad)} fails with ${bad.status}`);
        // Redirects and 403 are reported by challenge.present; a missing address is not protected.
        if (isRedirect(bad) || [403, 404, 405].includes(bad.status)) return undefined;
        if (bad.status !== 401) return warning(`${where(bad)} answers ${bad.status}`);
        const error = (await bearerChallenge(bad))?.error;
        if (field(bad, 'www-authenticate') === '' || error === 'invalid_token') return undefined;
        return warning(`${where(bad)} answers 401 with ${error === undefined ? 'no error' : `error="${error}"`}`);
      }),
    'challenge.authorization-field': ({ protectedEndpoints }) =>
      checkEach('an invalid token is answered differently from no token', protectedEndpoints, ({ none, bad }) => {
        if (isRedirect(none) || isHtml(none) || [403, 404, 405].includes(none.status) || none.status >= 500)
          return undefined;
        const [a, b] = [none, bad].map(
          (answer) => `${answer.status} ${field(answer, 'www-authenticate')} ${withoutIds(answer.text)}`,
        );
        if (a !== b) return undefined;
        return warning(
          `${where(bad)} answers an invalid token exactly like no token: the header seems to be removed on the way`,
        );
      }),
    'challenge.query-token': ({ ask, protectedEndpoints }) =>
      checkEach('answered like no token', protectedEndpoints, async ({ url, question, none, bad }) => {
        const refused = await signature(bad);
        if ((await signature(none)) === refused) return undefined;
        const answer = await ask(withTokenInQuery(url), question);
        if ((await signature(answer)) !== refused) return undefined;
        return failure(`${where(none)}?access_token=… is treated like a token in the header`);
      }),
  }),
  ...checks(['protectedEndpoints', 'wellKnown'], {
    'challenge.scope': async ({ protectedEndpoints, wellKnown }) =>
      checkEach(
        'named',
        await challengesOf(protectedEndpoints),
        ({ url, parameters: { scope, resource_metadata: named } }) => {
          const described = wellKnown.find((one) => one.url === named)?.answer;
          const known = described === undefined ? undefined : jsonObject(described);
          // A resource without scopes has none to name.
          if (scope || (known !== undefined && strings(known.scopes_supported).length === 0)) return undefined;
          return warning(`the challenge of ${new URL(url).pathname} names no scope`);
        },
      ),
  }),
  ...checks(['mcp'], {
    async 'challenge.slash'({ ask, mcp }) {
      const url = mcp.url.endsWith('/') ? mcp.url.slice(0, -1) : `${mcp.url}/`;
      try {
        const answer = await ask(url, mcpQuestion('ping'));
        if (isRedirect(answer)) return warning(`${where(answer)} is ${answer.status} to ${field(answer, 'location')}`);
        if (answer.status < 300 && isHtml(answer)) return warning(`${where(answer)} is a page`);
        return pass(`${where(answer)} is ${answer.status}`);
      } catch (thrown) {
        if (!(thrown instanceof NoAnswer)) throw thrown;
        // Without an answer at the usual address either, the slash is not the reason.
        await ask(mcp.url, mcpQuestion('ping'));
        return warning(`${new URL(url).pathname}: ${thrown.message}`);
      }
    },
  }),
];

async function checkChallenge(answer: SiteAnswer): Promise<Verdict | undefined> {
  if (isRedirect(answer)) return failure(...insteadAt(answer));
  if (answer.status === 403) return failure(...insteadAt(answer, '403 without a challenge'));
  if (answer.status !== 401) return undefined;
  const header = field(answer, 'www-authenticate');
  if (header === '') return failure(`${where(answer)} is 401 without WWW-Authenticate`);
  if ((await bearerChallenge(answer)) !== undefined) return undefined;
  return failure(`${where(answer)} challenges without Bearer: ${header}`);
}

/** The Bearer challenges, one for each protected address. */
async function challengesOf(protectedEndpoints: readonly ProtectedEndpoint[]) {
  const found = [];
  for (const { url, none, bad } of protectedEndpoints) {
    const answer = none.status === 401 ? none : bad;
    const parameters = answer.status === 401 ? await bearerChallenge(answer) : undefined;
    if (parameters !== undefined) found.push({ url, parameters });
  }
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

async function signature(answer: SiteAnswer): Promise<string> {
  const { error = '', error_description: text = '' } = (await bearerChallenge(answer)) ?? {};
  return `${answer.status} ${error} ${text}`;
}

/** Removes what differs between responses, such as request ids. */
function withoutIds(body: string): string {
  return body.replace(/[0-9a-f]{8}[0-9a-f-]{8,}/gi, '').replace(/\d{6,}/g, '');
}
