import { once } from '../../../http/once.ts';
import { checksOf } from '../check.ts';
import type { FactFinders } from '../find-facts.ts';
import { Unavailable } from '../unavailable.ts';
import type { Echo } from './echo.ts';
import { type Framed, sendFramings } from './framings.ts';
import type { ExaminedGateway, GatewayRequest, Tried } from './gateway.ts';
import { identityFields } from './names.ts';
import { type Odd, sendOddRequests } from './odd-requests.ts';

/** A gateway, and what became of the first requests to it. */
export interface AttackedGateway extends ExaminedGateway {
  /** The request to the echo path without a token. */
  readonly anonymous: Tried;
  /** The request to the echo path with the token; undefined without a token. */
  readonly withToken: Tried | undefined;
  /** The request to the open path. */
  readonly opened: Tried;
}

/** What a check cannot do without. */
export interface GatewayFacts {
  /** A request that reaches the echo server for sure, and what the backend received of it. */
  readonly carrier: { readonly request: GatewayRequest; readonly echo: Echo };
  /** The refused request to the echo path without a token. */
  readonly refused: Tried;
  /** What the backend received of the request with the token. */
  readonly admitted: Echo;
  /** The fields that the gateway adds to an admitted request. */
  readonly identity: readonly string[];
  /** What the backend received of the request to the open path. */
  readonly open: Echo;
  /** The path that needs a scope which the token does not have. */
  readonly forbiddenPath: string;
  /**
   * Sends messages that servers have framed differently, once. They go where the carrier goes. Not before the checks of
   * other themes: a gateway that mistakes one may give the answer to it to a later request.
   */
  readonly framings: () => Promise<readonly Framed[]>;
  /** Sends what an auth service may fail at, once. */
  readonly oddRequests: () => Promise<readonly Odd[]>;
}

/** What a check gets that needs these facts. */
export type Known<N extends keyof GatewayFacts> = AttackedGateway & Pick<GatewayFacts, N>;

/** Makes checks of a gateway. */
export const gatewayChecks = checksOf<AttackedGateway, GatewayFacts>();

/** Sends the requests from which the checks start. Throws NoAnswer if the gateway cannot be reached. */
export async function beginAttack(gateway: ExaminedGateway): Promise<AttackedGateway> {
  const { bearer, openPath, send } = gateway;
  const anonymous = await send({});
  const withToken = bearer === undefined ? undefined : await send({ authorization: bearer });
  return { ...gateway, anonymous, withToken, opened: await send({ target: openPath }) };
}

export const FINDERS: FactFinders<AttackedGateway, GatewayFacts> = {
  carrier({ anonymous, withToken, opened, bearer, openPath }) {
    const sent: readonly (readonly [Tried | undefined, GatewayRequest])[] = [
      [withToken, { authorization: bearer }],
      [opened, { target: openPath }],
      [anonymous, {}],
    ];
    const [carrier] = sent.flatMap(([tried, request]) => tried?.echoes.map((echo) => ({ request, echo })) ?? []);
    return known(carrier, 'no request reached an echo server, so nothing that gets through would be seen');
  },
  refused({ anonymous }) {
    if (anonymous.echoes.length === 0) return anonymous;
    throw new Unavailable('the echo path is open to requests without a token');
  },
  admitted: ({ withToken }) => known(withToken?.echoes[0], 'no request with a valid token reached the echo server'),
  identity(gateway) {
    const names = identityOf(gateway);
    if (names.length > 0) return names;
    throw new Unavailable('the gateway adds no field that names the member to an admitted request');
  },
  open: ({ opened, openPath }) =>
    known(
      opened.echoes[0],
      `${openPath} does not reach the echo server: name an unprotected path that does with --public`,
    ),
  forbiddenPath: ({ forbiddenPath }) =>
    known(forbiddenPath, 'name a path that needs a scope which the token does not have with --forbidden'),
  async framings(gateway, find) {
    const { request } = await find('carrier');
    return once(() => sendFramings(gateway, request));
  },
  oddRequests: (gateway) => once(() => sendOddRequests(gateway)),
};

/** The fields that the gateway adds to an admitted request; none if none was admitted. */
export function identityOf({ withToken }: AttackedGateway): readonly string[] {
  return withToken?.echoes.slice(0, 1).flatMap(identityFields) ?? [];
}

function known<T>(value: T | undefined, why: string): T {
  if (value === undefined) throw new Unavailable(why);
  return value;
}
