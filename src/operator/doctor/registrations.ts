import type { JsonObject } from '../../http/json-object.ts';
import { jsonObject, type SiteAnswer, text } from './answer.ts';
import type { Ask } from './ask.ts';

/** A client that the audit has registered. */
export interface Registered {
  readonly clientId: string;
  readonly body: JsonObject;
  readonly answer: SiteAnswer;
}

/** The response to a registration. `client` is undefined if the registration failed. */
export interface TriedRegistration {
  readonly answer: SiteAnswer;
  readonly client: Registered | undefined;
}

/** Registers a client (RFC 7591 section 3.1), and adds it to `made`. */
export async function register(
  ask: Ask,
  made: Set<Registered>,
  endpoint: string,
  metadata: object,
): Promise<TriedRegistration> {
  const headers = { 'content-type': 'application/json' };
  const answer = await ask(endpoint, { method: 'POST', headers, body: JSON.stringify(metadata) });
  const body = jsonObject(answer) ?? {};
  const clientId = answer.status >= 200 && answer.status < 300 ? text(body.client_id) : undefined;
  if (clientId === undefined) return { answer, client: undefined };
  const client = { clientId, body, answer };
  made.add(client);
  return { answer, client };
}

/**
 * Deletes a client (RFC 7592 section 2.3), and takes it from `made`. Resolves to the status of the DELETE; undefined if
 * the registration cannot be deleted. The registration token is sent only to the origin that issued it.
 */
export async function remove(ask: Ask, made: Set<Registered>, client: Registered): Promise<number | undefined> {
  const uri = URL.parse(text(client.body.registration_client_uri) ?? '');
  const token = text(client.body.registration_access_token);
  if (uri === null || token === undefined || uri.origin !== new URL(client.answer.url).origin) return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) return undefined;
  const { status } = await ask(uri.href, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  if (status === 204 || status === 200) made.delete(client);
  return status;
}

/** Deletes all clients. Resolves to the ids of those that could not be deleted. */
export async function removeAll(ask: Ask, made: Set<Registered>): Promise<readonly string[]> {
  for (const client of made) await remove(ask, made, client).catch(() => undefined);
  return [...made].map(({ clientId }) => clientId);
}
