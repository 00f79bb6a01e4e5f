import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { type Callers, certificateOf, subjectOf } from '../../authorization-server/administration/caller.ts';
import { cookieValues } from '../../http/cookie-names.ts';
import { isSameSecret } from '../../http/same-secret.ts';
import { unixSeconds } from '../../storage/store.ts';
import { mountOf, ROOT } from './paths.ts';

/** Seconds without a request after which a session ends, and seconds after which it ends in any case. */
const IDLE = 30 * 60;
export const TOTAL = 8 * 3600;
/** Seconds after which the cookie is written again, so that not every page writes it. */
const REFRESHED = 60;

/** The payload and its signature in base64url. */
const VALUE = /^([\w-]{1,200})\.([\w-]{43})$/;
/** Cookies of one name that are tried: another program at this host name may have set one. */
const MOST_COOKIES = 4;

/** A signed-in operator. */
export interface Session {
  readonly id: string;
  /** Unix seconds. */
  readonly began: number;
  /** Unix seconds of the last request that the cookie knows. */
  readonly seen: number;
  /** What the session is bound to: it is valid only as long as this is accepted. */
  readonly bound: Binding;
}

export interface Binding {
  /** Part of the signature: a secret, or the fingerprint of a certificate. */
  readonly to: string;
  /** The subject of the client certificate; undefined for the secret. */
  readonly certificate: string | undefined;
}

export type ConsoleSessions = ReturnType<typeof createSessions>;

/**
 * Sessions as signed cookies: nothing is stored, so they also work while the store is down. A cookie is signed with a
 * key of this gate together with what opened the session. A secret that is no longer accepted, or another client
 * certificate, makes another signature.
 * @param key of this gate: derived from the secret of the store
 */
export function createSessions(key: KeyObject, { secrets, mtls, clock }: Pick<Callers, 'secrets' | 'mtls' | 'clock'>) {
  const sign = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  // Cookies do not tell ports apart: two gates at one address, through two tunnels, need two names.
  const name = `coursegate_console_${sign('cookie').toString('hex').slice(0, 8)}`;
  const macOf = (payload: string, to: string) => sign(`session\0${to}\0${payload}`).toString('base64url');

  const boundToSecret = (secret: string): Binding => ({ to: `secret ${secret}`, certificate: undefined });
  const boundToCertificate = (request: IncomingMessage): Binding | undefined => {
    const certificate = mtls && certificateOf(request, mtls.names);
    return certificate && { to: `certificate ${certificate.fingerprint256}`, certificate: subjectOf(certificate) };
  };

  const read = (value: string, bindings: readonly Binding[]): Session | undefined => {
    const [, payload = '', shown = ''] = VALUE.exec(value) ?? [];
    const bound = bindings.find(({ to }) => isSameSecret(shown, macOf(payload, to)));
    if (bound === undefined) return undefined;
    const [id, began, seen] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, number, number];
    const now = unixSeconds(clock);
    return now - seen < IDLE && now - began < TOTAL ? { id, began, seen, bound } : undefined;
  };

  const attributes = (request: IncomingMessage, age: number) =>
    `Max-Age=${age}; Path=${mountOf(request)}${ROOT}; HttpOnly; SameSite=Strict${request.socket instanceof TLSSocket ? '; Secure' : ''}`;
  const cookie = (request: IncomingMessage, { id, began, seen, bound }: Session) => {
    const payload = Buffer.from(JSON.stringify([id, began, seen])).toString('base64url');
    const age = Math.min(IDLE, began + TOTAL - seen);
    return `${name}=${payload}.${macOf(payload, bound.to)}; ${attributes(request, age)}`;
  };

  return {
    boundToSecret,
    boundToCertificate,

    /** The session of the cookie, if what opened it is still accepted. */
    find(request: IncomingMessage): Session | undefined {
      const certificate = boundToCertificate(request);
      const bindings = [...secrets.map(boundToSecret), ...(certificate === undefined ? [] : [certificate])];
      for (const value of cookieValues(request.headers.cookie, name).slice(0, MOST_COOKIES)) {
        const session = read(value, bindings);
        if (session !== undefined) return session;
      }
      return undefined;
    },

    begin(bound: Binding): Session {
      const now = unixSeconds(clock);
      return { id: randomBytes(16).toString('base64url'), began: now, seen: now, bound };
    },

    /** The Set-Cookie value that extends the session, or undefined if it was extended a moment ago. */
    extended(request: IncomingMessage, session: Session): string | undefined {
      const now = unixSeconds(clock);
      return now - session.seen < REFRESHED ? undefined : cookie(request, { ...session, seen: now });
    },
    cookie,
    cleared: (request: IncomingMessage) => `${name}=; ${attributes(request, 0)}`,

    /** The token of the session's forms. */
    csrf: ({ id }: Session): string => sign(`csrf\0${id}`).toString('base64url'),
    isCsrf(given: string | undefined, session: Session): boolean {
      return isSameSecret(given ?? '', this.csrf(session));
    },
  };
}
