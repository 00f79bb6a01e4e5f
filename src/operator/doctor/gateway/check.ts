import type { About, CheckOutcome } from '../check.ts';
import { Unavailable } from '../unavailable.ts';
import { type Echo, valuesOf } from './echo.ts';
import type { ExaminedGateway, GatewayRequest, Tried } from './gateway.ts';
import { identityFields } from './names.ts';

/** What the first requests found out. The checks start from it. */
export interface GatewayFacts {
  /** The request to the echo path without a token. */
  readonly anonymous: Tried;
  /** The request to the echo path with the token; undefined without a token. */
  readonly withToken: Tried | undefined;
  /** What the backend received of the request with the token. */
  readonly admitted: Echo | undefined;
  /** What the backend received of a request to the open path. */
  readonly open: Echo | undefined;
  /** The fields that the gateway adds to an admitted request. */
  readonly identity: readonly string[];
}

/**
 * What a check cannot do without. `echo`: a request has reached the echo server, else nothing that gets through would
 * show. `refused`: the echo path needs a token.
 */
type Need = 'echo' | 'refused' | 'token' | 'admitted' | 'identity' | 'open' | 'forbidden';

/** Why a check is skipped; undefined if it has what it needs. */
const MISSING: Readonly<Record<Need, (found: GatewayFacts, gateway: ExaminedGateway) => string | undefined>> = {
  echo: ({ admitted, open, anonymous }) =>
    (admitted ?? open ?? anonymous.echoes[0]) === undefined
      ? 'no request reached an echo server, so nothing that gets through would be seen'
      : undefined,
  refused: ({ anonymous }) =>
    anonymous.echoes.length > 0 ? 'the echo path is open to requests without a token' : undefined,
  token: (_found, { token }) =>
    token === undefined ? 'it needs a valid token: --token, or the variable COURSEGATE_DOCTOR_TOKEN' : undefined,
  admitted: ({ admitted }) =>
    admitted === undefined ? 'no request with a valid token reached the echo server' : undefined,
  identity: ({ identity }) =>
    identity.length === 0 ? 'the gateway adds no field that names the member to an admitted request' : undefined,
  open: ({ open }, { openPath }) =>
    open === undefined
      ? `${openPath} does not reach the echo server: name an unprotected path that does with --public`
      : undefined,
  forbidden: (_found, { forbiddenPath }) =>
    forbiddenPath === undefined
      ? 'name a path that needs a scope which the token does not have with --forbidden'
      : undefined,
};

/** One check of the table. */
export interface GatewayCheck extends About {
  /** `theme.name`, as used with --only and --skip. */
  readonly id: string;
  readonly needs: readonly Need[];
  /** Throws NoAnswer and Unavailable. */
  run(gateway: ExaminedGateway, found: GatewayFacts): CheckOutcome | Promise<CheckOutcome>;
}

/** Checks by id that need the same. */
export function gatewayChecks(
  needs: readonly Need[],
  table: Readonly<Record<string, Omit<GatewayCheck, 'id' | 'needs'>>>,
): readonly GatewayCheck[] {
  return Object.entries(table).map(([id, check]) => ({ id, needs, ...check }));
}

/** Why a check cannot run; undefined if it can. */
export function missing(check: GatewayCheck, gateway: ExaminedGateway, found: GatewayFacts): string | undefined {
  for (const need of check.needs) {
    const why = MISSING[need](found, gateway);
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Sends the requests from which the checks start. Throws NoAnswer if the gateway cannot be reached. */
export async function findOut(gateway: ExaminedGateway): Promise<GatewayFacts> {
  const { bearer, openPath } = gateway;
  const anonymous = await gateway.attempt({});
  const withToken = bearer === undefined ? undefined : await gateway.attempt({ authorization: bearer });
  const [open] = (await gateway.attempt({ target: openPath })).echoes;
  const [admitted] = withToken?.echoes ?? [];
  const identity = admitted === undefined ? [] : identityFields(admitted);
  return { anonymous, withToken, admitted, open, identity };
}

/** A request that reaches the echo server for sure, and what the backend received of it. Needs `echo`. */
export function carrier({ bearer, openPath }: ExaminedGateway, { admitted, open, anonymous }: GatewayFacts) {
  const carriers: readonly (readonly [Echo | undefined, GatewayRequest])[] = [
    [admitted, { authorization: bearer }],
    [open, { target: openPath }],
    [anonymous.echoes[0], {}],
  ];
  for (const [echo, attempt] of carriers) if (echo !== undefined) return { echo, attempt };
  throw new Unavailable('no request reached an echo server');
}

/** Whether a field reached the backend with a value that it does not have without the attack. */
export function arrived(echoes: readonly Echo[], usual: Echo, name: string, value: string): boolean {
  const parts = (echo: Echo) => valuesOf(echo, name).flatMap((one) => one.split(',').map((part) => part.trim()));
  return !parts(usual).includes(value) && echoes.some((echo) => parts(echo).includes(value));
}
