/**
 * Reads from the answer of the backend's whoami endpoint which member is signed in. Supports JSON, header fields and
 * HTML pages.
 */
import type { ClaimsConfig } from '../../config/claims.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import type { Member } from '../connector.ts';
import { anonymousRules } from './anonymous.ts';
import { answerReader } from './answer.ts';
import { readClaims } from './claims.ts';
import { readMember, readVersion } from './member.ts';
import { expectedAnswer, explained } from './question.ts';
import type { AnswerFormat, WhoamiConfig } from './settings.ts';
import { unusable } from './unusable.ts';

const ACCEPT: Readonly<Record<AnswerFormat, string>> = {
  json: 'application/json',
  header: '*/*',
  html: 'text/html,application/xhtml+xml',
};

/**
 * A reader for the configured format.
 * @param url - what is requested, for the log, as `shownUrl` writes it
 */
export function createWhoami(config: Omit<WhoamiConfig, 'path'>, url: string, claims: ClaimsConfig = {}) {
  const { format, subject, emailVerified, authTime, acr, version, anonymous } = config;
  const rules = anonymousRules(config);
  const details = eachDetail((detail) => config[detail]);
  const selectors = [subject, ...Object.values(details), emailVerified, authTime, acr, version, anonymous.at];
  const reader = answerReader(format, selectors);
  const question = { url, expected: expectedAnswer(config) };

  const read = (answer: UpstreamResponse): Member | undefined => {
    // A cache that stores such an answer would return one member's identity to another (RFC 9111 section 5.1).
    if (Number(answer.headers.age ?? 0) !== 0) throw unusable('out of a cache');
    if (rules.byHead(answer) || rules.byBody(answer)) return undefined;
    const valueAt = reader(answer);
    if (rules.byValue(valueAt)) return undefined;
    const found = (selector: string | undefined) => (selector === undefined ? undefined : valueAt(selector));
    const sub = found(subject);
    // Repeated fields arrive joined by commas. It would be unsafe to choose one of the ids.
    if (format === 'header' && String(sub).includes(',')) throw unusable('more than one id of a member');
    return readMember({
      sub,
      ...eachDetail((detail) => found(details[detail])),
      emailVerified: found(emailVerified),
      authTime: format === 'json' ? found(authTime) : wholeNumber(found(authTime)),
      acr: found(acr),
      version: version === undefined ? undefined : readVersion(valueAt(version)),
      claims: readClaims(claims, valueAt),
    });
  };

  return {
    /** The Accept field of the request. */
    accept: ACCEPT[format],
    /**
     * Returns the member, or undefined if no member is signed in. Throws GatewayError `login_unavailable` if the answer
     * says neither, which must never be taken for "not signed in".
     * @param answer - any redirect must not have been followed
     */
    read(answer: UpstreamResponse): Member | undefined {
      try {
        return read(answer);
      } catch (thrown) {
        throw explained(thrown, question, answer.status);
      }
    },
    /** Adds what was requested to an error of the request itself. */
    failed: (thrown: unknown) => explained(thrown, question, undefined),
  };
}

/** Header fields and pages contain only text. */
function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
