import type { Dispatcher } from 'undici';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { requestField } from '../http/header-names.ts';
import { ANONYMOUS } from '../oauth/principal.ts';
import { upstreamFailure, wasStaleConnection } from './failures.ts';
import { ownCallFields } from './headers.ts';
import type { Identity } from './identity.ts';
import type { Pools } from './pools.ts';
import type { CallUpstream, UpstreamRequest } from './request.ts';

const LARGEST_ANSWER = 2 * 1024 * 1024;

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
  /** Our public origin: a backend that insists on its public name and on https must take these calls too. */
  origin: string;
}): CallUpstream {
  const own = new Map(
    Object.entries(options.upstreams).map(([name, config]) => [name, ownCallFields(config, options.origin)]),
  );
  return async (request) => {
    const upstream = options.pools.get(request.upstream);
    const identity = await options.identity(request.principal ?? ANONYMOUS, request.upstream, upstream.identity);
    const deadline = AbortSignal.timeout(upstream.timeouts.head);
    const { fields, servername } = own.get(request.upstream) ?? { fields: {}, servername: '' };
    const dispatch: Dispatcher.RequestOptions & { servername: string } = {
      method: request.method,
      path: upstream.pathOf({ path: request.path, query: '' }),
      servername,
      headers: { ...ownHeaders(request), ...fields, 'accept-encoding': 'identity', ...identity },
      body: request.body ?? null,
      signal: request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]),
    };
    const { connections } = upstream;
    const visit = upstream.admission.enter();
    try {
      const answer = await connections.request(dispatch).catch((thrown: unknown) => {
        if (request.method !== 'GET' || !wasStaleConnection(thrown)) throw thrown;
        return connections.fresh.request(dispatch);
      });
      visit.answered(answer.statusCode);
      return { status: answer.statusCode, headers: joined(answer.headers), body: await textOf(answer) };
    } catch (thrown) {
      const failure = upstreamFailure(thrown);
      // A caller that gave up says nothing of the upstream.
      if (request.signal?.aborted !== true) visit.failed(failure);
      throw failure;
    } finally {
      visit.leave();
    }
  };
}

/** A call is made by our own code, but its fields may come from a member's request: identity is set here alone. */
function ownHeaders(request: UpstreamRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers ?? {}).filter(([name]) => {
      const kind = requestField(name);
      return kind !== 'drop' && kind !== 'trace' && kind !== 'connection';
    }),
  );
}

async function textOf(answer: Dispatcher.ResponseData): Promise<string> {
  const coding = answer.headers['content-encoding'];
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LARGEST_ANSWER) throw unusable('more than 2 MiB');
    chunks.push(chunk);
  }
  if (coding !== undefined && coding !== 'identity' && length > 0) throw unusable('a content coding nobody asked for');
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function unusable(what: string): GatewayError {
  return new GatewayError('upstream_invalid', { cause: new Error(`The upstream answered with ${what}.`) });
}

function joined(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined)
      fields[name] = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : value;
  }
  return fields;
}
