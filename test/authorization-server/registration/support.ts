import { rawRequest } from '../../support/raw.ts';
import type { World } from '../../support/world.ts';

export const CALLBACK = 'https://app.example/callback';

/** For worlds that register more clients than one address may. */
export const MANY = { clients: { registration: { perAddressPerMinute: 100_000 } } };

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
}

export async function call(
  world: World,
  method: string,
  path: string,
  options: { body?: unknown; raw?: string | Buffer; token?: string; type?: string } = {},
): Promise<Answer> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const answer = await rawRequest(world.origin, {
    method,
    path,
    headers: {
      ...(body === undefined
        ? {}
        : { 'content-type': options.type ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    },
    ...(body === undefined ? {} : { body }),
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: answer.text.startsWith('{') ? (JSON.parse(answer.text) as Record<string, unknown>) : {},
  };
}

export function register(world: World, metadata: Record<string, unknown>): Promise<Answer> {
  return call(world, 'POST', '/api/oauth/register', { body: { redirect_uris: [CALLBACK], ...metadata } });
}

/** Whether an authorization request may redirect to this URI: if so, the member is asked to sign in. */
export async function mayRedirect(world: World, clientId: unknown, redirectUri: string): Promise<boolean> {
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: String(clientId),
    redirect_uri: redirectUri,
    scope: 'openid',
    state: 's',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    resource: world.origin,
  });
  const { status, headers, text } = await rawRequest(world.origin, { path: `/oauth/authorize?${parameters}` });
  if (status === 303 && String(headers.location).includes('/oauth/interaction/')) return true;
  if (status === 400 && text.includes('<main id="error"') && headers.location === undefined) return false;
  throw new Error(`neither: ${status} ${headers.location} ${text.slice(0, 300)}`);
}
