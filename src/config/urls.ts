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
export const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://school.example',
  )
  .refine((text) => !URL.canParse(text) || new URL(text).protocol === 'https:' || isLoopbackHost(new URL(text)), {
    message: 'must be https, except on localhost',
  });
