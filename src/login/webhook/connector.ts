import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClaimsConfig } from '../../config/claims.ts';
import { requiredSecret } from '../../config/read-secrets.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import { unixSeconds } from '../../storage/store.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import type { CredentialCheck, Login, Member } from '../connector.ts';
import { evenRefusals } from '../even-refusals.ts';
import type { LoginParts } from '../login-parts.ts';
import { retryAfter } from '../retry-after.ts';
import { readClaims } from '../whoami/claims.ts';
import { jsonAnswer, jsonOrNothing, valueIn } from '../whoami/json-answer.ts';
import { readMember, readSubject } from '../whoami/member.ts';
import { askBackend, unusable } from '../whoami/unusable.ts';
import type { WebhookLoginConfig } from './settings.ts';

const FIELD = 'coursegate-signature';
/** A missing account is reported like a wrong password, so that account names are not revealed. */
const WRONG = new Set([401, 403, 404]);

export function open(config: WebhookLoginConfig, parts: LoginParts): Login {
  const check = webhookCheck(config, parts);
  return { shape: 'credentials', check: evenRefusals(check, config.attempts.refusalTime) };
}

/**
 * The `webhook` connector. It posts the credentials to the backend as signed JSON; the backend's answer is signed, too,
 * and covers our nonce. An answer without a valid signature, whether yes, no or a proxy's error page, is a failure, and
 * never counts as a wrong password.
 */
function webhookCheck(config: WebhookLoginConfig, { call, secrets, clock, claims }: LoginParts): CredentialCheck {
  const secret = requiredSecret(secrets, 'login.secret');
  const ask = askBackend(call);
  const sign = (...lines: readonly string[]) => createHmac('sha256', secret).update(lines.join('\n')).digest();

  return async ({ username, password, address }) => {
    const body = JSON.stringify({ username, password, address });
    const time = String(unixSeconds(clock));
    const nonce = randomBytes(16).toString('hex');
    const signature = sign('coursegate-login-v1', time, nonce, digest(body)).toString('hex');
    const answer = await ask({
      upstream: config.upstream,
      method: 'POST',
      path: config.path,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        [FIELD]: `t=${time},n=${nonce},v1=${signature}`,
      },
      body,
      signal: AbortSignal.timeout(config.timeout * 1000),
    });
    const expected = sign('coursegate-login-answer-v1', nonce, String(answer.status), digest(answer.body));
    if (!isSigned(answer, expected)) throw unusable(`${answer.status}, which it has not signed`);
    if (answer.status === 200) return { kind: 'member', member: memberOf(answer.body, claims) };
    if (answer.status === 429) return { kind: 'slow_down', retryAfter: retryAfter(answer.headers['retry-after']) };
    const suspended = answer.status === 403 ? suspendedIn(answer.body) : undefined;
    if (suspended !== undefined) return { kind: 'suspended', sub: suspended };
    if (WRONG.has(answer.status)) return { kind: 'wrong' };
    throw unusable(`${answer.status}`);
  };
}

function isSigned({ headers }: UpstreamResponse, expected: Buffer): boolean {
  const shown = /^v1=([0-9a-f]{64})$/.exec(headers[FIELD] ?? '')?.[1];
  return shown !== undefined && timingSafeEqual(Buffer.from(shown, 'hex'), expected);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The id of a member whose password is right, in an answer such as `{"sub":"1001","suspended":true}`. */
function suspendedIn(body: string): string | undefined {
  const said = jsonOrNothing(body);
  return valueIn(said, '/suspended') === true ? readSubject(valueIn(said, '/sub')) : undefined;
}

function memberOf(body: string, claims: ClaimsConfig): Member {
  const said = jsonAnswer(body);
  return readMember({
    sub: valueIn(said, '/sub'),
    ...eachDetail((_, { claim }) => valueIn(said, `/${claim}`)),
    emailVerified: valueIn(said, '/email_verified'),
    authTime: valueIn(said, '/auth_time'),
    acr: valueIn(said, '/acr'),
    version: valueIn(said, '/version'),
    claims: readClaims(claims, (pointer) => valueIn(said, pointer)),
  });
}
