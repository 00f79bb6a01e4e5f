import { DocumentFailure } from '../../../../authorization-server/client-documents/failure.ts';
import { DOCUMENT_DEADLINE, fetchDocument } from '../../../../authorization-server/client-documents/fetch-document.ts';
import { urlProblem } from '../../../../authorization-server/client-documents/url-rule.ts';
import { discoveryDocuments } from '../../../../process/discovery-documents.ts';
import { redirectTarget } from '../../answer.ts';
import { createAsk } from '../../ask.ts';
import { checkEach, failure, pass, warning } from '../../finding.ts';
import { orNone, timeOver, Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import { causeOf } from '../open-installation.ts';

/** Bytes. An OpenAPI document has some hundred kilobytes. */
const LONGEST_BODY = 8 * 1024 * 1024;

/**
 * The documents of Claude Code and Codex: their client_ids in the authorization requests that these apps sent in
 * November 2026. Both are at hosts that rarely fail.
 */
const WELL_KNOWN = [
  'https://claude.ai/oauth/claude-code-client-metadata',
  'https://chatgpt.com/oauth/codex/client.json',
];

/** Whether a gate runs with this configuration, takes commands, and can give and fetch what apps connect with. */
export const GATE = [
  ...backendChecks(() => true, {
    async 'gate.running'({ admin }) {
      const answer = await admin.ask('/readyz').catch(() => undefined);
      if (answer === undefined) return failure(`no gate answers at ${admin.address}`);
      if (answer.status === 200) return pass(`${admin.address} is ready`);
      const said = answer.text.trim().slice(0, 200);
      return failure(
        `${admin.address}/readyz answers ${answer.status}: ${said}`,
        answer.status === 503
          ? 'Run `coursegate health --config FILE`: it names the check that fails.'
          : 'Another program listens at this address. Set listen.admin.port, or give the address with --admin.',
      );
    },
    async 'gate.pages'({ config: { origin, pages, site }, limits }) {
      const apart = pages.origin;
      if (apart === undefined)
        return pass(
          site === undefined
            ? 'at `origin`'
            : 'at the origin of the site. Recommended: pages.origin keeps its scripts away',
        );
      const ask = createAsk({ origin, ...limits });
      const askApart = createAsk({ origin: apart, ...limits });
      const headers = { accept: 'text/html' };
      const path = '/oauth/authorize?coursegate_doctor=1';
      return checkEach(
        `${apart} serves them, and nothing else`,
        ['/', '/.well-known/oauth-authorization-server', '/oauth/assets/pages.css', path],
        async (one) => {
          if (one === path) {
            const target = redirectTarget(await ask(origin + one, { headers }));
            return target?.href !== apart + one && failure(`${origin}/oauth/authorize does not redirect to ${apart}`);
          }
          const { status } = await askApart(apart + one, { headers });
          const wanted = one.startsWith('/oauth/') ? 200 : 404;
          return status !== wanted && failure(`${apart}${one} answers ${status} instead of ${wanted}`);
        },
      );
    },
  }),
  ...backendChecks(({ admin }) => admin.hmac !== undefined || admin.mtls !== undefined, {
    async 'gate.commands'({ admin }) {
      await admin.ask('/livez').catch(() => {
        throw new Unavailable('no gate answers at the admin address');
      });
      return admin.command('GET', '/keys').then(
        () => pass('a signed command was answered'),
        (thrown: unknown) => failure(thrown instanceof Error ? thrown.message : String(thrown)),
      );
    },
  }),
  ...backendChecks(() => true, {
    async 'gate.documents'({ loaded, limits }) {
      const { origin } = loaded.config;
      const ask = createAsk({ origin, ...limits });
      const { documents } = await discoveryDocuments(loaded);
      return checkEach(
        `${documents.length} documents are the same, byte for byte`,
        documents,
        async ({ path, body }) => {
          const answer = await orNone(ask(origin + path, { longest: LONGEST_BODY }));
          if (answer === undefined) throw new Unavailable(`${origin} does not answer this machine`);
          if (answer.status !== 200) return failure(`${path} answers ${answer.status}`);
          return answer.text !== body.toString('utf8') && failure(`${path} is not that of this configuration`);
        },
      );
    },
  }),
  ...backendChecks(({ clients }) => clients.documents.enabled, {
    async 'gate.client-documents'({ config, network, limits: { signal, patience } }) {
      const rule = { ...config.clients.documents, ownHost: new URL(config.origin).hostname };
      const urls = WELL_KNOWN.filter((url) => urlProblem(url, rule) === undefined).map((url) => new URL(url));
      if (urls.length === 0) throw new Unavailable('clients.documents does not admit the documents that are tried');
      const deadline = Math.min(patience, DOCUMENT_DEADLINE);
      const failures: { readonly seen: string; readonly failure: DocumentFailure }[] = [];
      for (const url of urls) {
        const failure = await fetchDocument(url, network, deadline, signal).catch((thrown: unknown) => thrown);
        if (signal.aborted) throw timeOver();
        if (!(failure instanceof DocumentFailure)) return pass(`${url.host} answered`);
        const { cause, message } = failure;
        failures.push({ failure, seen: `${url.host}: ${cause === undefined ? `it ${message}` : causeOf(cause)}` });
      }
      const seen = failures.map((one) => one.seen).join('; ');
      if (failures.some(({ failure }) => failure.kind === 'gone')) return pass(`connections are possible (${seen})`);
      if (failures.every(({ failure }) => failure.cause !== undefined)) return warning(seen);
      return warning(
        seen,
        'A connection is possible, but no document came. If a proxy or firewall of yours answers in place of these hosts, let the gate through. Otherwise, these hosts refuse this machine: set clients.documents.enabled to false if that lasts, and apps register instead.',
      );
    },
  }),
];
