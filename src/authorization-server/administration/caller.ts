import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { LoadedConfig } from '../../config/load.ts';
import { GatewayError } from '../../errors.ts';
import { networkOf } from '../../http/client-network.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Counters } from '../../storage/counters.ts';
import { type Clock, jsonEntry, type Store, unixSeconds } from '../../storage/store.ts';
import { SIGNATURE_FIELD, verifySignature, WINDOW } from './signature.ts';

/** The authenticated caller of a command. */
interface Caller {
  /** The subject of the client certificate; undefined when authenticated by signature. */
  readonly certificate: string | undefined;
}

/** What authenticates commands and opens the console, and what refusals are counted and audited with. */
export interface Callers {
  /** The secrets accepted for signatures. */
  readonly secrets: readonly string[];
  /** Client certificate authentication, and the accepted DNS names; undefined when disabled. */
  readonly mtls: { readonly names: readonly string[] | undefined } | undefined;
  readonly store: Store;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly audit: Audit;
}

/** Those that a configuration names. */
export function callersOf({ admin, config }: LoadedConfig, uses: Omit<Callers, 'secrets' | 'mtls'>): Callers {
  const mtls = admin.mtls === undefined ? undefined : { names: config.admin.mtls?.names };
  return { secrets: admin.hmac, mtls, ...uses };
}

/**
 * Authenticates a command. Throws GatewayError `unauthorized`, `too_many_requests`, or `forbidden` when commands are
 * disabled.
 */
export type IdentifyCaller = (request: IncomingMessage, body: Buffer) => Promise<Caller>;

/** Refused commands and webhooks per address and minute that get a reason. Beyond that, they get 429. */
const WRONG = { requests: 30, per: 60 };

/** The failure for a request that is not authenticated. `scheme` is what WWW-Authenticate names. */
export type CallerRefusal = (request: IncomingMessage, reason: string, scheme: string) => GatewayError;

/** Audits and counts refusals, for commands and webhooks together. */
export function callerRefusals({ counters, clock, audit }: Callers): CallerRefusal {
  return (request, reason, scheme) => {
    const { count, resetsAt } = counters.add(`command ${networkOf(request.socket.remoteAddress ?? '')}`, WRONG);
    if (count > WRONG.requests) {
      const wait = Math.max(1, Math.ceil((resetsAt - clock()) / 1000));
      return new GatewayError('too_many_requests', { headers: { 'retry-after': String(wait) } });
    }
    // Beyond the limit above, refusals are not audited one by one.
    audit({ action: 'command_refused', reason, address: request.socket.remoteAddress });
    return new GatewayError('unauthorized', { message: reason, headers: { 'www-authenticate': scheme } });
  };
}

export const SWITCHED_OFF =
  'Commands are disabled. Set admin.hmac (a secret shared with the backend) or admin.mtls (client certificates) in the configuration.';

/**
 * Authenticates by client certificate or by signature; if both are configured, either is enough. Loopback callers are
 * not exempt: all containers of a pod share the loopback interface, and SSRF in the backend could reach it. A valid
 * signature is accepted regardless of failures from the same address, so that an attacker cannot lock out the backend.
 */
export function callerCheck(callers: Callers): IdentifyCaller {
  const { secrets, mtls, store, clock } = callers;
  const refusal = callerRefusals(callers);
  const refuse = (request: IncomingMessage, reason: string) => refusal(request, reason, 'Coursegate-Signature');

  return async (request, body) => {
    if (mtls !== undefined) {
      const certificate = certificateOf(request, mtls.names);
      if (certificate !== undefined) return { certificate: subjectOf(certificate) };
    }
    if (secrets.length === 0) {
      if (mtls === undefined) throw new GatewayError('forbidden', { message: SWITCHED_OFF });
      throw refuse(request, 'a client certificate issued by the authority in admin.mtls.clientCa is required');
    }
    const field = request.headers[SIGNATURE_FIELD];
    const { method = '' } = request;
    const target = (request as { originalUrl?: string }).originalUrl ?? request.url ?? '';
    const now = unixSeconds(clock);
    const signed = { field: typeof field === 'string' ? field : undefined, method, target, body };
    const verdict = verifySignature(signed, secrets, now);
    if (verdict.kind === 'refused') throw refuse(request, verdict.reason);
    // Kept until its time is outside the window, even if the caller's clock is ahead by the whole window.
    const entry = jsonEntry('CommandSignature', verdict.mark, {}, now + 2 * WINDOW + 1);
    if (!(await store.commit([{ op: 'create', entry }], 'vital')))
      throw refuse(request, 'this signed command was already used: sign it again with a new nonce');
    return { certificate: undefined };
  };
}

/** The client certificate, if the TLS layer verified it and it has one of the names. */
export function certificateOf(
  { socket }: IncomingMessage,
  names: readonly string[] | undefined,
): X509Certificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return undefined;
  const named = names === undefined || names.some((name) => certificate.checkHost(name) !== undefined);
  return named ? certificate : undefined;
}

/** The subject of a certificate on one line, for the audit. */
export function subjectOf(certificate: X509Certificate): string {
  return certificate.subject.replaceAll('\n', ',');
}
