import { DocumentFailure } from '../../../../authorization-server/client-documents/failure.ts';
import { DOCUMENT_DEADLINE, fetchDocument } from '../../../../authorization-server/client-documents/fetch-document.ts';
import { urlProblem } from '../../../../authorization-server/client-documents/url-rule.ts';
import { pass, warning } from '../../finding.ts';
import { timeOver, Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';
import { causeOf } from '../open-installation.ts';

/**
 * The documents of Claude Code and Codex: their client_ids in the authorization requests that these apps sent in
 * November 2026. Both are at hosts that rarely fail.
 */
const WELL_KNOWN = [
  'https://claude.ai/oauth/claude-code-client-metadata',
  'https://chatgpt.com/oauth/codex/client.json',
];

/** Whether the network of the gate lets it fetch the metadata documents of apps. */
export const CLIENT_DOCUMENTS = backendChecks(({ clients }) => clients.documents.enabled, {
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
});
