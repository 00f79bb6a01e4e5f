import { field, isHtml, isRedirect, redirectTarget, text } from '../answer.ts';
import { authorize } from '../facts/authorization-endpoint.ts';
import type { AuthorizationAnswer, AuthorizationEndpoint } from '../facts/facts.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../finding.ts';
import { checks } from '../site.ts';
import { Unavailable } from '../unavailable.ts';

const STRANGER = 'https://coursegate-doctor.invalid/callback';

/** How the authorization endpoint handles requests, observed without signing in. */
export const AUTHORIZATION = [
  ...checks(['authorization'], {
    'authorization.good': ({ authorization: { good } }) =>
      good.goesOn ? pass(`${good.answer.status}`) : failure(`it is refused: ${inWords(good)}`),
    'authorization.pkce-missing': ({ authorization }) =>
      checkRefusals(authorization, {
        'a request without code_challenge': { code_challenge: undefined, code_challenge_method: undefined },
      }),
    'authorization.pkce-plain'({ authorization }) {
      const plain = { code_challenge: 'coursegate-doctor-challenge-of-more-than-43-letters' };
      return checkRefusals(authorization, {
        plain: { ...plain, code_challenge_method: 'plain' },
        'a challenge without a method': { ...plain, code_challenge_method: undefined },
      });
    },
    'authorization.redirect-uri': ({ authorization }) =>
      checkEach(
        'refused with a page',
        [
          STRANGER,
          'http://127.0.0.1/callback/../stranger',
          'http://127.0.0.1/callbackstranger',
          'http://127.0.0.1.coursegate-doctor.invalid/callback',
        ],
        async (uri) => {
          const { answer, goesOn } = await authorization.request({ redirect_uri: uri });
          const target = redirectTarget(answer);
          if (target?.hostname.endsWith('coursegate-doctor.invalid') || target?.pathname.includes('stranger'))
            return failure(`the member is sent to ${target.origin}${target.pathname}`);
          return goesOn ? failure(`${uri} is accepted, and the member continues`) : undefined;
        },
      ),
    async 'authorization.loopback-port'({ authorization }) {
      if (!authorization.good.goesOn) throw new Unavailable('even a valid request is refused');
      const response = await authorization.request({ redirect_uri: 'http://127.0.0.1:53682/callback' });
      if (response.goesOn) return pass('accepted');
      return warning(`registered without a port, requested with one: ${inWords(response)}`);
    },
    'authorization.implicit': ({ authorization }) =>
      checkRefusals(authorization, { 'response_type=token': { response_type: 'token' } }),
    async 'authorization.state'({ authorization }) {
      const state = `coursegate doctor/ü+&="'`;
      const { returned } = await authorization.request({ state, response_type: 'token' });
      if (returned === undefined) throw new Unavailable('no error was returned to the app');
      const got = returned.get('state');
      if (got === state) return pass('unchanged');
      return failure(got === null ? 'it is lost' : `it comes back as ${got}`);
    },
    async 'authorization.resource'({ authorization }) {
      const response = await authorization.request({ resource: 'https://coursegate-doctor.invalid/' });
      return response.goesOn ? warning('a foreign resource is accepted or ignored') : pass(inWords(response));
    },
    async 'authorization.headers'({ authorization: { good, request } }) {
      const page = await request({ redirect_uri: STRANGER });
      return checkEach('no-store, no frames, no referrer', [good.answer, page.answer], (answer) => {
        const isFramed =
          isHtml(answer) &&
          !isRedirect(answer) &&
          !/frame-ancestors/i.test(field(answer, 'content-security-policy')) &&
          field(answer, 'x-frame-options') === '';
        const what = `${answer.status} of the authorization endpoint`;
        return [
          !/no-store/i.test(field(answer, 'cache-control')) && warning(`${what} may be cached`),
          isFramed && warning('a page of the authorization endpoint may be framed'),
          !/no-referrer|same-origin|strict-origin/i.test(field(answer, 'referrer-policy')) &&
            warning(`${what} has no Referrer-Policy`),
        ];
      });
    },
  }),
  ...checks(['authorization', 'server'], {
    async 'authorization.issuer'({ authorization, server: { document } }) {
      const iss = (await anError(authorization)).get('iss');
      const isAnnounced = document.authorization_response_iss_parameter_supported === true;
      if (iss === null && isAnnounced) return failure('announced but not sent');
      if (iss !== null && iss !== text(document.issuer)) return failure(`iss is ${iss}`);
      if (iss !== null && isAnnounced) return pass(iss);
      return warning('iss is not announced: clients of several servers are open to mix-up attacks');
    },
  }),
  ...checks(['server'], {
    'documents.unreachable'({ ask, server }) {
      if (server.document.client_id_metadata_document_supported !== true)
        throw new Unavailable('client ID metadata documents are not offered');
      return checkEach(
        'refused',
        ['https://coursegate-doctor.invalid/client.json', 'https://127.0.0.1/client.json'],
        async (client) => {
          const answer = await authorize(ask, server, { client_id: client, redirect_uri: STRANGER });
          if (answer.status >= 500) return failure(`${client}: the server fails with ${answer.status}`);
          if (redirectTarget(answer)?.hostname !== 'coursegate-doctor.invalid') return undefined;
          return failure(`${client}: the member is sent to an unverified address`);
        },
      );
    },
  }),
];

/** Requires that each of the named changes of a valid request is refused. */
function checkRefusals(
  { request }: AuthorizationEndpoint,
  changes: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>,
): Promise<readonly Verdict[]> {
  return checkEach('refused', Object.entries(changes), async ([what, change]) => {
    const { answer, goesOn, returned } = await request(change);
    if (answer.status >= 500) return failure(`${what}: the server fails with ${answer.status}`);
    if (goesOn) return failure(`${what} leads to sign-in`);
    return returned?.has('code') || returned?.has('access_token') ? failure(`${what} is granted`) : undefined;
  });
}

function inWords({ answer, returned }: AuthorizationAnswer): string {
  return returned?.get('error') ?? `${answer.status}`;
}

/** The parameters of an error response, provoked by requests that every server refuses. */
async function anError({ request }: AuthorizationEndpoint): Promise<URLSearchParams> {
  for (const changes of [{ response_type: 'token' }, { prompt: 'none' }, { response_type: 'nonsense' }]) {
    const { returned } = await request(changes);
    if (returned?.has('error')) return returned;
  }
  throw new Unavailable('no error was returned to the app: errors are shown as pages here');
}
