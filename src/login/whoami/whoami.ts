import type { AnswerFormat, WhoamiConfig } from '../../config/whoami.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import type { Member } from '../connector.ts';
import { anonymousRules } from './anonymous.ts';
import { answerReader } from './answer.ts';
import { readMember, readVersion } from './member.ts';
import { unusable } from './unusable.ts';

/** Who an answer of the backend's whoami says is signed in. */
export interface Whoami {
  /** What the call should say it accepts. */
  readonly accept: string;
  /**
   * In: the answer, whose redirect was not followed. Out: the member, or undefined when nobody is signed in. Throws
   * GatewayError `login_unavailable` when it says neither: that is never "nobody".
   */
  read(answer: UpstreamResponse): Member | undefined;
}

const ACCEPT: Readonly<Record<AnswerFormat, string>> = {
  json: 'application/json',
  header: '*/*',
  html: 'text/html,application/xhtml+xml',
};

export function createWhoami(config: Omit<WhoamiConfig, 'path'>): Whoami {
  const { format, subject, email, name, authTime, acr, version, anonymous } = config;
  const rules = anonymousRules(config);
  const reader = answerReader(format, [subject, email, name, authTime, acr, version, anonymous.at]);

  return {
    accept: ACCEPT[format],
    read(answer) {
      // RFC 9111 §5.1: a cache that keeps such an answer gives it to whoever asks next.
      if (Number(answer.headers.age ?? 0) !== 0) throw unusable('out of a cache');
      if (rules.byHead(answer) || rules.byBody(answer)) return undefined;
      const valueAt = reader(answer);
      if (rules.byValue(valueAt)) return undefined;
      const found = (selector: string | undefined) => (selector === undefined ? undefined : valueAt(selector));
      const sub = found(subject);
      // Two fields of one name arrive joined: it is not for us to choose.
      if (format === 'header' && String(sub).includes(',')) throw unusable('more than one id of a member');
      return readMember(
        {
          sub,
          email: found(email),
          name: found(name),
          authTime: format === 'json' ? found(authTime) : wholeNumber(found(authTime)),
          acr: found(acr),
        },
        version === undefined ? undefined : readVersion(valueAt(version)),
      );
    },
  };
}

/** Header fields and pages have text only. */
function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}
