import { z } from 'zod';
import { isOwnCookie } from '../http/own-cookie.ts';

/** Text that is not empty. */
export const text = z.string().min(1);

/** A whole number above 0. */
export const positive = z.int().min(1);

/** The folder and the ending of the files of `schools`. */
export const SCHOOL_FILES = /^(.*)\/\*(\.ya?ml)$/;

/** A name given by the operator, as of a service behind the gate, for other settings to refer to. */
export const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'must be a name of letters, digits, - and _');

/** A token (RFC 9110 section 5.6.2): the name of a header field or of a cookie, or an authentication scheme. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** A JSON pointer (RFC 6901) to something inside a document. */
export const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'must be a JSON pointer such as /token');

/** Name of a cookie of the backend. */
export const cookieName = z
  .string()
  .regex(TOKEN, 'must be a cookie name')
  .refine((given) => !isOwnCookie(given), 'is a cookie of coursegate itself, which is never sent to a backend');

/** Name of a cookie of the backend; `*` matches any number of characters. */
export const cookiePattern = cookieName.refine(
  (given) => /[^*]/.test(given),
  'must be more specific than *: only the session cookie may be sent, not every cookie',
);
