import { LONGEST_BODY, SAFE } from '../../approvals/settings-checks.ts';
import type { Config, RouteConfig } from '../../config/schema.ts';
import { sizeText } from '../../http/amounts.ts';
import type { JsonObject } from '../../http/json-object.ts';
import type { RouteProtection } from '../described-service.ts';
import { ANY_RESPONSE, ANY_SUCCESS, failures, responseRef, UNREAD_RESPONSES } from './responses.ts';
import { scopeTitles, securityOf, securityText } from './security.ts';

const BODY_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

const HELD =
  'The member approves each request: the first one is answered with 403 and the address of the page for them, and the same request is sent again after that.';

/** Summaries for routes that need no scope. */
const OPEN_TO_MEMBERS: Readonly<Record<string, string>> = {
  GET: 'Read from the course site',
  POST: 'Send to the course site',
  PUT: 'Replace at the course site',
  PATCH: 'Change at the course site',
  DELETE: 'Delete at the course site',
};

export type RouteFacts = ReturnType<typeof routeFacts>;

/** What the gate itself does for one method of a configured route, whatever its upstream is. */
export function routeFacts(config: Config, entry: RouteConfig, protection: RouteProtection, method: string) {
  const isHeld = entry.approve === true && !SAFE.includes(method);
  const limit = Math.min(
    entry.bodyLimit ?? config.limits.requestBody,
    isHeld ? LONGEST_BODY : Number.POSITIVE_INFINITY,
  );
  const takesBody = BODY_METHODS.includes(method);
  const own = [...Object.keys(entry.query ?? {}), ...Object.keys(entry.body ?? {})];
  const filled =
    own.length === 0
      ? []
      : [`${own.map((name) => `\`${name}\``).join(', ')} is always set to the ID of the requesting member.`];
  const size = takesBody && Number.isFinite(limit) ? [`The body is limited to ${sizeText(limit)}.`] : [];
  const held = isHeld ? [HELD] : [];
  const titles = scopeTitles(config);
  const named = [...protection.scopes].map((scope) => titles[scope] ?? scope).join('; ');
  return {
    /** Used if the upstream's document has no summary. */
    summary: named === '' ? (OPEN_TO_MEMBERS[method] ?? 'Request from the course site') : named,
    description: [securityText(protection), ...filled, ...size, ...held].join(' '),
    security: securityOf(protection),
    /** Responses of the gate itself. */
    responses: {
      401: responseRef('Unauthorized'),
      403: responseRef(isHeld ? 'RouteHeld' : 'RouteForbidden'),
      ...failures('problem', ...(takesBody ? [413] : []), 429, 502, 503, 504),
      ...UNREAD_RESPONSES,
    } as JsonObject,
    tag: areaOf(protection),
  };
}

/** An operation for which there is no upstream document. */
export function plainOperation(facts: RouteFacts, method: string): JsonObject {
  const requestBody = ['POST', 'PUT', 'PATCH'].includes(method) ? { requestBody: { content: { '*/*': {} } } } : {};
  return {
    summary: facts.summary,
    description: `${facts.description} The course site defines the request and the response.`,
    ...requestBody,
    responses: {
      ...ANY_SUCCESS,
      ...facts.responses,
      ...ANY_RESPONSE,
    },
  };
}

/** The tag of a route: the area of its first scope. */
function areaOf({ scopes }: RouteProtection): string {
  const [first] = scopes;
  return first === undefined ? 'other' : (first.split(':', 1)[0] ?? first);
}
