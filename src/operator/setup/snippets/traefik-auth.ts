import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import { namePattern } from '../../../http/cookie-names.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { FAMILY_MEMBERS } from '../../../http/trusted-headers.ts';
import { CORS_HEADERS } from '../../../request/cors.ts';
import { FORGED_FIELDS, spellings } from './forged-names.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayView, inLines, inSingleQuotes } from './gateway-file.ts';
import type { PluginPlan, ProtectedPath } from './plugin-plan.ts';
import { DECODED, ownTargets, targetsOf, UNUSUAL_DECODED } from './targets.ts';

export const traefikAuth = {
  name: 'traefik-auth',
  title: 'Traefik',
  plugin: 'traefik',
  unixSockets: false,
  templates: ['traefik/traefik.yaml'],
  quoted: inSingleQuotes,
  view: viewOf,
} as const satisfies AskingGateway;

/** What coursegate or Traefik says itself, and not the client. */
const TRACE = [...['x-request-id', 'proxy-authorization'].flatMap(spellings), 'proxy', 'traceparent', 'tracestate'];

/** For the file provider of Traefik 3. */
function viewOf(plan: PluginPlan) {
  const { origin, site, ownPatterns } = plan;
  const view = gatewayView(plan);
  return {
    ...view,
    publicHost: new URL(origin.url).hostname,
    tls: origin.scheme === 'https',
    own: ownTargets(ownPatterns, DECODED).join('|'),
    unusual: UNUSUAL_DECODED,
    asked: asked(plan.protectedPaths),
    upstreams: view.upstreams.map((upstream) => ({
      ...upstream,
      asked: asked(upstream.paths),
      passHost: upstream.host === origin.host,
      dropped: removed(['authorization', 'dpop', ...view.asking.map(({ name }) => name), ...upstream.droppedFields]),
      hidden: removed(upstream.hiddenFields.filter((name) => !Object.hasOwn(CORS_HEADERS, name))),
    })),
    site: site !== undefined,
    siteUrl: site === undefined ? 'http://127.0.0.1:8000' : `${site.scheme}://${site.authority}`,
    forged: removed(IDENTITY_FIELDS.flatMap((name) => spellings(name.toLowerCase()))),
    trace: removed(TRACE),
    removed: removed(['cookie', 'connection', ...FORGED_FIELDS.flatMap(ofFamily)]),
    askedAt: DECISION_PATHS.forwardAuth,
  };
}

function asked(paths: readonly ProtectedPath[]): string {
  return paths.map(({ pattern }) => targetsOf(pattern, DECODED)).join('|');
}

/** The names that a name with an asterisk stands for, as far as products document them. Others reach the gate, which refuses. */
function ofFamily(name: string): readonly string[] {
  return name.includes('*') ? FAMILY_MEMBERS.filter(namePattern(name)) : [name];
}

/** Entries of a map that say of each field that it is removed. */
function removed(names: readonly string[]): readonly string[] {
  return inLines(
    names.map((name) => `${name}: ''`),
    170,
  );
}
