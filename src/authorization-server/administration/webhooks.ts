import type { IncomingMessage } from 'node:http';
import type { MemberEvent, WebhookConfig } from '../../config/admin.ts';
import { GatewayError } from '../../errors.ts';
import { mediaType, readBody } from '../../http/body.ts';
import { parseBoundedJson, RECORD_BOUNDS } from '../../http/bounded-json.ts';
import { at } from '../../http/json-pointer.ts';
import { isSubject } from '../../oauth/subject.ts';
import type { Log } from '../../operations/log.ts';
import { jsonEntry, unixSeconds } from '../../storage/store.ts';
import type { AccountControl, CommandedBy } from './account-control.ts';
import { type Callers, callerRefusals } from './caller.ts';
import { webhookProof } from './webhook-proof.ts';

interface WebhookParts {
  readonly webhooks: Readonly<Record<string, WebhookConfig>>;
  /** By name. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly account: Pick<AccountControl, 'revokeMember' | 'suspendMember' | 'resumeMember'>;
  readonly log: Pick<Log, 'warn'>;
}

/**
 * Authenticates a webhook of a platform and acts on it like the command. Resolves to the answer, which says what was
 * ignored: a status other than 200 would make the platform repeat the webhook, or turn it off.
 * Throws GatewayError `not_found`, `payload_too_large`, `unauthorized`, `too_many_requests`, `invalid_request` or
 * `store_unavailable`.
 */
export type ReceiveWebhook = (name: string, request: IncomingMessage, requestId: string) => Promise<object>;

/** Bytes. Platforms send whole orders. */
const BODY_LIMIT = 256 * 1024;

const UNPROVED =
  'no header field has an HMAC-SHA256 of the body with the secret of this webhook, nor the secret itself';

/** The kind of the entries for webhooks that have resumed a member, kept for a year. */
const USED = 'ResumeWebhook';
const USED_LIFETIME = 365 * 86_400;

export function webhookReceiver(callers: Callers, { webhooks, secrets, account, log }: WebhookParts): ReceiveWebhook {
  const { store, clock } = callers;
  const refusal = callerRefusals(callers);

  /** A replayed `revoke` or `suspend` takes away what is gone. A replayed `resume` would lift a later suspension. */
  const resumeOnce = async (id: string, decision: CommandedBy, mark: string): Promise<object> => {
    if ((await store.get(USED, mark)) !== undefined) return ignored('this resume was already received');
    const answer = await account.resumeMember(id, decision);
    const entry = jsonEntry(USED, mark, {}, unixSeconds(clock) + USED_LIFETIME);
    await store.commit([{ op: 'put', entry }], 'vital');
    return answer;
  };

  return async (name, request, requestId) => {
    const webhook = Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
    const secret = secrets.get(name);
    if (webhook === undefined || secret === undefined)
      throw new GatewayError('not_found', { message: 'admin.webhooks has no webhook of this name.' });
    const body = await readBody(request, BODY_LIMIT);
    const proof = webhookProof(request.headers, body, secret);
    if (proof === undefined) throw refusal(request, UNPROVED, 'Coursegate-Webhook');
    const document = documentOf(request, body);
    const event = eventIn(document, webhook.event);
    if (event === undefined) return ignored('no event is configured for this value');
    const id = memberIn(document, webhook.member);
    if (id === undefined) {
      log.warn({ webhook: name, member: webhook.member }, 'a webhook names no member at its pointer');
      return ignored(`there is no ID of a member at ${webhook.member}`);
    }
    const decision: CommandedBy = {
      by: 'backend',
      reason: `webhook ${name}`,
      certificate: undefined,
      address: request.socket.remoteAddress,
      requestId,
    };
    switch (event) {
      case 'revoke':
        return account.revokeMember(id, decision);
      case 'suspend':
        return account.suspendMember(id, decision);
      case 'resume':
        return resumeOnce(id, decision, `${name} ${proof}`);
    }
  };
}

function ignored(why: string): { readonly ignored: string } {
  return { ignored: why };
}

function documentOf({ headers }: IncomingMessage, body: Buffer): unknown {
  const text = body.toString('utf8');
  if (mediaType(headers['content-type']) === 'application/x-www-form-urlencoded') return formFields(text);
  try {
    return parseBoundedJson(text, RECORD_BOUNDS);
  } catch (cause) {
    throw new GatewayError('invalid_request', { message: 'The body must be JSON or a form.', cause });
  }
}

/** The fields by name. A repeated one has no value: there is no telling which of its values counts. */
function formFields(text: string): Readonly<Record<string, string | undefined>> {
  const fields = new Map<string, string | undefined>();
  for (const [name, value] of new URLSearchParams(text)) fields.set(name, fields.has(name) ? undefined : value);
  return Object.fromEntries(fields);
}

function eventIn(document: unknown, event: WebhookConfig['event']): MemberEvent | undefined {
  if (typeof event === 'string') return event;
  const [entry] = Object.entries(event);
  if (entry === undefined) return undefined;
  const [pointer, meanings] = entry;
  const value = at(document, pointer, NO_VALUE);
  const isText = ['string', 'number', 'boolean'].includes(typeof value);
  return isText && Object.hasOwn(meanings, String(value)) ? meanings[String(value)] : undefined;
}

/** Of a list of several elements: acting on its first member would leave out the others. */
const NO_VALUE = () => undefined;

function memberIn(document: unknown, pointer: string): string | undefined {
  const value = at(document, pointer, NO_VALUE);
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  return isSubject(id) ? id : undefined;
}
