import { once } from '../../../http/once.ts';
import type { Echo } from './echo.ts';
import { type Framed, sendFramings } from './framings.ts';
import type { ExaminedGateway, GatewayRequest, Tried } from './gateway.ts';
import { identityFields } from './names.ts';
import { type Odd, sendOddRequests } from './odd-requests.ts';

/** A request that reaches the echo server for sure, and what the backend received of it. */
export interface Carrier {
  readonly request: GatewayRequest;
  readonly echo: Echo;
}

/** A gateway, and what became of the first requests to it. */
export interface AttackedGateway extends ExaminedGateway {
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
  readonly carrier: Carrier | undefined;
  /** Sends messages that servers have framed differently, once. They go where the carrier goes. */
  framings(): Promise<readonly Framed[]>;
  /** Sends what an auth service may fail at, once. */
  oddRequests(): Promise<readonly Odd[]>;
}

/** Sends the requests from which the checks start. Throws NoAnswer if the gateway cannot be reached. */
export async function beginAttack(gateway: ExaminedGateway): Promise<AttackedGateway> {
  const { bearer, openPath, send } = gateway;
  const anonymous = await send({});
  const withToken = bearer === undefined ? undefined : await send({ authorization: bearer });
  const [open] = (await send({ target: openPath })).echoes;
  const [admitted] = withToken?.echoes ?? [];
  const carriers: readonly (readonly [Echo | undefined, GatewayRequest])[] = [
    [admitted, { authorization: bearer }],
    [open, { target: openPath }],
    [anonymous.echoes[0], {}],
  ];
  const [carrier] = carriers.flatMap(([echo, sent]) => (echo === undefined ? [] : [{ echo, request: sent }]));
  return {
    ...gateway,
    ...{ anonymous, withToken, admitted, open, carrier },
    identity: admitted === undefined ? [] : identityFields(admitted),
    framings: once(() => sendFramings(gateway, carrier?.request ?? {})),
    oddRequests: once(() => sendOddRequests(gateway)),
  };
}
