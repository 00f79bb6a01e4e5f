import type { Config } from '../config/schema.ts';
import { currentRequest } from '../http/current-request.ts';
import { requestField } from '../http/header-names.ts';
import { ANONYMOUS } from '../oauth/principal.ts';
import { type Attempt, type Credentials, NO_CREDENTIALS } from './credentials/credential.ts';
import { withParameter } from './credentials/parameter.ts';
import { ownCallFields } from './headers.ts';
import type { Identity } from './identity.ts';
import { makeOwnCall } from './own-call.ts';
import type { Pools } from './pools.ts';
import type { CallUpstream, UpstreamRequest, UpstreamResponse } from './request.ts';
import type { Target } from './target.ts';

/**
 * Makes our own calls to upstreams, on the pools of the protected lane. The upstream's timeout is the deadline of the
 * whole call. A safe call whose kept connection turns out to be closed is made once more, on a new one.
 * Throws as CallUpstream says.
 * Repeated fields of the answer are joined by ', ', Set-Cookie by a line feed, which no value can hold.
 */
export function createCallUpstream(options: {
  upstreams: Config['upstreams'];
  pools: Pools;
  identity: Identity;
  /** What upstreams are shown that know nothing of us. Only for calls that say who they are for. */
  credentials?: Credentials;
  /** Our public origin: a backend that insists on its public name and on https must take these calls too. */
  origin: string;
  /** Is told of each answer: the upstream's name, the status, the milliseconds to its head. */
  answered?: (upstream: string, status: number, milliseconds: number) => void;
}): CallUpstream {
  const { credentials = NO_CREDENTIALS } = options;
  const own = new Map(
    Object.entries(options.upstreams).map(([name, config]) => [name, ownCallFields(config, options.origin)]),
  );

  const send = async (request: UpstreamRequest, attempt: Attempt | undefined): Promise<UpstreamResponse> => {
    const upstream = options.pools.get(request.upstream);
    const identity = await options.identity(request.principal ?? ANONYMOUS, request.upstream, upstream.identity);
    const { fields, servername } = own.get(request.upstream) ?? { fields: {}, servername: '' };
    const mark = request.path.indexOf('?');
    const target = mark === -1 ? { path: request.path, query: '' } : split(request.path, mark);
    const asked = performance.now();
    return makeOwnCall({
      connections: upstream.connections,
      visit: upstream.admission.enter(),
      request: {
        method: request.method,
        path: upstream.pathOf(attempt?.query === undefined ? target : withParameter(target, attempt.query)),
        servername,
        headers: {
          ...ownHeaders(request, attempt),
          ...fields,
          'accept-encoding': 'identity',
          ...references(),
          ...identity,
          ...attempt?.fields,
        },
        body: request.body ?? null,
      },
      deadline: upstream.timeouts.head,
      signal: request.signal,
      answered: (status) => options.answered?.(request.upstream, status, performance.now() - asked),
    });
  };

  return async (request) => {
    const credential = credentials(request.upstream);
    if (credential === undefined || request.principal === undefined) return send(request, undefined);
    for (let before: Attempt | undefined; ; ) {
      const attempt = await credential.attempt(request.principal, request.method, before);
      const answer = await send(request, attempt);
      if ((await attempt.judge?.(answer.status, rawFields(answer))) !== 'again') return answer;
      before = attempt;
    }
  };
}

/** By which names the upstream finds the request that brought a call about; none when no request did. */
function references(): Readonly<Record<string, string>> {
  const provenance = currentRequest()?.provenance;
  if (provenance === undefined) return {};
  const fields: Record<string, string> = { 'x-request-id': provenance.requestId };
  const trace = provenance.traceFields();
  for (let at = 0; at + 1 < trace.length; at += 2) fields[trace[at] as string] = trace[at + 1] as string;
  return fields;
}

function split(text: string, mark: number): Target {
  return { path: text.slice(0, mark), query: text.slice(mark) };
}

/** What a credential looks at, as an answer has it on the wire. */
function rawFields({ headers }: UpstreamResponse): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name === 'set-cookie' ? value.split('\n').flatMap((one) => [name, one]) : [name, value],
  );
}

/** A call is made by our own code, but its fields may come from a member's request: identity is set here alone. */
function ownHeaders(request: UpstreamRequest, attempt: Attempt | undefined): Record<string, string> {
  const set = new Set(Object.keys(attempt?.fields ?? {}).map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(request.headers ?? {}).filter(([name]) => {
      if (set.has(name.toLowerCase())) return false;
      const kind = requestField(name);
      return kind !== 'drop' && kind !== 'trace' && kind !== 'connection';
    }),
  );
}
