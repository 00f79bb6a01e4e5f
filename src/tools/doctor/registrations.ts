import { type Answer, type JsonObject, jsonObject, text } from './answer.ts';
import type { Ask } from './ask.ts';

/** A client that the audit has registered. */
export interface Registered {
  readonly clientId: string;
  readonly body: JsonObject;
  readonly answer: Answer;
}

/** The clients registered for the audit, so that they can be deleted. */
export interface Registrations {
  /** Registers a client (RFC 7591 section 3.1). `client` is undefined if the registration failed. */
  register(endpoint: string, metadata: object): Promise<{ answer: Answer; client: Registered | undefined }>;
  /** Deletes a client now. Resolves to the status of the DELETE; undefined if the registration cannot be deleted. */
  takeBackNow(client: Registered): Promise<number | undefined>;
  /** Deletes all clients (RFC 7592 section 2.3). Resolves to the ids of those that could not be deleted. */
  takeBack(): Promise<readonly string[]>;
}

/** `ask` is used during the audit, and `tidy` for the cleanup, which may run after the audit's time is over. */
export function createRegistrations(ask: Ask, tidy: Ask): Registrations {
  const made: Registered[] = [];
  return {
    async register(endpoint, metadata) {
      const answer = await ask(endpoint, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(metadata),
      });
      const body = jsonObject(answer) ?? {};
      const clientId = answer.status >= 200 && answer.status < 300 ? text(body.client_id) : undefined;
      if (clientId === undefined) return { answer, client: undefined };
      const client = { clientId, body, answer };
      made.push(client);
      return { answer, client };
    },
    async takeBackNow(client) {
      const status = await remove(client, ask);
      if (isGone(status)) made.splice(made.indexOf(client), 1);
      return status;
    },
    async takeBack() {
      const left: string[] = [];
      for (const client of made.splice(0)) {
        const status = await remove(client, tidy).catch(() => undefined);
        if (!isGone(status)) left.push(client.clientId);
      }
      return left;
    },
  };
}

const isGone = (status: number | undefined) => status === 204 || status === 200;

/** Deletes a client if possible. The registration token is sent only to the origin that issued it. */
async function remove({ body, answer }: Registered, ask: Ask): Promise<number | undefined> {
  const uri = URL.parse(text(body.registration_client_uri) ?? '');
  const token = text(body.registration_access_token);
  if (uri === null || token === undefined || uri.origin !== new URL(answer.url).origin) return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) return undefined;
  const { status } = await ask(uri.href, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  return status;
}
