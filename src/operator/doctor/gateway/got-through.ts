import { checkEach, failure, type Verdict, warning } from '../finding.ts';
import type { ExaminedGateway, GatewayRequest, Tried } from './gateway.ts';
import { readersOf } from './readings.ts';

/**
 * Whether a request without a valid token reached the backend as one for the protected path. `what` describes the
 * request. The verdict rests on what the backend received, never on the status of the response.
 */
export function gotThrough(
  { echoPath }: ExaminedGateway,
  { echoes }: Pick<Tried, 'echoes'>,
  what: string,
): Verdict | undefined {
  for (const { method, target } of echoes) {
    const readers = readersOf(target, echoPath);
    if (readers === undefined) continue;
    const received = `${what} reached the backend as ${method} ${unmarked(target)}`;
    return readers === 'every server'
      ? failure(received)
      : warning(`${received}, which some servers read as ${echoPath}`);
  }
  return undefined;
}

/** Sends requests without a valid token one after the other: none must get through. */
export function noneGetsThrough(
  gateway: ExaminedGateway,
  good: string,
  requests: Iterable<readonly [what: string, request: GatewayRequest]>,
): Promise<readonly Verdict[]> {
  return checkEach(good, requests, async ([what, request]) => gotThrough(gateway, await gateway.send(request), what));
}

/** A target without the id of the request. */
export function unmarked(target: string): string {
  return target.replace(/[?&]doctor=[0-9a-f]+-\d+\./, '');
}
