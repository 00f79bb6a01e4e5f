import { GatewayError } from '../../errors.ts';
import type { WhoamiConfig } from './settings.ts';

const SECRET_NAME = /key|token|secret|pass|auth|sign?|code|session/i;
/** In characters. Values that say what is asked for, such as `whoami`, are shorter; secrets are longer. */
const LONGEST_SHOWN = 16;

/** A URL for logs and reports. Query values that may be secrets are replaced by `…`. */
export function shownUrl(base: string, path: string): string {
  const [place = '', ...queries] = path.split('?');
  const query = queries.join('?').replace(/([^&=]*)=([^&]*)/g, (whole, name: string, value: string) => {
    const open = value.length <= LONGEST_SHOWN && !SECRET_NAME.test(name);
    return open ? whole : `${name}=…`;
  });
  return `${base.replace(/\/$/, '')}${place}${query === '' ? '' : `?${query}`}`;
}

/** What whoami has to answer, as a phrase. */
export function expectedAnswer({ format, subject, anonymous }: Omit<WhoamiConfig, 'path'>): string {
  const id = {
    json: `the member's ID at ${subject || 'the top of the JSON document'}`,
    header: `the member's ID in the header ${subject}`,
    html: "a page in which `subject` finds the member's ID",
  }[format];
  const nobody = [
    ...anonymous.statuses.map(String),
    ...(anonymous.redirects === false ? [] : ['a redirect']),
    ...(anonymous.body === undefined ? [] : ['a page that matches `anonymous.body`']),
    ...(anonymous.values.length === 0 ? [] : ['one of `anonymous.values`']),
  ];
  const last = nobody.pop();
  if (last === undefined) return `200 with ${id}`;
  const listed = nobody.length === 0 ? last : `${nobody.join(', ')} or ${last}`;
  return `200 with ${id}, or ${listed} if no one is signed in`;
}

/** The request to whoami as the log names it. */
export interface WhoamiQuestion {
  /** As `shownUrl` writes it. */
  readonly url: string;
  /** As `expectedAnswer` describes it. */
  readonly expected: string;
}

/**
 * Adds to the error for an unusable answer what was requested and expected, for the log. Other errors are returned
 * unchanged.
 * @param status of the answer; undefined if there was none
 */
export function explained(thrown: unknown, { url, expected }: WhoamiQuestion, status: number | undefined): unknown {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'login_unavailable') return thrown;
  const { cause } = thrown;
  if (status === undefined)
    return new GatewayError('login_unavailable', {
      cause: new Error(`whoami at ${url} did not answer. Expected: ${expected}.`, { cause }),
    });
  const said = cause instanceof Error ? cause.message.replace(/^The backend answered (.*)\.$/, '$1') : '';
  const returned = said === String(status) ? said : `${status}: ${said}`;
  return new GatewayError('login_unavailable', {
    cause: new Error(`whoami at ${url} returned ${returned}. Expected: ${expected}.`),
  });
}
