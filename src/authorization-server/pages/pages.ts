import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Logo } from '../../config/logo.ts';
import type { PageLanguage } from '../../config/pages.ts';
import type { GatewayError } from '../../errors.ts';
import { writeAnswer } from '../../http/answer.ts';
import { currentRequest } from '../../http/current-request.ts';
import type { Handler } from '../../http/exchange.ts';
import { PAGE_HEADERS } from '../../http/html.ts';
import { palette } from '../../http/palette.ts';
import { codePath, readInstalled } from '../../installation.ts';
import type { Clock } from '../../storage/store.ts';
import { appsPath, carriedBy } from '../connected-apps/target.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { failurePage, type NextSteps, type OAuthRefusal, refusalPage } from './error.ts';
import { chooseLanguage } from './language.ts';
import { type Frame, type MemberPage, renderPage } from './layout.ts';
import { catalogueOf, createWords, type Words } from './words.ts';

export interface PagesOptions {
  readonly school: string;
  readonly origin: string;
  readonly colour: string;
  readonly languages: readonly PageLanguage[];
  readonly support?: string | undefined;
  readonly policyUri?: string | undefined;
  readonly tosUri?: string | undefined;
  /** The link to the course site, if there is an address for it. */
  readonly home: string | undefined;
  readonly logo: Logo | undefined;
  readonly clock: Clock;
}

/** The gate's own pages: branding, language, and the header fields of every page. */
export type Pages = ReturnType<typeof createPages>;

/**
 * One year, without includeSubDomains: the gate does not decide for other hosts of the domain (RFC 6797 section 6.1).
 */
const HTTPS_ONLY = { 'strict-transport-security': 'max-age=31536000' };

/** An SVG opened directly is a document of the gate's origin. This CSP prevents scripts and loads, and sandboxes it. */
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export function createPages(options: PagesOptions) {
  const { school, logo } = options;
  const styles = readInstalled(codePath('authorization-server/pages/pages.css'));
  const sheet = Buffer.concat([Buffer.from(palette(options.colour)), styles]);
  const always = { ...PAGE_HEADERS, ...(options.origin.startsWith('https:') ? HTTPS_ONLY : {}) };
  const catalogues = new Map(options.languages.map((language) => [language.tag, catalogueOf(language)]));
  const spoken = [...catalogues.keys()];
  const frame: Omit<Frame, 'apps'> = {
    school,
    stylesheetUrl: versioned(ENDPOINTS.stylesheet, sheet),
    logoUrl: logo === undefined ? undefined : versioned(ENDPOINTS.logo, logo.bytes),
    home: options.home,
    support: options.support,
    policyUri: options.policyUri,
    tosUri: options.tosUri,
  };

  const send = (
    response: ServerResponse,
    status: number,
    page: (words: Words) => MemberPage,
    headers: Readonly<Record<string, string>> = {},
  ): void => {
    const acceptLanguage = response.req.headers['accept-language'];
    const uiLocales = currentRequest()?.uiLocales;
    const { language, asked } = chooseLanguage(spoken, uiLocales, acceptLanguage);
    const words = createWords(language, school, catalogues.get(language));
    writeAnswer(response, {
      status,
      headers: {
        ...always,
        'content-language': language,
        ...headers,
        ...(asked && { vary: [headers.vary, 'Accept-Language'].filter(Boolean).join(', ') }),
      },
      body: renderPage(page(words), words, { ...frame, apps: appsLink() }),
    });
  };

  const nextSteps = ({ req }: ServerResponse, status: number, fields: Readonly<Record<string, string>>): NextSteps => {
    const mayPass = status >= 500 || status === 429;
    const wait = Number(fields['retry-after'] ?? Number.NaN);
    return {
      offered: mayPass && req.method === 'GET' && req.url?.startsWith(USED_ONCE) !== true,
      wait: Number.isFinite(wait) ? Math.max(1, wait) : undefined,
      home: options.home,
      apps: appsLink(),
      at: new Date(options.clock()),
      traceId: currentRequest()?.provenance.traceId(),
    };
  };

  return {
    school,
    send,
    /** Shows the error of an authorization request that must not be redirected to its redirect URI. */
    refuse: (response: ServerResponse, status: number, refusal: OAuthRefusal) =>
      send(response, status, (words) => refusalPage(words, refusal, nextSteps(response, status, {}))),
    fail(response: ServerResponse, failure: GatewayError, requestId: string): void {
      const { status, headers } = failure;
      const next = nextSteps(response, status, headers);
      send(response, status, (words) => failurePage(words, failure, requestId, next), headers);
    },
    stylesheet: asset(sheet, { 'content-type': 'text/css; charset=utf-8' }),
    /** Undefined when no logo is configured. */
    logo:
      logo === undefined
        ? undefined
        : asset(logo.bytes, { 'content-type': logo.type, 'content-security-policy': INERT }),
  };
}

/** Addresses whose GET uses something up: a second one cannot succeed. */
const USED_ONCE = `${ENDPOINTS.signIn}/callback/`;

/** The page of connected apps, in the languages that the app of the current request prefers. */
function appsLink(): string {
  const wish = currentRequest()?.uiLocales;
  return appsPath(carriedBy(new URLSearchParams(typeof wish === 'string' ? { ui_locales: wish } : {})));
}

/** Prefers these languages (`ui_locales`, which may be any value) for the page that answers the current request. */
export function preferLanguages(uiLocales: unknown): void {
  const current = currentRequest();
  if (current !== undefined) current.uiLocales = uiLocales;
}

/** Redirects the browser with GET, or with 307 by the same method (RFC 9110 section 15.4), without a referrer. */
export function redirect(response: ServerResponse, location: string, status: 303 | 307 = 303): void {
  writeAnswer(response, {
    status,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: '',
  });
}

/** The URL contains a hash of the content, so that browsers never use an outdated copy. */
function versioned(path: string, bytes: Buffer): string {
  return `${path}?v=${createHash('sha256').update(bytes).digest('base64url').slice(0, 8)}`;
}

function asset(bytes: Buffer, headers: Readonly<Record<string, string>>): Handler {
  return ({ response }) => {
    response.writeHead(200, {
      'cache-control': 'public, max-age=3600',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      ...headers,
      'content-length': bytes.length,
    });
    response.end(bytes);
  };
}
