import { GatewayError } from '../../errors.ts';

/**
 * The maximum length, in bytes of UTF-8, of each parameter of an authorization request. Anyone can send one, and it is
 * stored until the member answers. The limits are far above what clients send; `state` and `nonce` should be random
 * strings of some dozen characters. Other parameters are unknown to us and not stored.
 */
const LONGEST: Readonly<Record<string, number>> = {
  state: 2048,
  nonce: 1024,
  client_id: 1024,
  redirect_uri: 2048,
  scope: 2048,
  resource: 1024,
  claims: 2048,
  id_token_hint: 4096,
  login_hint: 512,
  ui_locales: 512,
  claims_locales: 512,
  acr_values: 512,
  code_challenge: 256,
  code_challenge_method: 64,
  dpop_jkt: 128,
  request_uri: 512,
  response_type: 128,
  response_mode: 128,
  prompt: 128,
  display: 128,
  max_age: 32,
};

/** Throws GatewayError `invalid_request`, which names the parameter and its limit, if one is too long. */
export function refuseLongParameters(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    const longest = Object.hasOwn(LONGEST, name) ? LONGEST[name] : undefined;
    if (longest !== undefined && Buffer.byteLength(value) > longest)
      throw new GatewayError('invalid_request', { message: `${name} is longer than ${longest} bytes` });
  }
}
