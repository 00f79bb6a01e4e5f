import { counted } from '../../../http/amounts.ts';
import { isLoopback } from '../../connect/oauth/transport.ts';
import { jsonObject, mediaType, type SiteAnswer, strings, text, where } from '../answer.ts';
import { insteadAt } from '../edges.ts';
import { RESOURCE_METADATA_PATH as NAME } from '../facts/metadata.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../finding.ts';
import { checks } from '../site.ts';

/** The protected resource metadata (RFC 9728). */
export const RESOURCE_METADATA = [
  ...checks(['wellKnown'], {
    'resource.found'({ origin, path, wellKnown }) {
      const there = wellKnown.filter(({ answer }) => isDocument(answer));
      const inserted = there.filter(({ spelling }) => spelling === 'inserted');
      if (inserted.some((one) => one.path === path))
        return pass(inserted.map(({ url }) => new URL(url).pathname).join(', '));
      if (inserted.length > 0)
        return warning(`none for ${origin}${path}, only for ${inserted.map((one) => origin + one.path).join(', ')}`);
      const appended = there[0];
      if (appended !== undefined)
        return failure(
          `it is only at ${appended.url}, where no client looks`,
          `Put the well-known part first, followed by the resource’s path: ${origin}${NAME}${appended.path}.`,
        );
      const asked = wellKnown.find((one) => one.path === path && one.spelling === 'inserted')?.answer;
      return asked === undefined ? failure(`${origin}${NAME}${path} gives no answer`) : failure(...insteadAt(asked));
    },
    'resource.no-pages': ({ wellKnown }) =>
      checkEach(`${wellKnown.length} spellings: documents or nothing`, wellKnown, ({ answer }) => {
        if (answer === undefined || answer.status < 200 || answer.status > 399 || isDocument(answer)) return undefined;
        return failure(...insteadAt(answer, `${answer.status} without JSON`));
      }),
  }),
  ...checks(['wellKnown', 'mcp'], {
    'resource.path-spelling'({ origin, wellKnown, mcp }) {
      const { pathname } = new URL(mcp.url);
      const own = wellKnown.find(({ path, spelling }) => path === pathname && spelling === 'inserted')?.answer;
      if (isDocument(own)) return pass(`${NAME}${pathname}`);
      return warning(
        `${NAME}${pathname} does not exist (${own?.status ?? 'no answer'}): clients fall back to the one of ${origin} and compare it`,
      );
    },
  }),
  ...checks(['resources'], {
    'resource.content-type': ({ resources }) =>
      checkEach('application/json', resources, ({ answer }) => checkJsonType(answer)),
    'resource.identifier': ({ resources }) =>
      checkEach(
        resources.map(({ resource }) => resource).join(', '),
        resources,
        ({ document: { resource: named }, resource, answer, path }) => {
          // RFC 3986 section 6.2.3: for the root alone, "https://host" and "https://host/" are the same address.
          if (named === resource || (path === '' && named === `${resource}/`)) return undefined;
          const why = difference(named, resource);
          return failure(`${where(answer)} names ${JSON.stringify(named)}, not ${resource}: ${why}`);
        },
      ),
    'resource.servers'({ origin, resources }) {
      const local = isLoopback(new URL(origin).hostname);
      const isIssuer = (named: string) => {
        const url = URL.parse(named);
        const safe = url?.protocol === 'https:' || (local && url?.protocol === 'http:');
        return safe && url.search === '' && url.hash === '';
      };
      const all = resources.flatMap(({ document }) => strings(document.authorization_servers));
      return checkEach([...new Set(all)].join(', '), resources, ({ document, answer }) => {
        const named = strings(document.authorization_servers);
        if (named.length === 0) return failure(`${where(answer)} names none`);
        return named.filter((one) => !isIssuer(one)).map((one) => failure(`${where(answer)} names "${one}"`));
      });
    },
    'resource.scopes': ({ resources }) =>
      checkEach(
        counted(strings(resources[0].document.scopes_supported).length, 'scope'),
        resources,
        ({ document: { scopes_supported: scopes = [] }, answer }) => {
          if (!Array.isArray(scopes) || strings(scopes).length !== scopes.length)
            return warning(`${where(answer)}: "scopes_supported" is not a list of strings`);
          return scopes.includes('offline_access') ? warning(`${where(answer)} lists offline_access`) : undefined;
        },
      ),
    async 'resource.unknown-path'({ origin, ask }) {
      const path = '/coursegate-doctor/never-there';
      const answer = await ask(`${origin}${NAME}${path}`);
      const named = text(jsonObject(answer)?.resource);
      if (answer.status !== 200 || named === undefined) return pass(`an unknown path gets ${answer.status}`);
      if (named.includes(path)) return failure(`an unknown path becomes a resource: ${named}`);
      return warning(`an unknown path gets the metadata of ${named}`);
    },
  }),
];

function isDocument(answer: SiteAnswer | undefined): boolean {
  return answer?.status === 200 && jsonObject(answer) !== undefined;
}

export function checkJsonType(answer: SiteAnswer): Verdict {
  const type = mediaType(answer);
  return type === 'application/json' ? pass(type) : warning(`${where(answer)} has ${type || 'no content type'}`);
}

/** How two addresses differ, and the usual cause. */
function difference(named: unknown, wanted: string): string {
  const [a, b] = [typeof named === 'string' ? URL.parse(named) : null, new URL(wanted)];
  if (a === null) return 'it is not a URL';
  if (a.protocol !== b.protocol)
    return `the scheme differs (${a.protocol.slice(0, -1)}), as behind a proxy that terminates TLS without X-Forwarded-Proto`;
  if (a.hostname !== b.hostname)
    return `the host differs (${a.hostname}), as behind a proxy that does not pass on Host`;
  if (a.port !== b.port) return `the port differs (${a.port || 'none'}), as behind a proxy on another port`;
  if (a.pathname.replace(/\/$/, '') === b.pathname.replace(/\/$/, '') && a.search === '' && a.hash === '')
    return 'only a trailing slash differs';
  return 'the path differs';
}
