import { z } from 'zod';
import { isOwnCookie } from '../http/own-cookie.ts';
import { upstreamName } from './name.ts';
import { everyLogin } from './recheck.ts';
import { whoami } from './whoami.ts';

/** Cookies of a backend, by a name with `*`. */
export const cookiePattern = z
  .string()
  .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'must be a cookie name')
  .refine((given) => /[^*]/.test(given), 'must be more than *: the session alone is sent, not every cookie')
  .refine((given) => !isOwnCookie(given), 'is a cookie of coursegate itself, which no backend is shown');

/** The backend's own cookie, shown to it at a URL that says whose it is. */
export const sessionLogin = z.strictObject({
  kind: z.literal('session'),
  upstream: upstreamName,
  whoami: whoami.meta({ description: 'Where the backend says whose session it is.' }),
  loginUrl: z
    .string()
    .regex(/^(\/(?![/\\])|https?:\/\/)/, 'must be a path or an http(s) URL')
    .meta({
      description: 'The sign-in page of the site: a path of it, or a URL.',
    }),
  returnParam: z.string().min(1).default('return_to').meta({
    description: 'Where the sign-in page takes the address to come back to.',
  }),
  returnFormat: z.enum(['path', 'url']).optional().meta({
    description:
      'How that address is written: path (/oauth/…) or url (https://…/oauth/…). Left out: path when the sign-in page is at our origin.',
  }),
  hintParam: z.string().min(1).optional().meta({ description: 'Where the sign-in page takes a login_hint.' }),
  localesParam: z.string().min(1).optional().meta({
    description: 'Where the sign-in page takes the languages of ui_locales (BCP 47, separated by spaces).',
  }),
  acrValues: z.array(z.string().min(1)).default([]).meta({ description: 'The acr values that whoami may give.' }),
  cookies: z.array(cookiePattern).min(1).meta({
    description: 'The cookies that whoami is sent, and no others: names, in which * is any number of characters.',
  }),
  ...everyLogin,
});

export type SessionLoginConfig = z.output<typeof sessionLogin>;
