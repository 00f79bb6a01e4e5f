import { GatewayError } from '../errors.ts';
import { isTrustedField, remembered } from '../http/header-names.ts';

/**
 * Fields that gateways set themselves, in this spelling: the generated configuration replaces what a client sends. A
 * DPoP proof is for us.
 */
const OF_GATEWAYS =
  /^(forwarded|x-forwarded-(for|host|port|proto|method|uri|server)|x-original-(method|host|uri)|x-real-ip|x-coursegate-(secret|config)|dpop)$/i;

const isForged = remembered((name) => !OF_GATEWAYS.test(name) && isTrustedField(name));

/**
 * Refuses a request with a field that a backend could take for an identity, an origin or another method, in any
 * spelling. A gateway that drops such fields before it asks never sends one here; any other would forward it to the
 * backend. Throws GatewayError `invalid_request`.
 * @param rawHeaders alternating names and values
 */
export function refuseForged(rawHeaders: readonly string[]): void {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isForged(name)) throw new GatewayError('invalid_request', { message: `The field ${name} is not taken here.` });
  }
}

/** What a repeated field looks like after Envoy has joined it. Neither a token nor a proof contains a comma. */
const BETWEEN: Readonly<Record<string, RegExp>> = {
  authorization: /,\s*(?=(?:bearer|dpop|basic)\b)/i,
  dpop: /,\s*/,
};

/**
 * Takes repeated credentials apart again, so that they are refused as such.
 * @param rawHeaders alternating names and values
 */
export function separateCredentials(rawHeaders: readonly string[]): string[] {
  const fields: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    const between = BETWEEN[name.toLowerCase()];
    for (const one of between === undefined ? [value] : value.split(between)) fields.push(name, one);
  }
  return fields;
}
