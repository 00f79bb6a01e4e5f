import { failure, type Verdict, warning } from '../finding.ts';
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

/** Sends requests without a valid token one after the other, and resolves to the verdicts about those that got through. */
export async function throughWithout(
  gateway: ExaminedGateway,
  requests: Iterable<readonly [what: string, request: GatewayRequest]>,
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const [what, request] of requests) {
    const verdict = gotThrough(gateway, await gateway.send(request), what);
    if (verdict !== undefined) verdicts.push(verdict);
  }
  return verdicts;
}

/** A target without the id of the request. */
export function unmarked(target: string): string {
  return target.replace(/[?&]doctor=[0-9a-f]+-\d+\./, '');
}
