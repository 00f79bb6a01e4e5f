import { hash } from 'node:crypto';
import { type RouteConfig, segmentNames } from '../config/route.ts';
import type { Config } from '../config/schema.ts';
import { GatewayError, renderFailure } from '../errors.ts';
import { setFields, writeAnswer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { canonicalJson } from '../http/canonical-json.ts';
import type { Exchange } from '../http/exchange.ts';
import { foldedName } from '../http/header-names.ts';
import { decodedComponent } from '../http/percent.ts';
import type { SessionOver } from '../oauth/challenge.ts';
import { requestFraming } from '../upstream/framing.ts';
import { methodOverrides } from '../upstream/method-override/method-override.ts';
import type { Rewrite } from '../upstream/rewrite.ts';
import type { Given, HeldCall } from './approvals.ts';
import type { Hold, HoldOutcome } from './hold.ts';
import { LONGEST_BODY, SAFE } from './settings-checks.ts';
import { shownBody } from './shown-body.ts';

/** Forwards a request of an app. */
export type ForwardRequest = (
  exchange: Exchange,
  rewrite: Rewrite | undefined,
) => Promise<SessionOver | undefined> | undefined;

/** Fields that say what a request does, or to what. Others are of the client and its connection. */
const MEANINGFUL =
  /^(?:content-(?:type|language|disposition|range|location)|if-.+|range|prefer|idempotency-key|(?:accept|api|x-api)-version)$/;

/**
 * Holds each request of a route until its member has approved exactly that request, and then sends it once. Requests
 * that only read pass.
 * @param limit the largest body that the route takes, in bytes
 */
export function heldRoute(
  entry: RouteConfig,
  { upstreams, hold, limit }: { readonly upstreams: Config['upstreams']; readonly hold: Hold; readonly limit: number },
  forward: ForwardRequest,
): ForwardRequest {
  const upstream = upstreams[entry.upstream];
  const version = hash('sha256', canonicalJson([entry, upstream]), 'base64url');
  const allowed = new Set(upstream?.headers.request.allow.map(foldedName));
  const segments = segmentNames(entry.match);

  const decide = async (exchange: Exchange, rewrite: Rewrite | undefined): Promise<SessionOver | undefined> => {
    const { request, target, principal } = exchange;
    if (principal.kind !== 'member') throw new GatewayError('internal');
    const method = request.method ?? '';
    const sent = await sentBody(exchange, Math.min(limit, LONGEST_BODY));
    const rawHeaders = sent?.rawHeaders ?? request.rawHeaders;
    const body = sent?.body ?? Buffer.alloc(0);
    const fields = pairs(rawHeaders).filter(([name]) => allowed.has(foldedName(name)) || MEANINGFUL.test(name));
    const type = fields.find(([name]) => name === 'content-type')?.[1] ?? '';
    // What forwarding would refuse is refused before a member is asked.
    const overrides = methodOverrides((other) => other === method);
    overrides.checkQuery(target.query);
    const scan = overrides.scan(rawHeaders);
    scan?.push(body);
    scan?.end();

    const at = `${method} ${target.path}${target.query}`;
    const call: HeldCall = {
      member: principal.sub,
      clientId: principal.clientId,
      grantId: principal.grantId,
      what: { route: entry.match },
      version,
      call: JSON.stringify([at, fields, hash('sha256', body, 'base64url')]),
    };
    const { given, content } = shownBody(type, body);
    const path = target.path.split('/');
    const inPath = [...segments].map(([name, index]) => ({ name, text: decodedComponent(path[index] ?? '') ?? '' }));
    const inQuery = [...new URLSearchParams(target.query)].map(([name, text]) => ({ name, text }));
    const others = fields.filter(([name]) => name !== 'content-type').map(([name, text]) => ({ name, text }));
    const all: readonly Given[] = [...inPath, ...inQuery, ...given, ...others];
    const held = await hold(call, async () => ({
      scopes: entry.scopes,
      request: at,
      given: all,
      ...(content && { content }),
    }));
    if (held.kind === 'approved')
      return forward(sent === undefined ? exchange : { ...exchange, replacement: sent }, rewrite);
    if (held.kind === 'unasked') throw new GatewayError('internal');
    refuse(exchange, held);
    return undefined;
  };

  return (given, rewrite) => {
    // A parameter such as `_method` would ask for a request that nobody approved.
    const exchange = { ...given, admits: undefined };
    return SAFE.includes(given.request.method ?? '') ? forward(exchange, rewrite) : decide(exchange, rewrite);
  };
}

/** The body as it will be sent, and the fields with it; undefined if there is none. */
async function sentBody({ request, replacement }: Exchange, most: number): Promise<Exchange['replacement']> {
  if (replacement !== undefined || requestFraming(request).kind === 'none') return replacement;
  return { body: await readBody(request, most), rawHeaders: request.rawHeaders };
}

/** Names in lower case, with their values. */
function pairs(raw: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1] ?? ''] as const] : []));
}

const MESSAGES = {
  waiting: 'Nothing was done yet: the member has to approve this request at the URL. Then send the same request again.',
  declined: 'The member declined this request, and nothing was done.',
} as const;

/** No challenge: another token would not help, and a client would ask for one. */
function refuse(
  { response, record, ownFields, provenance }: Exchange,
  held: Exclude<HoldOutcome, { kind: 'approved' | 'unasked' }>,
): void {
  const code = held.kind === 'waiting' ? 'approval_required' : 'approval_declined';
  record.outcome = 'refused';
  record.reason = code;
  setFields(response, ownFields);
  const url = held.kind === 'waiting' ? { url: held.url } : {};
  const details = { code, approval: { ...url, expires_at: held.expiresAt } };
  const refusal = new GatewayError('forbidden', { message: MESSAGES[held.kind], details });
  const reference = { requestId: provenance.requestId, traceId: provenance.traceId() };
  writeAnswer(response, renderFailure(refusal, 'problem', reference));
}
