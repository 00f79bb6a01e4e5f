import type { FactFinders } from '../find-facts.ts';
import { Unavailable } from '../unavailable.ts';
import type { AttackedGateway, Carrier } from './attacked-gateway.ts';
import type { Echo } from './echo.ts';
import type { Tried } from './gateway.ts';

/** What a check cannot do without. */
export interface GatewayFacts {
  /** If nothing has reached the echo server, nothing that gets through would show. */
  readonly carrier: Carrier;
  /** The refused request to the echo path without a token. */
  readonly refused: Tried;
  /** What the backend received of the request with the token. */
  readonly admitted: Echo;
  /** The fields that the gateway adds to an admitted request. */
  readonly identity: readonly string[];
  /** What the backend received of a request to the open path. */
  readonly open: Echo;
  /** The path that needs a scope which the token does not have. */
  readonly forbiddenPath: string;
}

export const FINDERS: FactFinders<AttackedGateway, GatewayFacts> = {
  carrier: ({ carrier }) =>
    known(carrier, 'no request reached an echo server, so nothing that gets through would be seen'),
  refused({ anonymous }) {
    if (anonymous.echoes.length === 0) return anonymous;
    throw new Unavailable('the echo path is open to requests without a token');
  },
  admitted: ({ admitted }) => known(admitted, 'no request with a valid token reached the echo server'),
  identity({ identity }) {
    if (identity.length > 0) return identity;
    throw new Unavailable('the gateway adds no field that names the member to an admitted request');
  },
  open: ({ open, openPath }) =>
    known(open, `${openPath} does not reach the echo server: name an unprotected path that does with --public`),
  forbiddenPath: ({ forbiddenPath }) =>
    known(forbiddenPath, 'name a path that needs a scope which the token does not have with --forbidden'),
};

function known<T>(value: T | undefined, why: string): T {
  if (value === undefined) throw new Unavailable(why);
  return value;
}
