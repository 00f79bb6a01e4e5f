import { isIP } from 'node:net';
import { type JsonObject, mediaType, strings, text, where } from '../answer.ts';
import { check } from '../check.ts';
import { hijacker } from '../edges.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import { isLoopbackName, isPrivateAddress } from '../private-addresses.ts';

/** What the authorization server says of itself (RFC 8414, OpenID Connect Discovery). */
export const SERVER_METADATA = [
  check({
    id: 'server.found',
    title: 'The authorization server’s metadata is there',
    reference: 'RFC 8414 §3.1',
    fix: 'Serve /.well-known/oauth-authorization-server on the issuer’s host, with the issuer’s path behind it.',
    needs: ['serverSpellings'],
    async run(_site, { serverSpellings: { spellings } }) {
      const [oauth] = spellings;
      if (oauth?.document !== undefined) return pass(new URL(oauth.url).pathname);
      const other = spellings.find(({ document }) => document !== undefined);
      const instead = oauth?.answer === undefined ? undefined : hijacker(oauth.answer);
      const seen = `${oauth?.url}: ${instead?.what ?? oauth?.answer?.status ?? 'no answer'}`;
      if (other === undefined) return failure(seen, instead?.fix);
      return warning(
        `${seen}; there is ${new URL(other.url).pathname}, which older clients do not ask for`,
        instead?.fix,
      );
    },
  }),
  check({
    id: 'server.spellings',
    title: 'Every spelling of the metadata says the same',
    reference: 'RFC 8414 §5, MCP authorization (2025-11-25)',
    fix: 'Serve one document at all spellings: clients differ in which they read.',
    needs: ['server'],
    async run(_site, { server }) {
      const problems = server.spellings.flatMap(({ url, answer, document }): Verdict[] => {
        if (document === undefined) {
          const instead = answer !== undefined && answer.status < 400 ? hijacker(answer) : undefined;
          return instead === undefined ? [] : [failure(`${new URL(url).pathname}: ${instead.what}`, instead.fix)];
        }
        const other = COMPARED.filter((name) => document[name] !== server.document[name]);
        return other.length === 0 ? [] : [failure(`${new URL(url).pathname} has another ${other.join(', ')}`)];
      });
      const there = server.spellings.filter(({ document }) => document !== undefined);
      return problemsOr(problems, there.map(({ url }) => new URL(url).pathname).join(', '));
    },
  }),
  check({
    id: 'server.content-type',
    title: 'The server’s metadata is application/json',
    reference: 'RFC 8414 §3.2',
    fix: 'Send Content-Type: application/json with it.',
    needs: ['server'],
    async run(_site, { server }) {
      const type = mediaType(server.answer);
      return type === 'application/json' ? pass(type) : warning(`${where(server.answer)} is ${type || 'of no type'}`);
    },
  }),
  check({
    id: 'server.issuer',
    title: 'The issuer is the one that was asked for, byte for byte',
    reference: 'RFC 8414 §3.3, RFC 9207 §2.4',
    fix: 'Set the issuer to the very address that the resource names: no other scheme, host, port, path or slash.',
    needs: ['server'],
    async run(_site, { server: { document, issuer, answer } }) {
      if (document.issuer === issuer) return pass(issuer);
      return failure(`${where(answer)} is of ${JSON.stringify(document.issuer)}, where ${issuer} was asked`);
    },
  }),
  check({
    id: 'server.members',
    title: 'The metadata has what clients cannot do without',
    reference: 'RFC 8414 §2',
    fix: 'Add what is missing: issuer, authorization_endpoint, token_endpoint, response_types_supported.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const missing = ['issuer', 'authorization_endpoint', 'token_endpoint'].filter(
        (name) => text(document[name]) === undefined,
      );
      if (strings(document.response_types_supported).length === 0) missing.push('response_types_supported');
      return missing.length === 0 ? pass('nothing is missing') : failure(`missing: ${missing.join(', ')}`);
    },
  }),
  check({
    id: 'server.https',
    title: 'Every endpoint is https, and not on a private address',
    reference: 'RFC 8414 §2, RFC 9700 §2.6',
    fix: 'Make the endpoints from the public origin: addresses as http://localhost:8080 come from a server that does not know its own.',
    needs: ['server'],
    async run({ origin }, { server }) {
      const local = isLoopbackName(new URL(origin).hostname);
      const problems = endpointsOf(server.document).flatMap(([name, value]): Verdict[] => {
        const url = URL.parse(value);
        if (url === null) return [failure(`${name} is no address: ${value}`)];
        if (local && isLoopbackName(url.hostname)) return [];
        const host = url.hostname.replace(/^\[|\]$/g, '');
        const hidden = isLoopbackName(url.hostname) || (isIP(host) !== 0 && isPrivateAddress(host));
        return url.protocol !== 'https:' || hidden ? [failure(`${name} is ${value}`)] : [];
      });
      return problemsOr(problems, 'all of them');
    },
  }),
  check({
    id: 'server.hosts',
    title: 'Every endpoint is on the issuer’s own host',
    reference: 'RFC 9700 §4.4',
    fix: 'Make the endpoints from the issuer; where another host is meant, make sure that it is yours.',
    needs: ['server'],
    async run(_site, { server: { document, issuer } }) {
      const home = URL.parse(issuer)?.host;
      const problems = endpointsOf(document).flatMap(([name, value]): Verdict[] => {
        const host = URL.parse(value)?.host;
        return host === undefined || host === home ? [] : [warning(`${name} is on ${host}`)];
      });
      return problemsOr(problems, home ?? '');
    },
  }),
  check({
    id: 'server.pkce',
    title: 'PKCE with S256 is offered, and nothing weaker',
    reference: 'RFC 7636 §4.2, RFC 9700 §2.1.1',
    fix: 'Set "code_challenge_methods_supported" to ["S256"]: MCP clients stop where it is missing, and plain protects nothing.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const methods = strings(document.code_challenge_methods_supported);
      if (!methods.includes('S256'))
        return failure(methods.length === 0 ? 'nothing is said of PKCE' : methods.join(', '));
      return methods.length > 1 ? warning(`offered: ${methods.join(', ')}`) : pass('S256');
    },
  }),
  check({
    id: 'server.response-types',
    title: 'No token is handed out through the browser’s address',
    reference: 'RFC 9700 §2.1.2',
    fix: 'Set "response_types_supported" to ["code"]; take token and id_token out.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const risky = strings(document.response_types_supported).filter((type) => type.split(' ').includes('token'));
      return risky.length === 0 ? pass('code') : warning(`offered: ${risky.join(', ')}`);
    },
  }),
  check({
    id: 'server.grant-types',
    title: 'No grant hands passwords or tokens to apps',
    reference: 'RFC 9700 §2.4, §2.1.2',
    fix: 'Take password and implicit out of "grant_types_supported", and refuse them.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const grants = strings(document.grant_types_supported);
      if (grants.includes('password')) return failure('password is offered: members would give apps their password');
      return grants.includes('implicit') ? warning('implicit is offered') : pass(grants.join(', '));
    },
  }),
  check({
    id: 'server.issuer-parameter',
    title: 'Answers say which server they come from',
    reference: 'RFC 9207 §3, RFC 9700 §4.4',
    fix: 'Send iss with every authorization response, and set "authorization_response_iss_parameter_supported" to true.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      if (document.authorization_response_iss_parameter_supported === true) return pass('iss is promised');
      return warning('iss is not promised: a client of several servers can be made to mix them up');
    },
  }),
  check({
    id: 'server.apps-may-come',
    title: 'Apps that nobody knows yet can introduce themselves',
    reference: 'MCP authorization (2026-07-28), RFC 7591 §3',
    fix: 'Take client ID metadata documents ("client_id_metadata_document_supported": true), or offer a "registration_endpoint".',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const documents = document.client_id_metadata_document_supported === true;
      const registration = text(document.registration_endpoint) !== undefined;
      if (documents) return pass(registration ? 'by document, and by registration' : 'by document');
      if (registration)
        return warning('by registration only, which MCP 2026-07-28 has deprecated for client ID metadata documents');
      return failure('neither by document nor by registration: Claude and ChatGPT cannot connect by themselves');
    },
  }),
  check({
    id: 'server.public-clients',
    title: 'Apps that can keep no secret are taken',
    reference: 'RFC 8414 §2, RFC 8252 §8.4',
    fix: 'Add "none" to "token_endpoint_auth_methods_supported": desktop and command-line apps have no place for a secret.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const methods = strings(document.token_endpoint_auth_methods_supported);
      if (methods.includes('none')) return pass(methods.join(', '));
      return warning(methods.length === 0 ? 'nothing is said, which means client_secret_basic' : methods.join(', '));
    },
  }),
] as const;

/** Members that clients act upon: they must not differ from one spelling to the other. */
const COMPARED = ['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'jwks_uri'] as const;

/** Every address that the metadata names as an endpoint, and the keys. */
function endpointsOf(document: JsonObject): readonly (readonly [name: string, url: string])[] {
  return Object.entries(document).flatMap(([name, value]) =>
    (name.endsWith('_endpoint') || name === 'jwks_uri') && typeof value === 'string' ? [[name, value] as const] : [],
  );
}
