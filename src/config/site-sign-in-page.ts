import { text } from './name.ts';
import { pageUrl } from './urls.ts';

/** Settings for logins in which members sign in on the page of their site. */
export const siteSignInPage = {
  loginUrl: pageUrl.describe('Sign-in page of the site: a path or a URL.'),
  returnParam: text.default('return_to').meta({
    description:
      'Query parameter of the sign-in page for the address to return to: a path if the page is at `origin`, otherwise a URL.',
  }),
  hintParam: text.optional().describe('Query parameter of the sign-in page for the login_hint.'),
};
