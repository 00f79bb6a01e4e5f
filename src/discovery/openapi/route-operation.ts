import type { Config, RouteConfig } from '../../config/schema.ts';
import { sizeText } from '../../http/size-text.ts';
import type { RouteProtection } from '../described-service.ts';
import type { Json } from './json.ts';
import { answer, failures, LEFT, responseRef, UNREAD_RESPONSES } from './responses.ts';
import { scopeTitles, securityOf, securityText } from './security.ts';

const BODY_METHODS: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];
const ANYTHING = { '*/*': {} };

/** Summaries for routes that need no scope. */
const OPEN_TO_MEMBERS: Readonly<Record<string, string>> = {
  GET: 'Read from the school',
  POST: 'Send to the school',
  PUT: 'Replace at the school',
  PATCH: 'Change at the school',
  DELETE: 'Delete at the school',
};

/** What the gate itself does at a configured route, whatever its upstream is. */
export interface RouteFacts {
  /** Used if the upstream's document has no summary. */
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Json[];
  /** Responses of the gate itself. */
  readonly responses: Json;
  readonly tag: string;
}

/** The facts about one method of a configured route. */
export function routeFacts(
  config: Config,
  entry: RouteConfig,
  protection: RouteProtection,
  method: string,
): RouteFacts {
  const limit = entry.bodyLimit ?? config.limits.requestBody;
  const takesBody = BODY_METHODS.includes(method);
  const own = [...Object.keys(entry.query ?? {}), ...Object.keys(entry.body ?? {})];
  const filled =
    own.length === 0
      ? []
      : [`${own.map((name) => `\`${name}\``).join(', ')} is set to the member who asks, whatever is sent.`];
  const size = takesBody && Number.isFinite(limit) ? [`A body has at most ${sizeText(limit)}.`] : [];
  const titles = scopeTitles(config);
  const named = [...protection.scopes].map((scope) => titles[scope] ?? scope).join('; ');
  return {
    summary: named === '' ? (OPEN_TO_MEMBERS[method] ?? 'Ask the school') : named,
    description: [securityText(protection), ...filled, ...size].join(' '),
    security: securityOf(protection),
    responses: {
      401: responseRef('Unauthorized'),
      403: responseRef('RouteForbidden'),
      ...failures('problem', ...(takesBody ? ([413] as const) : []), 429, 502, 503, 504),
      ...UNREAD_RESPONSES,
    },
    tag: areaOf(protection),
  };
}

/** An operation for which there is no upstream document. */
export function plainOperation(facts: RouteFacts, method: string): Json {
  const requestBody = ['POST', 'PUT', 'PATCH'].includes(method) ? { requestBody: { content: ANYTHING } } : {};
  return {
    summary: facts.summary,
    description: `${facts.description} What it takes and gives is the school’s own.`,
    ...requestBody,
    responses: {
      '2XX': answer('What the school answers.', ANYTHING, LEFT),
      ...facts.responses,
      default: answer('Any other answer of the school.', ANYTHING, LEFT),
    },
  };
}

/** The tag of a route: the area of its first scope. */
function areaOf({ scopes }: RouteProtection): string {
  const [first] = scopes;
  return first === undefined ? 'other' : (first.split(':', 1)[0] ?? first);
}
