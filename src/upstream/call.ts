import { currentRequest } from '../http/current-request.ts';
import { requestField } from '../http/header-names.ts';
import { SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { ANONYMOUS, type Principal } from '../oauth/principal.ts';
import { type CallAttempt, NO_CREDENTIALS } from './credentials/credential.ts';
import { withParameter } from './credentials/parameter.ts';
import { type OwnCallPolicy, ownCallPolicy } from './header-policy.ts';
import { addForwardingFields } from './headers.ts';
import { makeOwnCall } from './own-call.ts';
import type {
  CallForPrincipal,
  CallUpstream,
  PrincipalRequest,
  UpstreamAccess,
  UpstreamRequest,
  UpstreamResponse,
} from './request.ts';
import type { Target } from './target.ts';

/**
 * Makes the gate's own calls to upstreams, on the connection pools of the protected lane. The upstream's timeout is the
 * deadline for the whole call. A GET is retried once, on a new connection, if its kept-alive connection turns out to be
 * closed. Throws as documented on CallUpstream.
 * A call that a request causes has the forwarding fields of that request, as if it were forwarded: backends that limit or
 * log by address see the member's, not the gate's.
 * Repeated response fields are joined by ', ', but Set-Cookie by a line feed, which no value can contain.
 * Credentials are only used for calls that have a principal.
 * @param answered called for each response with the upstream's name, the status, and the milliseconds until its head
 * arrived
 */
export function createCallUpstream(
  { upstreams, pools, identity: identityFor, credentials = NO_CREDENTIALS, origin }: UpstreamAccess,
  answered?: (upstream: string, status: number, milliseconds: number) => void,
): CallForPrincipal & CallUpstream {
  const policies = new Map(Object.entries(upstreams).map(([name, config]) => [name, ownCallPolicy(config, origin)]));

  const send = async (request: Request, attempt: CallAttempt | undefined): Promise<UpstreamResponse> => {
    const upstream = pools.get(request.upstream);
    const identity = await identityFor(request.principal ?? ANONYMOUS, request.upstream, upstream.identity);
    const mark = request.path.indexOf('?');
    const target = mark === -1 ? { path: request.path, query: '' } : split(request.path, mark);
    const policy = policies.get(request.upstream) as OwnCallPolicy;
    const headers = Object.entries({
      ...ownHeaders(request, attempt),
      host: policy.host,
      'accept-encoding': 'identity',
      ...identity,
      ...attempt?.fields,
    }).flat();
    addForwardingFields(headers, currentRequest()?.provenance, policy.forwarded);
    const asked = performance.now();
    return makeOwnCall({
      connections: upstream.connections,
      admitted: upstream.admission.enter(),
      request: {
        method: request.method,
        path: upstream.pathOf(attempt?.query === undefined ? target : withParameter(target, attempt.query)),
        servername: policy.servername,
        headers,
        body: request.body ?? null,
      },
      deadline: upstream.timeouts.head,
      signal: request.signal,
      onLine: request.onLine,
      answered: (status) => answered?.(request.upstream, status, performance.now() - asked),
    });
  };

  function call(request: PrincipalRequest): Promise<UpstreamResponse | SessionOver>;
  function call(request: UpstreamRequest): Promise<UpstreamResponse>;
  async function call(request: Request): Promise<UpstreamResponse | SessionOver> {
    const credential = credentials(request.upstream);
    if (credential === undefined || request.principal === undefined) return send(request, undefined);
    for (let before: CallAttempt | undefined; ; ) {
      const attempt = await credential.attempt(request.principal, request.method, before);
      if (attempt === SESSION_OVER) return attempt;
      const answer = await send(request, attempt);
      const disposition = await attempt.inspect?.(answer.status, rawFields(answer));
      if (disposition === SESSION_OVER) return disposition;
      if (disposition !== 'again') return answer;
      before = attempt;
    }
  }
  return call;
}

type Request = UpstreamRequest & { readonly principal?: Principal };

function split(text: string, mark: number): Target {
  return { path: text.slice(0, mark), query: text.slice(mark) };
}

/** The response's fields as they were on the wire, for a credential to inspect. */
function rawFields({ headers }: UpstreamResponse): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name === 'set-cookie' ? value.split('\n').flatMap((one) => [name, one]) : [name, value],
  );
}

/**
 * Our own code makes these calls, but their fields may come from a member's request: identity is only ever set here.
 */
function ownHeaders(request: UpstreamRequest, attempt: CallAttempt | undefined): Record<string, string> {
  const set = new Set(Object.keys(attempt?.fields ?? {}).map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(request.headers ?? {}).filter(([name]) => {
      if (set.has(name.toLowerCase())) return false;
      const kind = requestField(name);
      return kind !== 'drop' && kind !== 'trace' && kind !== 'connection' && kind !== 'via';
    }),
  );
}
