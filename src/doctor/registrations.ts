import { type Answer, type JsonObject, jsonObject, text } from './answer.ts';
import type { Ask } from './ask.ts';

/** A client that the audit has registered. */
export interface Registered {
  readonly clientId: string;
  readonly body: JsonObject;
  readonly answer: Answer;
}

/** What was registered for the audit, so that it can be taken back. */
export interface Registrations {
  /** Registers a client (RFC 7591 §3.1). Out: the answer, and the client where one was made. */
  register(endpoint: string, metadata: object): Promise<{ answer: Answer; client: Registered | undefined }>;
  /** Deletes one at once. Out: the status of the answer to DELETE; undefined when it gives no way. */
  takeBackNow(client: Registered): Promise<number | undefined>;
  /** Deletes what can be deleted (RFC 7592 §2.3). Out: the ids of the clients that are still there. */
  takeBack(): Promise<readonly string[]>;
}

/** In: how to ask while the audit runs, and how to tidy up, when its time may be over. */
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

/** Deletes one where there is a way. The token goes to nobody but the origin that has given it. */
async function remove({ body, answer }: Registered, ask: Ask): Promise<number | undefined> {
  const uri = URL.parse(text(body.registration_client_uri) ?? '');
  const token = text(body.registration_access_token);
  if (uri === null || token === undefined || uri.origin !== new URL(answer.url).origin) return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) return undefined;
  const { status } = await ask(uri.href, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });
  return status;
}
