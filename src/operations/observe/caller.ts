import type { IncomingMessage } from 'node:http';

/**
 * Who seems to have sent a request: an app with a token of ours, somebody with credentials of the site's own, a form of a
 * page, a page with the site's session, a page that is known by its header fields, or somebody else.
 */
export type Caller = 'app' | 'credentials' | 'form' | 'session' | 'page' | 'other';

interface KnownOfCaller {
  /** The public origin, which is that of the site's pages. */
  readonly origin: string;
  /** Whether the request has a valid token of a member. */
  readonly isApp: boolean;
  /** Whether it has a session cookie of the site. */
  readonly hasSession: boolean;
}

/** Fields that scripts of pages send: to tell the site that they are scripts, and tokens against CSRF. */
const SCRIPT_FIELDS = [
  'x-requested-with',
  'x-wp-nonce',
  'x-csrf-token',
  'x-csrftoken',
  'x-xsrf-token',
  'x-frappe-csrf-token',
  'x-livewire',
  'x-inertia',
  'hx-request',
  'turbo-frame',
];
const FORM = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const KEY_FIELDS = ['authorization', 'x-api-key'];
/** Credentials in the query, as of WooCommerce, Moodle and others. */
const KEY_IN_QUERY = /[?&](consumer_key|oauth_consumer_key|wstoken|api_?key|access_token)=/i;

/** Reads the header fields and the query; keeps nothing of them. */
export function callerOf({ url = '', headers }: IncomingMessage, { origin, isApp, hasSession }: KnownOfCaller): Caller {
  if (isApp) return 'app';
  if (KEY_FIELDS.some((name) => headers[name] !== undefined) || KEY_IN_QUERY.test(url)) return 'credentials';
  if (FORM.test(headers['content-type'] ?? '')) return 'form';
  if (hasSession) return 'session';
  const isPage =
    SCRIPT_FIELDS.some((name) => headers[name] !== undefined) ||
    /^same-(origin|site)$/.test(String(headers['sec-fetch-site'] ?? '')) ||
    headers.origin === origin ||
    headers.referer?.startsWith(`${origin}/`) === true;
  return isPage ? 'page' : 'other';
}
