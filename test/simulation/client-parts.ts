import { withinRequest } from '../../src/http/current-request.ts';
import { PROVENANCE } from './gate.ts';
import type { GivenTokens } from './given-tokens.ts';
import type { Ground } from './ground.ts';
import type { Connection, Token } from './known.ts';
import type { Plan } from './plan.ts';
import type { Promises } from './promises.ts';
import type { createProofs } from './proofs.ts';
import type { World } from './world.ts';

/** What everyone works with who asks gates. */
export interface ClientParts {
  readonly plan: Plan;
  readonly world: World;
  readonly promises: Promises;
  readonly ground: Ground;
  readonly tokens: GivenTokens;
  readonly situations: Set<string>;
  readonly proofs: ReturnType<typeof createProofs>;
}

/** What an app holds, and who copies from it. */
export interface Holder {
  connection: Connection | undefined;
  code: Token | undefined;
  refresh: Token | undefined;
  /** The refresh token that the app has replaced. */
  replaced: Token | undefined;
  readonly access: Token[];
  /** An app does one thing at a time. */
  busy: boolean;
  stolen: Token | undefined;
}

export const TOKEN = '/api/oauth/token';
export const REVOCATION = '/api/oauth/revoke';

/** Does it as a request that a gate has received: its calls of the store share a time limit. */
export function inRequest<T>(run: () => Promise<T>): Promise<T> {
  return withinRequest({ provenance: PROVENANCE, userAgent: '' }, run);
}

/** What was thrown, as an answer. */
export function failureOf({ status = 500, stack }: { readonly status?: number; readonly stack?: string }) {
  return { status, body: status === 500 ? stack : undefined };
}
