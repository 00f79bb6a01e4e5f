import { field, isHtml, isRedirect, redirectTarget, text } from '../answer.ts';
import { check } from '../check.ts';
import type { Authorization } from '../facts/authorization-endpoint.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import { Unavailable } from '../unavailable.ts';

const STRANGER = 'https://coursegate-doctor.invalid/callback';

/** How the authorization endpoint handles requests, observed without signing in. */
export const AUTHORIZATION = [
  check({
    id: 'authorization.good',
    title: 'A valid request leads to sign-in',
    reference: 'RFC 6749 section 4.1.1',
    fix: 'Check the server log for the reason, and open the link yourself.',
    needs: ['authorization'],
    async run(_site, { authorization: { good } }) {
      return good.goesOn ? pass(`${good.answer.status}`) : failure(`it is refused: ${inWords(good)}`);
    },
  }),
  check({
    id: 'authorization.pkce-missing',
    title: 'A request without PKCE is refused',
    reference: 'RFC 7636 section 4.4.1, RFC 9700 section 2.1.1',
    fix: 'Require code_challenge from every app, public or confidential, and answer invalid_request without it.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      const asked = await authorization.request({ code_challenge: undefined, code_challenge_method: undefined });
      return judgeRefusal(asked, 'a request without code_challenge');
    },
  }),
  check({
    id: 'authorization.pkce-plain',
    title: 'PKCE with plain is refused',
    reference: 'RFC 7636 section 4.2, RFC 9700 section 2.1.1',
    fix: 'Accept only S256, and refuse a missing method, which means plain.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      const plain = { code_challenge: 'coursegate-doctor-challenge-of-more-than-43-letters' };
      return problemsOr(
        [
          judgeRefusal(await authorization.request({ ...plain, code_challenge_method: 'plain' }), 'plain'),
          judgeRefusal(
            await authorization.request({ ...plain, code_challenge_method: undefined }),
            'a challenge without a method',
          ),
        ].filter(({ level }) => level !== 'pass'),
        'refused',
      );
    },
  }),
  check({
    id: 'authorization.redirect-uri',
    title: 'Members are never sent to an unregistered redirect URI',
    reference: 'RFC 6749 section 3.1.2.4, RFC 9700 section 4.1.3',
    fix: 'Compare redirect URIs as strings (except for loopback ports), and show an error page when they differ.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      const problems: Verdict[] = [];
      for (const uri of [
        STRANGER,
        'http://127.0.0.1/callback/../stranger',
        'http://127.0.0.1/callbackstranger',
        'http://127.0.0.1.coursegate-doctor.invalid/callback',
      ]) {
        const { answer, goesOn } = await authorization.request({ redirect_uri: uri });
        const target = redirectTarget(answer);
        const sent =
          target !== undefined &&
          (target.hostname.endsWith('coursegate-doctor.invalid') || target.pathname.includes('stranger'));
        if (sent) problems.push(failure(`the member is sent to ${target.origin}${target.pathname}`));
        else if (goesOn) problems.push(failure(`${uri} is accepted, and the member continues`));
      }
      return problemsOr(problems, 'refused with a page');
    },
  }),
  check({
    id: 'authorization.loopback-port',
    title: 'Apps on the member’s device may use any port',
    reference: 'RFC 8252 section 7.3',
    fix: 'Ignore the port when the host is 127.0.0.1 or [::1]: apps listen on whichever port is free.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      if (!authorization.good.goesOn) throw new Unavailable('even a valid request is refused');
      const asked = await authorization.request({ redirect_uri: 'http://127.0.0.1:53682/callback' });
      return asked.goesOn
        ? pass('accepted')
        : warning(`registered without a port, requested with one: ${inWords(asked)}`);
    },
  }),
  check({
    id: 'authorization.implicit',
    title: 'The authorization endpoint issues no tokens',
    reference: 'RFC 9700 section 2.1.2',
    fix: 'Answer response_type=token with unsupported_response_type.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      return judgeRefusal(await authorization.request({ response_type: 'token' }), 'response_type=token');
    },
  }),
  check({
    id: 'authorization.issuer',
    title: 'Authorization responses name the issuer',
    reference: 'RFC 9207 section 2',
    fix: 'Send iss with every authorization response, errors too, equal to the issuer of the metadata.',
    needs: ['authorization', 'server'],
    async run(_site, { authorization, server }) {
      const iss = (await anError(authorization.request)).get('iss');
      const promised = server.document.authorization_response_iss_parameter_supported === true;
      if (iss === text(server.document.issuer)) return pass(iss ?? '');
      if (iss !== null) return failure(`iss is ${iss}`);
      // When it is not promised, server.issuer-parameter reports that.
      return promised ? failure('promised but not sent') : pass('neither promised nor sent');
    },
  }),
  check({
    id: 'authorization.state',
    title: 'The app gets its state back unchanged',
    reference: 'RFC 6749 section 4.1.2.1',
    fix: 'Return state byte for byte, with errors too.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      const state = `coursegate doctor/ü+&="'`;
      const { returned } = await authorization.request({ state, response_type: 'token' });
      if (returned === undefined) throw new Unavailable('no error was returned to the app');
      const got = returned.get('state');
      return got === state ? pass('unchanged') : failure(got === null ? 'it is lost' : `it comes back as ${got}`);
    },
  }),
  check({
    id: 'authorization.resource',
    title: 'No token is offered for a foreign resource',
    reference: 'RFC 8707 section 2',
    fix: 'Answer a resource that is not yours with invalid_target.',
    needs: ['authorization'],
    async run(_site, { authorization }) {
      const asked = await authorization.request({ resource: 'https://coursegate-doctor.invalid/' });
      return asked.goesOn ? warning('a foreign resource is accepted or ignored') : pass(inWords(asked));
    },
  }),
  check({
    id: 'authorization.headers',
    title: 'The authorization endpoint prevents caching, framing and referrers',
    reference: 'RFC 9700 sections 4.2.4, 4.16; RFC 6749 section 10.13',
    fix: "Send Cache-Control: no-store, Referrer-Policy: no-referrer, and Content-Security-Policy: frame-ancestors 'none'.",
    needs: ['authorization'],
    async run(_site, { authorization: { good, request } }) {
      const problems: Verdict[] = [];
      const page = await request({ redirect_uri: STRANGER });
      for (const answer of [good.answer, page.answer]) {
        if (!/no-store/i.test(field(answer, 'cache-control')))
          problems.push(warning(`${answer.status} of the authorization endpoint may be cached`));
        if (
          !isRedirect(answer) &&
          isHtml(answer) &&
          !/frame-ancestors/i.test(field(answer, 'content-security-policy')) &&
          field(answer, 'x-frame-options') === ''
        )
          problems.push(warning('a page of the authorization endpoint may be framed'));
        if (!/no-referrer|same-origin|strict-origin/i.test(field(answer, 'referrer-policy')))
          problems.push(warning(`${answer.status} of the authorization endpoint has no Referrer-Policy`));
      }
      return problemsOr(problems.slice(0, 3), 'no-store, no frames, no referrer');
    },
  }),
  check({
    id: 'documents.unreachable',
    title: 'An app whose metadata document cannot be fetched gets a clean error',
    reference: 'OAuth Client ID Metadata Document section 4, RFC 9700 section 4.14',
    fix: 'Show an error page (400), never a 500 or a redirect, and allow the server to make https requests to the internet.',
    needs: ['server'],
    async run({ ask }, { server: { document } }) {
      if (document.client_id_metadata_document_supported !== true)
        throw new Unavailable('client ID metadata documents are not offered');
      const endpoint = URL.parse(text(document.authorization_endpoint) ?? '');
      if (endpoint === null) throw new Unavailable('the metadata lists no authorization endpoint');
      const problems: Verdict[] = [];
      for (const client of ['https://coursegate-doctor.invalid/client.json', 'https://127.0.0.1/client.json']) {
        const url = new URL(endpoint);
        const parameters = {
          response_type: 'code',
          client_id: client,
          redirect_uri: STRANGER,
          state: 'x',
          code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_challenge_method: 'S256',
        };
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
        const answer = await ask(url.href, { headers: { accept: 'text/html' } });
        if (answer.status >= 500) problems.push(failure(`${client}: the server fails with ${answer.status}`));
        else if (redirectTarget(answer)?.hostname === 'coursegate-doctor.invalid')
          problems.push(failure(`${client}: the member is sent to an unverified address`));
      }
      return problemsOr(problems, 'refused');
    },
  }),
] as const;

function judgeRefusal(asked: Authorization, what: string): Verdict {
  if (asked.answer.status >= 500) return failure(`${what}: the server fails with ${asked.answer.status}`);
  if (asked.goesOn) return failure(`${what} leads to sign-in`);
  if (asked.returned?.has('code') || asked.returned?.has('access_token')) return failure(`${what} is granted`);
  return pass(inWords(asked));
}

function inWords({ answer, returned }: Authorization): string {
  const error = returned?.get('error');
  return error == null ? `${answer.status}` : error;
}

/** The parameters of an error response, provoked by requests that every server refuses. */
async function anError(
  request: (changes: Readonly<Record<string, string>>) => Promise<Authorization>,
): Promise<URLSearchParams> {
  for (const changes of [{ response_type: 'token' }, { prompt: 'none' }, { response_type: 'nonsense' }]) {
    const { returned } = await request(changes);
    if (returned?.has('error')) return returned;
  }
  throw new Unavailable('no error was returned to the app: errors are shown as pages here');
}
