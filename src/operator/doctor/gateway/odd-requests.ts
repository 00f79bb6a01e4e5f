import type { ExaminedGateway, GatewayRequest, Tried } from './gateway.ts';

/** A well-formed token that no server has issued. */
export const BAD_TOKEN = 'Bearer doctor-unknown-token';

/** What an auth service may refuse in another way than with 401, or fail at. None has a valid token. */
const ODD: Readonly<Record<string, (gateway: ExaminedGateway) => GatewayRequest>> = {
  'an invalid token': () => ({ authorization: BAD_TOKEN }),
  'Basic instead of Bearer': () => ({ authorization: 'Basic ZG9jdG9yOmRvY3Rvcg==' }),
  'two Authorization fields': () => ({ authorization: BAD_TOKEN, headers: [['Authorization', `${BAD_TOKEN}-2`]] }),
  'an empty token': () => ({ authorization: 'Bearer ' }),
  'a token of 6,000 characters': () => ({ authorization: `Bearer ${'x'.repeat(6000)}` }),
  'a token of 12,000 characters': () => ({ authorization: `Bearer ${'x'.repeat(12_000)}` }),
  'a token that is not UTF-8': () => ({ authorization: 'Bearer \xff\xfe\xc0' }),
  'a token with three dots that is no JWT': () => ({ authorization: 'Bearer eyJ.e.30' }),
  'a query of 5,000 characters': ({ echoPath }) => ({ target: `${echoPath}?x=${'x'.repeat(5000)}` }),
  'a query that is not UTF-8': ({ echoPath }) => ({ target: `${echoPath}?x=%ff%fe\xff` }),
  'a path that is not UTF-8': ({ echoPath }) => ({ target: `${echoPath}/%ff%fe` }),
  'a path of 5,000 characters': ({ echoPath }) => ({ target: `${echoPath}/${'x'.repeat(5000)}` }),
  '90 header fields': () => ({ headers: Array.from({ length: 90 }, (_, at) => [`X-Doctor-${at}`, 'x'] as const) }),
  'a Cookie of 6,000 characters': () => ({ headers: [['Cookie', `x=${'x'.repeat(6000)}`]] }),
};

export interface Odd extends Tried {
  readonly what: string;
}

/** Sends the odd requests, one after the other. */
export async function sendOddRequests(gateway: ExaminedGateway): Promise<readonly Odd[]> {
  const all: Odd[] = [];
  for (const [what, write] of Object.entries(ODD)) all.push({ what, ...(await gateway.send(write(gateway))) });
  return all;
}
