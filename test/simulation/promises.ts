import { createEventsWatch } from './events-watch.ts';
import { TTL } from './gate.ts';
import type { Connection, End, Look, Token, TokenRequest } from './known.ts';

/** The assertions of docs/proof.md, and what no client may meet: a 500, or a 503 while the store works. */
const PROMISES = [
  'OneSuccessor',
  'CodeOnce',
  'NothingLost',
  'ReuseEnds',
  'NotSignedOut',
  'RevokedAtOnce',
  'RevokedWithinBound',
  'SuspendedIsCutOff',
  'NeverBoth',
  'NothingRevived',
  'NothingUnknown',
  'KeysVerify',
  'KeyBound',
  'ProofOnce',
  'EventsTrue',
  'EventsArrive',
  'ReloadWhole',
  'NoFailure',
] as const;

export type PromiseName = (typeof PROMISES)[number];

export interface Violation {
  readonly promise: PromiseName;
  /** Simulated milliseconds after the beginning. */
  readonly at: number;
  readonly what: string;
}

/** Milliseconds for which a gate may admit what another one has revoked: docs/proof.md. */
const BOUND = 5000;
/** How much earlier than the replay window a repeat counts as late here: for wrong clocks, and the time of a request. */
const MARGIN = 3500;

/** Milliseconds that a request waits for the store, in all: src/storage/patience.ts. */
const PATIENCE = 800;

interface Attempt {
  readonly start: number;
  readonly life: string;
}

export interface PromisesOptions {
  readonly now: () => number;
  /** The replay window, in milliseconds. */
  readonly window: number;
  /** When a gate's life ended; undefined while it goes on. */
  readonly diedAt: (life: string) => number | undefined;
  /** Whether the store has or had trouble, so that a gate may answer 503. */
  readonly hasTrouble: () => boolean;
  /** Whether gates and store work throughout, so that no window of an answer is longer than another. */
  readonly windowsEnd: boolean;
  readonly broken: (violation: Violation) => void;
  /** Something happened that makes a promise say something. */
  readonly situation: (name: string) => void;
}

/** Compares what clients are told with what is promised to them. It knows nothing of the store but which commits a failover lost. */
export type Promises = ReturnType<typeof createPromises>;

export function createPromises({ now, window, diedAt, hasTrouble, windowsEnd, broken, situation }: PromisesOptions) {
  /** Whether nothing acknowledged was lost by a failover. */
  let safe = true;
  const open = new Set<TokenRequest>();
  /** Who was given something for a proof. */
  const proofs = new Map<string, string>();
  const attempts = new Map<Token, Attempt[]>();
  const looks: Look[] = [];
  const heard: { readonly life: string; readonly at: number }[] = [];
  /** When the suspension of a member was acknowledged. */
  const suspended = new Map<string, number>();
  const mayBeSuspended = new Set<string>();
  const mayHaveEnded = new WeakSet<Connection>();
  const superseded = new WeakSet<TokenRequest>();
  const wasLate = new WeakSet<TokenRequest>();
  const isBroken = (promise: PromiseName, what: string): void => broken({ promise, at: now(), what });
  const doubt = (connection: Connection, why: string): void => {
    connection.doubt ??= { since: now(), why };
    connection.causes.add(why);
  };
  const told = (tokens: readonly Token[]): readonly Token[] => tokens.filter(({ lostAt }) => lostAt === undefined);
  const isLate = (token: Token): boolean =>
    (attempts.get(token) ?? []).some(({ start, life }) => {
      // The window of a code ends by itself, also when the gate that redeemed it is gone.
      const died = token.kind === 'code' ? undefined : diedAt(life);
      return now() - start > window - MARGIN && (died === undefined || died - start > window - MARGIN);
    });
  const isOver = (token: Token): boolean =>
    told(token.successors).some((next) =>
      // For a while, a used code is only refused, and a used refresh token gets its answer again: the app may have lost it.
      token.kind === 'code'
        ? now() - next.told > window + MARGIN
        : told(next.successors).length > 0 || (windowsEnd && now() - next.told > 2 * window),
    );
  /** Whether a gate may take it for a reuse: its token was an old one from the start, or became one on its way. */
  const mayEnd = (request: TokenRequest): boolean => superseded.has(request) || isOver(request.shown);

  const failed = (status: number, body: unknown, what: string, start: number): void => {
    if (status === 503) {
      if (!hasTrouble() && now() - start < PATIENCE)
        isBroken('NoFailure', `${what} was answered 503 while the store worked`);
    } else if (status >= 500) isBroken('NoFailure', `${what} was answered ${status}: ${JSON.stringify(body)}`);
  };

  const withoutKey = (what: string): void => isBroken('KeyBound', `${what} without the key that it is bound to`);
  const usedProof = (proof: string, name: string): void => {
    const other = proofs.get(proof);
    proofs.set(proof, name);
    if (safe && other !== undefined)
      isBroken('ProofOnce', `${other} and ${name} had the same proof, and both were given something`);
  };

  const events = createEventsWatch({ now, isSafe: () => safe, isBroken });

  return {
    doubt,
    events,
    withoutKey,
    usedProof,
    isSafe: () => safe,
    /**
     * A failover, or a power loss, lost these tokens, or none.
     * @param durable - whether commits wait for the standby: then nothing that was told is lost, and every promise still holds
     */
    lostWrites(lost: readonly Token[], durable: boolean): void {
      if (durable) {
        for (const { name } of lost) isBroken('NothingLost', `${name} was told, and the store has lost it`);
        return;
      }
      safe = false;
      for (const token of lost) token.lostAt ??= now();
    },

    /** A request with a code or refresh token reaches a gate. */
    begins(request: TokenRequest): void {
      const { shown, who, life = '' } = request;
      if (request.lacksKey) return;
      const { connection } = shown;
      if (isOver(shown)) {
        superseded.add(request);
        doubt(connection, 'what was used long ago was shown');
      }
      if (who === 'thief') doubt(connection, 'a thief has a token');
      else if (shown.kind === 'refresh' && shown.successors.length > 0) doubt(connection, 'a replaced token was shown');
      for (const other of open)
        if (other.shown.connection === connection && other.shown !== shown)
          doubt(connection, 'an older request was on its way');
      if (isLate(shown)) {
        wasLate.add(request);
        doubt(connection, 'a repeat came late');
      }
      attempts.set(shown, [...(attempts.get(shown) ?? []), { start: now(), life }]);
      open.add(request);
    },

    /** Its client has no answer: the gate died, or the answer was lost on the way. */
    unanswered(request: TokenRequest): void {
      open.delete(request);
      if (mayEnd(request)) mayHaveEnded.add(request.shown.connection);
    },

    /** @param given - the tokens in the answer: the refresh token first */
    answered(request: TokenRequest, status: number, body: unknown, given: readonly Token[]): void {
      open.delete(request);
      const { shown, start, name } = request;
      const { connection } = shown;
      const what = `${name} with ${shown.name}`;
      failed(status, body, what, start);
      if (request.lacksKey) {
        if (status === 200) withoutKey(`${what} got tokens`);
        return;
      }
      // It was not looked at further, because someone has copied the request.
      if (status === 400 && (body as { error?: string }).error === 'invalid_dpop_proof') {
        situation('a copied proof is refused');
        return;
      }
      if (status === 200) {
        if (request.proof !== undefined) usedProof(request.proof, name);
        for (const token of given)
          if (token.kind === 'refresh' && !shown.successors.includes(token)) shown.successors.push(token);
        if (told(shown.successors).length > 1) {
          const names = shown.successors.map((one) => one.name).join(' and ');
          isBroken(shown.kind === 'code' ? 'CodeOnce' : 'OneSuccessor', `${shown.name} was exchanged for ${names}`);
        }
        if (shown.lostAt !== undefined)
          isBroken('NothingUnknown', `${what} got tokens, though the store had lost ${shown.name}`);
        if (superseded.has(request)) {
          const isUsed = shown.successors.some((next) => told(next.successors).length > 0);
          if (isUsed) isBroken('NeverBoth', `${what} got tokens, though what replaced it was used`);
          else isBroken('ReuseEnds', `${what} got tokens, though it was used long ago`);
        }
        if (!safe) return;
        events.isGoingOn(connection, start, what);
        if (shown.kind === 'code') events.connected(connection);
        const end = connection.ends.find(({ at }) => at < start);
        if (end?.as === 'reuse') isBroken('ReuseEnds', `${what} got tokens after a reuse was answered`);
        else if (end?.as === 'revoked') isBroken('NothingRevived', `${what} got tokens after the revocation`);
        else if (end !== undefined || (suspended.get(connection.member) ?? Infinity) < start)
          isBroken('SuspendedIsCutOff', `${what} got tokens after the suspension`);
        return;
      }
      if (status >= 500 || !safe) return;
      if (superseded.has(request)) {
        // A suspended member's token is refused before it is compared.
        if (mayBeSuspended.has(connection.member)) return;
        // It may have ended before, and another gate may be the one that said so, or is about to.
        const isEnding = [...open].some((other) => other.shown.connection === connection && mayEnd(other));
        const isEnded = isEnding || mayHaveEnded.has(connection) || connection.ends.length > 0;
        const by = isEnded ? '' : (request.life ?? '');
        connection.ends.push({ at: now(), by, as: 'reuse' });
        return;
      }
      const isRepeated = (attempts.get(shown)?.length ?? 0) > 1;
      if (connection.doubt !== undefined || wasLate.has(request)) return;
      const answer = `${what} was answered ${status} ${JSON.stringify(body)}`;
      if (shown.kind === 'code') {
        const hasExpired = now() - shown.told > TTL.code * 1000 - MARGIN;
        if (!isRepeated && !hasExpired) isBroken('NothingLost', `${answer}, though the approval was acknowledged`);
      } else isBroken('NotSignedOut', answer);
    },

    /** Something that may end these connections begins. */
    ending(connections: readonly Connection[], why: string): void {
      for (const connection of connections) {
        doubt(connection, why);
        mayHaveEnded.add(connection);
      }
    },
    /** It was acknowledged by a gate. */
    ended(connections: readonly Connection[], by: string, as: End['as']): void {
      if (safe) for (const connection of connections) connection.ends.push({ at: now(), by, as });
    },
    suspending: (member: string) => mayBeSuspended.add(member),
    suspended: (member: string) => suspended.set(member, now()),
    resuming: (member: string) => suspended.delete(member),
    failed,
    reload: (what: string) => isBroken('ReloadWhole', what),
    /** A gate does not publish a key that a gate has signed with. */
    unverifiable: (signer: string, gate: string) =>
      isBroken('KeysVerify', `${gate} does not publish the key that ${signer} signed with`),

    /** A message of the bus has arrived. */
    heard: (life: string) => heard.push({ life, at: now() }),
    looks: (look: Look) => looks.push(look),
    /** A gate has decided about an access token. */
    decided(look: Look, admitted: boolean): void {
      const { token, life, start } = look;
      const { connection } = token;
      const what = `${token.name} was admitted by ${life}`;
      if (!admitted) {
        if (safe && token.lostAt === undefined && connection.doubt === undefined)
          isBroken('NothingLost', `${token.name} was refused by ${life}, though nothing ended ${connection.name}`);
        return;
      }
      // A look-up that began before the failover has the answer of the primary that was lost.
      const wasLost = token.lostAt !== undefined && token.lostAt <= start;
      if (wasLost && look.lookedUp) isBroken('NothingUnknown', `${what}, though the store had lost it`);
      if (!safe) return;
      if (look.lookedUp) events.isGoingOn(connection, start, what);
      for (const end of connection.ends) {
        if (end.at >= start) continue;
        if (end.by === life) {
          const promise = { revoked: 'RevokedAtOnce', reuse: 'ReuseEnds', suspended: 'SuspendedIsCutOff' } as const;
          isBroken(promise[end.as], `${what}, which had said that ${connection.name} has ended`);
        } else if (mayRemember(look, end)) situation('admitted after the end, from a cache of another gate');
        else {
          const promise = end.as === 'suspended' ? 'SuspendedIsCutOff' : 'RevokedWithinBound';
          isBroken(
            promise,
            `${what} ${Math.round(start - end.at)} ms after ${end.by} had said that ${connection.name} has ended`,
          );
        }
      }
    },
  };

  /** Whether the gate looked the token up before the end, less than 5 seconds ago on its clock, and has heard nothing since. */
  function mayRemember({ token, life, start, startOnClock }: Look, { at }: End): boolean {
    if (heard.some((one) => one.life === life && one.at > at && one.at < start)) return false;
    return looks.some(
      (one) =>
        one.token === token &&
        one.life === life &&
        one.lookedUp &&
        one.start <= at &&
        one.endOnClock !== undefined &&
        startOnClock - one.endOnClock <= BOUND,
    );
  }
}
