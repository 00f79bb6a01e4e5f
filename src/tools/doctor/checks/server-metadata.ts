import { isIP } from 'node:net';
import { type JsonObject, mediaType, strings, text, where } from '../answer.ts';
import { check } from '../check.ts';
import { hijacker } from '../edges.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import { isLoopbackName, isPrivateAddress } from '../private-addresses.ts';

/** The authorization server metadata (RFC 8414, OpenID Connect Discovery). */
export const SERVER_METADATA = [
  check({
    id: 'server.found',
    title: 'The authorization server metadata is available',
    reference: 'RFC 8414 section 3.1',
    fix: 'Serve /.well-known/oauth-authorization-server on the issuer’s host, followed by the issuer’s path.',
    needs: ['serverSpellings'],
    async run(_site, { serverSpellings: { spellings } }) {
      const [oauth] = spellings;
      if (oauth?.document !== undefined) return pass(new URL(oauth.url).pathname);
      const other = spellings.find(({ document }) => document !== undefined);
      const instead = oauth?.answer === undefined ? undefined : hijacker(oauth.answer);
      const seen = `${oauth?.url}: ${instead?.what ?? oauth?.answer?.status ?? 'no answer'}`;
      if (other === undefined) return failure(seen, instead?.fix);
      return warning(`${seen}; found ${new URL(other.url).pathname}, which older clients do not request`, instead?.fix);
    },
  }),
  check({
    id: 'server.spellings',
    title: 'Every spelling of the metadata returns the same document',
    reference: 'RFC 8414 section 5, MCP authorization (2025-11-25)',
    fix: 'Serve one document at all spellings: different clients read different ones.',
    needs: ['server'],
    async run(_site, { server }) {
      const problems = server.spellings.flatMap(({ url, answer, document }): Verdict[] => {
        if (document === undefined) {
          const instead = answer !== undefined && answer.status < 400 ? hijacker(answer) : undefined;
          return instead === undefined ? [] : [failure(`${new URL(url).pathname}: ${instead.what}`, instead.fix)];
        }
        const other = COMPARED.filter((name) => document[name] !== server.document[name]);
        return other.length === 0 ? [] : [failure(`${new URL(url).pathname} has a different ${other.join(', ')}`)];
      });
      const there = server.spellings.filter(({ document }) => document !== undefined);
      return problemsOr(problems, there.map(({ url }) => new URL(url).pathname).join(', '));
    },
  }),
  check({
    id: 'server.content-type',
    title: 'The server metadata is application/json',
    reference: 'RFC 8414 section 3.2',
    fix: 'Send Content-Type: application/json with it.',
    needs: ['server'],
    async run(_site, { server }) {
      const type = mediaType(server.answer);
      return type === 'application/json'
        ? pass(type)
        : warning(`${where(server.answer)} has ${type || 'no content type'}`);
    },
  }),
  check({
    id: 'server.issuer',
    title: 'The issuer matches exactly',
    reference: 'RFC 8414 section 3.3, RFC 9207 section 2.4',
    fix: 'Set the issuer to exactly the address that the resource lists: same scheme, host, port, path and slash.',
    needs: ['server'],
    async run(_site, { server: { document, issuer, answer } }) {
      if (document.issuer === issuer) return pass(issuer);
      return failure(`${where(answer)} has the issuer ${JSON.stringify(document.issuer)} instead of ${issuer}`);
    },
  }),
  check({
    id: 'server.members',
    title: 'The metadata has every required member',
    reference: 'RFC 8414 section 2',
    fix: 'Add the missing ones of issuer, authorization_endpoint, token_endpoint and response_types_supported.',
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
    title: 'Every endpoint uses https and a public address',
    reference: 'RFC 8414 section 2, RFC 9700 section 2.6',
    fix: 'Build the endpoints from the public origin: addresses like http://localhost:8080 come from a server that does not know its own.',
    needs: ['server'],
    async run({ origin }, { server }) {
      const local = isLoopbackName(new URL(origin).hostname);
      const problems = endpointsOf(server.document).flatMap(([name, value]): Verdict[] => {
        const url = URL.parse(value);
        if (url === null) return [failure(`${name} is not a URL: ${value}`)];
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
    reference: 'RFC 9700 section 4.4',
    fix: 'Build the endpoints from the issuer; if another host is intended, make sure that it is yours.',
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
    title: 'PKCE is offered with S256 only',
    reference: 'RFC 7636 section 4.2, RFC 9700 section 2.1.1',
    fix: 'Set "code_challenge_methods_supported" to ["S256"]: MCP clients give up without it, and plain protects nothing.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const methods = strings(document.code_challenge_methods_supported);
      if (!methods.includes('S256'))
        return failure(methods.length === 0 ? 'PKCE is not advertised' : methods.join(', '));
      return methods.length > 1 ? warning(`offered: ${methods.join(', ')}`) : pass('S256');
    },
  }),
  check({
    id: 'server.response-types',
    title: 'No token is returned in a URL',
    reference: 'RFC 9700 section 2.1.2',
    fix: 'Set "response_types_supported" to ["code"], without token and id_token.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const risky = strings(document.response_types_supported).filter((type) => type.split(' ').includes('token'));
      return risky.length === 0 ? pass('code') : warning(`offered: ${risky.join(', ')}`);
    },
  }),
  check({
    id: 'server.grant-types',
    title: 'No grant exposes passwords or tokens',
    reference: 'RFC 9700 sections 2.4, 2.1.2',
    fix: 'Remove password and implicit from "grant_types_supported", and refuse them.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const grants = strings(document.grant_types_supported);
      if (grants.includes('password')) return failure('password is offered: members would give apps their password');
      return grants.includes('implicit') ? warning('implicit is offered') : pass(grants.join(', '));
    },
  }),
  check({
    id: 'server.issuer-parameter',
    title: 'The metadata announces iss in authorization responses',
    reference: 'RFC 9207 section 3, RFC 9700 section 4.4',
    fix: 'Send iss with every authorization response, and set "authorization_response_iss_parameter_supported" to true.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      if (document.authorization_response_iss_parameter_supported === true) return pass('iss is announced');
      return warning('iss is not announced: clients of several servers are open to mix-up attacks');
    },
  }),
  check({
    id: 'server.apps-may-come',
    title: 'Unknown apps can introduce themselves',
    reference: 'MCP authorization (2026-07-28), RFC 7591 section 3',
    fix: 'Accept client ID metadata documents ("client_id_metadata_document_supported": true), or offer a "registration_endpoint".',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const documents = document.client_id_metadata_document_supported === true;
      const registration = text(document.registration_endpoint) !== undefined;
      if (documents) return pass(registration ? 'by document and by registration' : 'by document');
      if (registration)
        return warning(
          'by registration only, which MCP 2026-07-28 deprecates in favour of client ID metadata documents',
        );
      return failure('neither by document nor by registration: Claude and ChatGPT cannot connect on their own');
    },
  }),
  check({
    id: 'server.public-clients',
    title: 'Apps without a secret are accepted',
    reference: 'RFC 8414 section 2, RFC 8252 section 8.4',
    fix: 'Add "none" to "token_endpoint_auth_methods_supported": desktop and command-line apps cannot keep a secret.',
    needs: ['server'],
    async run(_site, { server: { document } }) {
      const methods = strings(document.token_endpoint_auth_methods_supported);
      if (methods.includes('none')) return pass(methods.join(', '));
      return warning(methods.length === 0 ? 'missing, which means client_secret_basic' : methods.join(', '));
    },
  }),
] as const;

/** Members that clients act on, which must be equal in all spellings. */
const COMPARED = ['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'jwks_uri'] as const;

/** Every endpoint in the metadata, and jwks_uri. */
function endpointsOf(document: JsonObject): readonly (readonly [name: string, url: string])[] {
  return Object.entries(document).flatMap(([name, value]) =>
    (name.endsWith('_endpoint') || name === 'jwks_uri') && typeof value === 'string' ? [[name, value] as const] : [],
  );
}
