import { type Answer, jsonObject, mediaType, strings, text, where } from '../answer.ts';
import { check } from '../check.ts';
import { hijacker } from '../edges.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import { isLoopbackName } from '../private-addresses.ts';

const NAME = '/.well-known/oauth-protected-resource';

/** The protected resource metadata (RFC 9728). */
export const RESOURCE_METADATA = [
  check({
    id: 'resource.found',
    title: 'The protected resource metadata is available',
    reference: 'RFC 9728 section 3.1',
    fix: `Serve ${NAME} for the origin, and ${NAME}/mcp for a resource at /mcp.`,
    needs: ['wellKnown'],
    async run({ origin, path }, { wellKnown }) {
      const there = wellKnown.filter(({ answer }) => isDocument(answer));
      const inserted = there.filter(({ spelling }) => spelling === 'inserted');
      if (inserted.some((one) => one.path === path))
        return pass(inserted.map(({ url }) => new URL(url).pathname).join(', '));
      const asked = wellKnown.find((one) => one.path === path && one.spelling === 'inserted');
      if (inserted.length > 0)
        return warning(`none for ${origin}${path}, only for ${inserted.map((one) => origin + one.path).join(', ')}`);
      const appended = there[0];
      if (appended !== undefined)
        return failure(
          `it is only at ${appended.url}, where no client looks`,
          `Put the well-known part first, followed by the resource’s path: ${origin}${NAME}${appended.path}.`,
        );
      if (asked?.answer === undefined) return failure(`${asked?.url ?? origin} gives no answer`);
      const instead = hijacker(asked.answer);
      return failure(`${where(asked.answer)}: ${instead?.what ?? asked.answer.status}`, instead?.fix);
    },
  }),
  check({
    id: 'resource.path-spelling',
    title: 'The tool interface has metadata at its own path',
    reference: 'RFC 9728 section 3.1, MCP authorization (2025-11-25)',
    fix: `Serve ${NAME}/mcp, with the full address of the tool interface as its "resource".`,
    needs: ['wellKnown', 'mcp'],
    async run({ origin }, { wellKnown, mcp }) {
      const { pathname } = new URL(mcp.url);
      const own = wellKnown.find(({ path, spelling }) => path === pathname && spelling === 'inserted');
      if (isDocument(own?.answer)) return pass(`${NAME}${pathname}`);
      return warning(
        `${NAME}${pathname} does not exist (${own?.answer?.status ?? 'no answer'}): clients fall back to the one of ${origin} and compare it`,
      );
    },
  }),
  check({
    id: 'resource.no-pages',
    title: 'Metadata addresses never return a page',
    reference: 'RFC 9728 section 3.2, RFC 8414 section 3.2',
    fix: 'Answer 404 where there is no document: clients read a page with 200 as broken metadata and give up.',
    needs: ['wellKnown'],
    async run(_site, { wellKnown }) {
      const problems = wellKnown.flatMap(({ answer }): Verdict[] => {
        if (answer === undefined || answer.status < 200 || answer.status > 399 || isDocument(answer)) return [];
        const instead = hijacker(answer);
        return [failure(`${where(answer)}: ${instead?.what ?? `${answer.status} without JSON`}`, instead?.fix)];
      });
      return problemsOr(problems, `${wellKnown.length} spellings: documents or nothing`);
    },
  }),
  check({
    id: 'resource.content-type',
    title: 'The metadata is application/json',
    reference: 'RFC 9728 section 3.2',
    fix: 'Send Content-Type: application/json with it.',
    needs: ['resources'],
    async run(_site, { resources }) {
      const wrong = resources.filter(({ answer }) => mediaType(answer) !== 'application/json');
      return problemsOr(
        wrong.map(({ answer }) => warning(`${where(answer)} has ${mediaType(answer) || 'no content type'}`)),
        'application/json',
      );
    },
  }),
  check({
    id: 'resource.identifier',
    title: 'Each document names exactly the requested resource',
    reference: 'RFC 9728 section 3.3',
    fix: 'Set the gate’s origin to the address that clients use; behind a proxy, do not derive it from the request.',
    needs: ['resources'],
    async run(_site, { resources }) {
      const problems = resources.flatMap(({ document, resource, answer, path }): Verdict[] => {
        const named = document.resource;
        // RFC 3986 section 6.2.3: for the root alone, "https://host" and "https://host/" are the same address.
        if (named === resource || (path === '' && named === `${resource}/`)) return [];
        return [
          failure(`${where(answer)} names ${JSON.stringify(named)}, not ${resource}: ${difference(named, resource)}`),
        ];
      });
      return problemsOr(problems, resources.map(({ resource }) => resource).join(', '));
    },
  }),
  check({
    id: 'resource.servers',
    title: 'The metadata names its authorization server',
    reference: 'RFC 9728 section 2, MCP authorization (2025-11-25)',
    fix: 'List the issuer, an https URL without query or fragment, in "authorization_servers".',
    needs: ['resources'],
    async run({ origin }, { resources }) {
      const local = isLoopbackName(new URL(origin).hostname);
      const problems = resources.flatMap(({ document, answer }): Verdict[] => {
        const named = strings(document.authorization_servers);
        if (named.length === 0) return [failure(`${where(answer)} names none`)];
        return named.flatMap((issuer) => {
          const url = URL.parse(issuer);
          const safe = url?.protocol === 'https:' || (local && url?.protocol === 'http:');
          return safe && url.search === '' && url.hash === '' ? [] : [failure(`${where(answer)} names "${issuer}"`)];
        });
      });
      const all = new Set(resources.flatMap(({ document }) => strings(document.authorization_servers)));
      return problemsOr(problems, [...all].join(', '));
    },
  }),
  check({
    id: 'resource.bearer-methods',
    title: 'Tokens are accepted only in the header',
    reference: 'RFC 9728 section 2, RFC 6750 section 2.3',
    fix: 'Set "bearer_methods_supported" to ["header"], and accept tokens nowhere else: queries end up in logs.',
    needs: ['resources'],
    async run(_site, { resources }) {
      const problems = resources.flatMap(({ document, answer }): Verdict[] => {
        const others = strings(document.bearer_methods_supported).filter((method) => method !== 'header');
        return others.length === 0 ? [] : [warning(`${where(answer)} offers ${others.join(' and ')} as well`)];
      });
      return problemsOr(problems, 'header');
    },
  }),
  check({
    id: 'resource.scopes',
    title: 'The resource lists only its own scopes',
    reference: 'RFC 9728 section 2, MCP authorization (2025-11-25)',
    fix: 'List in "scopes_supported" what the resource requires, without offline_access, which concerns only the authorization server.',
    needs: ['resources'],
    async run(_site, { resources }) {
      const problems = resources.flatMap(({ document, answer }): Verdict[] => {
        const scopes = document.scopes_supported;
        if (scopes === undefined) return [];
        if (!Array.isArray(scopes) || strings(scopes).length !== scopes.length)
          return [warning(`${where(answer)}: "scopes_supported" is not a list of strings`)];
        return strings(scopes).includes('offline_access') ? [warning(`${where(answer)} lists offline_access`)] : [];
      });
      return problemsOr(problems, `${strings(resources[0].document.scopes_supported).length} scopes`);
    },
  }),
  check({
    id: 'resource.unknown-path',
    title: 'No metadata is invented for unknown resources',
    reference: 'RFC 9728 section 3.3',
    fix: 'Serve metadata of known resources only: never copy the requested path into "resource".',
    needs: ['resources'],
    async run({ origin, ask }) {
      const path = '/coursegate-doctor/never-there';
      const answer = await ask(`${origin}${NAME}${path}`);
      const named = text(jsonObject(answer)?.resource);
      if (answer.status !== 200 || named === undefined) return pass(`an unknown path gets ${answer.status}`);
      if (named.includes(path)) return failure(`an unknown path becomes a resource: ${named}`);
      return warning(`an unknown path gets the metadata of ${named}`);
    },
  }),
] as const;

function isDocument(answer: Answer | undefined): boolean {
  return answer?.status === 200 && jsonObject(answer) !== undefined;
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
