import { z } from 'zod';
import { isOwnCookie } from '../http/own-cookie.ts';
import { TOKEN } from './name.ts';

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
