import { z } from 'zod';
import { everyLogin } from './recheck.ts';
import { secretReference } from './secret-reference.ts';
import { sessionLogin } from './session-login.ts';
import { duration } from './units.ts';

/** What holds where the sign-in ends at our own page: nobody else keeps a session for us. */
const ownSignIn = {
  ...everyLogin,
  acrValues: z.array(z.string().min(1)).default([]).meta({ description: 'The acr values that a sign-in may have.' }),
  session: duration.prefault('30m').meta({
    description: 'How long a sign-in counts, for connecting more apps and for seeing those that are connected.',
  }),
};

const pageUrl = z.string().regex(/^(\/(?!\/)|https?:\/\/)/, 'must be a path or an http(s) URL');

/** The signed one-time redirect that DiscourseConnect made known. */
const bridgeLogin = z.strictObject({
  kind: z.literal('bridge'),
  url: pageUrl.meta({ description: 'The page of the backend that answers who is signed in.' }),
  secret: secretReference,
  ...ownSignIn,
});

/** How members sign in. */
export const login = z.discriminatedUnion('kind', [sessionLogin, bridgeLogin]);
