import { z } from 'zod';
import { everyLogin } from './recheck.ts';
import { duration, rate } from './units.ts';

/** What holds where the sign-in ends at our own page: nobody else keeps a session for us. */
export const ownSignIn = {
  ...everyLogin,
  acrValues: z.array(z.string().min(1)).default([]).meta({ description: 'The acr values that a sign-in may have.' }),
  session: duration.prefault('30m').meta({
    description: 'How long a sign-in counts, for connecting more apps and for seeing those that are connected.',
  }),
};

/** What holds where credentials are typed on our page. */
export const credentialLogin = {
  ...ownSignIn,
  attempts: z
    .strictObject({
      account: rate.prefault({ requests: 10, per: '15m' }).meta({
        description: 'Sign-ins of one account from one client address. Its owner, elsewhere, is never kept out.',
      }),
      address: rate.prefault({ requests: 100, per: '15m' }).meta({
        description: 'Sign-ins from one client address (of IPv6: one /64), of whatever accounts.',
      }),
    })
    .prefault({})
    .meta({ description: 'How often a sign-in may be tried, right or wrong. More are answered 429.' }),
};

/** For backends that answer sooner when there is no such member. */
export const refusalTime = duration.prefault('500ms').meta({
  description:
    'Wrong credentials are refused at the next multiple of this time, so that how long it took does not tell whether there is such a member. Longer than your backend takes to check a password; 0s: at once.',
});
