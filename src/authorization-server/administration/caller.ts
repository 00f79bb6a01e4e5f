import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { GatewayError } from '../../errors.ts';
import { networkOf } from '../../http/client-network.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Counters } from '../../storage/counters.ts';
import { type Clock, type Store, unixSeconds } from '../../storage/store.ts';
import { SIGNATURE_FIELD, verifySignature, WINDOW } from './signature.ts';

/** Who gives a command, as far as that is proved. */
interface Caller {
  /** The subject of the client certificate; undefined: whoever has the shared secret. */
  readonly certificate: string | undefined;
}

export interface CallerOptions {
  /** The secrets that commands may be signed with. */
  readonly secrets: readonly string[];
  /** Whether client certificates are asked for, and of which DNS names; undefined: not. */
  readonly mtls: { readonly names: readonly string[] | undefined } | undefined;
  readonly store: Store;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly audit: Audit;
}

/** Out: who it is. Throws GatewayError: `forbidden` when nobody may, `unauthorized`, `too_many_requests`. */
export type IdentifyCaller = (request: IncomingMessage, body: Buffer) => Promise<Caller>;

/** Wrong signatures of one address in a minute that are told what is wrong with them. */
const WRONG = { requests: 30, per: 60 };

const SWITCHED_OFF =
  'Commands are switched off here. Set admin.hmac (a secret shared with the backend) or admin.mtls (client certificates) in the configuration.';

/**
 * By client certificate or by signature, whichever of them is configured; either is enough. There is no exception for
 * callers on the same machine: in a pod every container is on the same loopback, and so is whatever makes the backend
 * send requests for it. A right signature passes whatever else came from its address, so that nobody can lock it out.
 */
export function callerCheck(options: CallerOptions): IdentifyCaller {
  const { secrets, mtls, store, counters, clock } = options;

  const refuse = (request: IncomingMessage, reason: string): GatewayError => {
    const { count, resetsAt } = counters.add(`command ${networkOf(request.socket.remoteAddress ?? '')}`, WRONG);
    if (count > WRONG.requests) {
      const wait = Math.max(1, Math.ceil((resetsAt - clock()) / 1000));
      return new GatewayError('too_many_requests', { headers: { 'retry-after': String(wait) } });
    }
    // Not each one is told of, where there are many.
    options.audit({
      action: 'command_refused',
      clientId: undefined,
      grantId: undefined,
      member: undefined,
      reason,
      address: request.socket.remoteAddress,
      requestId: undefined,
    });
    return new GatewayError('unauthorized', {
      message: reason,
      headers: { 'www-authenticate': 'Coursegate-Signature' },
    });
  };

  return async (request, body) => {
    if (mtls !== undefined) {
      const certificate = certificateOf(request, mtls.names);
      if (certificate !== undefined) return { certificate };
    }
    if (secrets.length === 0) {
      if (mtls === undefined) throw new GatewayError('forbidden', { message: SWITCHED_OFF });
      throw refuse(request, 'a client certificate of the authority in admin.mtls.clientCa is needed');
    }
    const field = request.headers[SIGNATURE_FIELD];
    const { method = '', url: target = '' } = request;
    const now = unixSeconds(clock);
    const signed = { field: typeof field === 'string' ? field : undefined, method, target, body };
    const verdict = verifySignature(signed, secrets, now);
    if (verdict.kind === 'refused') throw refuse(request, verdict.reason);
    // Kept until its time is too long ago for it, wherever in the window our clock stands.
    const entry = {
      kind: 'CommandSignature',
      id: verdict.mark,
      payload: '{}',
      expiresAt: now + 2 * WINDOW + 1,
      references: {},
    };
    if (!(await store.commit([{ op: 'create', entry }], 'vital')))
      throw refuse(request, 'this signed command was taken before: sign it anew, with another nonce');
    return { certificate: undefined };
  };
}

/** Out: the subject of a certificate that the TLS layer has verified, and that has one of the names. */
function certificateOf({ socket }: IncomingMessage, names: readonly string[] | undefined): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const named = names === undefined || names.some((name) => certificate.checkHost(name) !== undefined);
  return named ? certificate.subject.replaceAll('\n', ',') : undefined;
}
