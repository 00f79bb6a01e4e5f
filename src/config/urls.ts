import { z } from 'zod';
import { isLoopbackHost } from '../http/host.ts';

export const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https URL')
  .refine((text) => !/[?#]/.test(text), 'must have neither query nor fragment')
  .refine((text) => !/^[^/]*\/\/[^/]*@/.test(text), 'must not contain a user name or password');

/** An https URL, or an http URL on loopback. */
export const secureUrl = z
  .string()
  .regex(
    /^(https:\/\/[^\s/?#@]+|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?)(\/[^\s?#]*)?$/i,
    'must be an https URL without ? or # (http is allowed only for localhost, 127.0.0.1 and [::1])',
  )
  .refine((given) => URL.canParse(given), 'must be a URL');

/** A path at a backend, possibly with a query. */
export const backendPath = z.string().regex(/^\/[\x21-\x7E]*$/, 'must begin with /');

/** A page of the site as a path, or another one as a URL. */
export const pageUrl = z.string().regex(/^(\/(?![/\\])|https?:\/\/)/, 'must be a path or an http(s) URL');

/** One exact string without a path or trailing slash: it is the issuer, the audience and the base of every URL. */
export const origin = z.string().refine((text) => originFaults(text).length === 0, {
  error: ({ input }) => originFaults(String(input)).join(', and '),
});

/** What is wrong with an origin, with the origin that was probably meant at the end. */
function originFaults(text: string): readonly string[] {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return ['must be an origin such as https://school.example'];
  const { protocol, host, pathname } = url;
  const isHttps = protocol === 'https:' || isLoopbackHost(url);
  const faults = [
    ...(isHttps ? [] : ['must be https, except on localhost']),
    ...(url.username + url.password === '' ? [] : ['must not contain a user name or password']),
    ...(/[?#]/.test(text) ? ['must have neither query nor fragment'] : []),
    ...(pathname === '/' ? [] : [`must have no path (${pathname})`]),
    ...(pathname === '/' && text.endsWith('/') ? ['must not end with a slash'] : []),
  ];
  const meant = `${isHttps ? protocol : 'https:'}//${host}`;
  if (faults.length === 0) return text === meant ? [] : [`must be written as ${meant}`];
  return [...faults.slice(0, -1), `${faults.at(-1)}: ${meant}`];
}
