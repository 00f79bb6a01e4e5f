import type { IncomingHttpHeaders } from 'node:http';
import { boundedJson, DOCUMENT_BOUNDS, jsonExcess } from '../../http/bounded-json.ts';
import { isObject, type JsonObject } from '../../http/json-object.ts';

/** A response. Redirects are returned, not followed. */
export interface SiteAnswer {
  readonly url: string;
  readonly method: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body as UTF-8, possibly truncated. */
  readonly text: string;
  /** Whether the body was truncated. */
  readonly cut: boolean;
}

/** The value of a header field, '' if missing. */
export function field(answer: SiteAnswer, name: string): string {
  const value = answer.headers[name];
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}

/** The media type without parameters, in lower case. */
export function mediaType(answer: SiteAnswer): string {
  return (field(answer, 'content-type').split(';')[0] ?? '').trim().toLowerCase();
}

/** The body as a JSON object; undefined for anything else, when truncated, or when it exceeds DOCUMENT_BOUNDS. */
export function jsonObject(answer: SiteAnswer): JsonObject | undefined {
  const value = answer.cut ? undefined : boundedJson(answer.text, DOCUMENT_BOUNDS);
  return isObject(value) ? value : undefined;
}

/** The limit for JSON that the body exceeds, worded as the end of a sentence; undefined if it exceeds none. */
export const excess = ({ text: body }: SiteAnswer) => jsonExcess(body, DOCUMENT_BOUNDS)?.message;

export function isRedirect({ status }: SiteAnswer): boolean {
  return status >= 300 && status < 400;
}

/** The target of a redirect as an absolute URL; undefined if it has none. */
export function redirectTarget(answer: SiteAnswer): URL | undefined {
  const location = field(answer, 'location');
  return isRedirect(answer) && location !== '' ? (URL.parse(location, answer.url) ?? undefined) : undefined;
}

export function isHtml(answer: SiteAnswer): boolean {
  return mediaType(answer).includes('html') || /^\s*<(!doctype\s+html|html)\b/i.test(answer.text.slice(0, 500));
}

/** The title of a page, '' if it has none. */
export function pageTitle(answer: SiteAnswer): string {
  return (/<title[^>]{0,100}>([^<]{0,200})/i.exec(answer.text)?.[1] ?? '').trim();
}

export function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The path and query of a response's URL, for messages. */
export function where({ url }: SiteAnswer): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Header fields in which caches say whether they answered. */
const CACHE_FIELDS = [
  ...['cf-cache-status', 'x-cache', 'x-cache-status', 'x-vercel-cache', 'x-proxy-cache', 'x-litespeed-cache'],
  'cache-status',
];

/** The header field that shows that a response came from a cache. */
export function cacheHit(answer: SiteAnswer): string | undefined {
  const name = CACHE_FIELDS.find((one) => /\bhit\b/i.test(field(answer, one)));
  if (name !== undefined) return `${name}: ${field(answer, name)}`;
  const age = Number(field(answer, 'age') || 0);
  return age > 0 ? `Age: ${age}` : undefined;
}

/**
 * How far the clock of a server that answered between `before` and `after` is off, in seconds; undefined without a Date.
 * Date has whole seconds, and the answer took some time.
 */
export function clockSkew(answer: SiteAnswer, before: number, after: number) {
  const theirs = Date.parse(field(answer, 'date'));
  if (Number.isNaN(theirs)) return undefined;
  const seconds = Math.round(Math.max(before - theirs - 1000, theirs - after, 0) / 1000);
  return { seconds, side: theirs > before ? 'ahead of' : 'behind' };
}
