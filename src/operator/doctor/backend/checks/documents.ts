import { discoveryDocuments } from '../../../../process/discovery-documents.ts';
import { createAsk } from '../../ask.ts';
import { checkEach, failure } from '../../finding.ts';
import { orNone, Unavailable } from '../../unavailable.ts';
import { backendChecks } from '../check.ts';

/** Bytes. An OpenAPI document has some hundred kilobytes. */
const LONGEST_BODY = 8 * 1024 * 1024;

/** Whether apps get the discovery documents of this configuration, from the gate or from files. */
export const DOCUMENTS = backendChecks(() => true, {
  async 'gate.documents'({ loaded, limits }) {
    const { origin } = loaded.config;
    const ask = createAsk({ origin, ...limits });
    const { documents } = await discoveryDocuments(loaded);
    return checkEach(`${documents.length} documents are the same, byte for byte`, documents, async ({ path, body }) => {
      const answer = await orNone(ask(origin + path, { longest: LONGEST_BODY }));
      if (answer === undefined) throw new Unavailable(`${origin} does not answer this machine`);
      if (answer.status !== 200) return failure(`${path} answers ${answer.status}`);
      return answer.text !== body.toString('utf8') && failure(`${path} is not that of this configuration`);
    });
  },
});
