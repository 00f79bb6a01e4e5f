import { z } from 'zod';
import { requestField } from '../http/header-names.ts';
import { everyLogin } from './recheck.ts';
import { secureUrl } from './secure-url.ts';
import { signingAlgorithms } from './signing-algorithms.ts';
import { duration } from './units.ts';

/** Fields that say where a request came from, or are about the connection: never who somebody is. */
const ABOUT_THE_REQUEST =
  /^(x-forwarded-(for|host|port|prefix|proto|server|ssl)|forwarded|x-real-ip|host|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|x-request-id)$/i;

const identityField = z
  .string()
  .regex(/^[!#$%&'*+\-^`|~0-9A-Za-z]+$/, 'must be the name of a header field, without _ and .')
  .refine(
    (given) => ['pass', 'drop'].includes(requestField(given)) && !ABOUT_THE_REQUEST.test(given),
    'is a field that says something else',
  );

const jwt = z
  .strictObject({
    header: identityField.meta({ description: 'The field it is in, such as Cf-Access-Jwt-Assertion.' }),
    jwks: secureUrl.meta({ description: 'Where the proxy publishes the keys that it signs with (RFC 7517).' }),
    issuer: z.string().min(1).meta({ description: 'The `iss` that the assertion must have.' }),
    audience: z.string().min(1).meta({
      description: 'The `aud` that it must have, or have among others: that of this application, not of all behind it.',
    }),
    algorithms: signingAlgorithms,
    claims: z
      .strictObject({
        subject: z.string().min(1).default('sub').meta({ description: 'Their id.' }),
        email: z.string().min(1).default('email').meta({ description: 'Their email.' }),
        name: z.string().min(1).default('name').meta({ description: 'Their name.' }),
      })
      .prefault({})
      .meta({ description: 'The claims that hold the member’s id in the backend, their email and their name.' }),
    timeout: duration.prefault('5s').meta({ description: 'How long the keys are waited for.' }),
  })
  .meta({ description: 'A signed assertion, which proves itself, whoever connected.' });

const pageUrl = z.string().regex(/^(\/(?![/\\])|https?:\/\/)/, 'must be a path or an http(s) URL');

/** A single sign-on proxy in front of us says who is signed in. */
export const headerLogin = z
  .strictObject({
    kind: z.literal('header'),
    user: identityField.optional().meta({
      description:
        'The field with the member’s id, believed of listen.trustedProxies alone: X-Forwarded-User, Remote-User.',
    }),
    email: identityField.optional().meta({ description: 'The field with their email, with `user`.' }),
    name: identityField.optional().meta({ description: 'The field with their name, with `user`.' }),
    jwt: jwt.optional(),
    signInUrl: pageUrl.optional().meta({
      description: 'Where the proxy begins a sign-in. Left out, it does so by itself wherever a browser goes.',
    }),
    switchUrl: pageUrl.optional().meta({
      description: 'Where it lets somebody else sign in, such as its sign-out page. Left out: at signInUrl.',
    }),
    returnParam: z.string().min(1).default('rd').meta({
      description: 'Where these take the address to come back to.',
    }),
    acrValues: z
      .array(z.string().min(1))
      .default([])
      .meta({ description: 'The acr values that an assertion may have.' }),
    ...everyLogin,
  })
  .superRefine(({ user, email, name, jwt }, context) => {
    const report = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if ((user === undefined) === (jwt === undefined)) report([], 'must have either `user` or `jwt`');
    if (jwt === undefined) return;
    // Beside a signed assertion they would be anybody's word.
    if (email !== undefined) report(['email'], 'is a claim of the assertion: see jwt.claims.email');
    if (name !== undefined) report(['name'], 'is a claim of the assertion: see jwt.claims.name');
  });

export type HeaderLoginConfig = z.output<typeof headerLogin>;

/** The fields that say who somebody is, so that no backend hears them from anybody else. */
export function identityFields({ user, email, name, jwt }: HeaderLoginConfig): readonly string[] {
  return [user, email, name, jwt?.header].filter((field) => field !== undefined);
}
