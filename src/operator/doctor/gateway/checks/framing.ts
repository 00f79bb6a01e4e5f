import { checkEach, failure } from '../../finding.ts';
import type { Echo } from '../echo.ts';
import { gatewayChecks } from '../facts.ts';
import { gotThrough } from '../got-through.ts';

/** Whether the gateway and the backend agree where a request ends. */
export const FRAMING = [
  ...gatewayChecks(['carrier', 'refused', 'framings'], {
    async 'framing.smuggled'({ framings, ...gateway }) {
      const messages = await framings();
      return checkEach(`${messages.length} messages`, messages, ({ what, hidden }) =>
        gotThrough(gateway, { echoes: hidden }, `a request without a token, sent with ${what},`),
      );
    },
  }),
  ...gatewayChecks(['framings'], {
    async 'framing.ambiguous'({ framings }) {
      const messages = await framings();
      return checkEach(`${messages.length} messages`, messages, ({ what, outer }) => {
        const wrong = outer.map(ambiguity).find((one) => one !== undefined);
        return wrong !== undefined && failure(`${what}: the backend receives ${wrong}`);
      });
    },
  }),
];

/** What makes the framing of a received request ambiguous. */
function ambiguity({ headers }: Echo): string | undefined {
  const values = (name: string) => headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
  const [lengths, codings] = [values('content-length'), values('transfer-encoding')];
  if (lengths.length > 0 && codings.length > 0) return 'Content-Length and Transfer-Encoding';
  if (lengths.length > 1) return `${lengths.length} Content-Length fields`;
  if (lengths.some((value) => !/^\d+$/.test(value))) return `Content-Length: ${lengths[0]}`;
  if (codings.some((value) => value.toLowerCase() !== 'chunked')) return `Transfer-Encoding: ${codings[0]}`;
  const odd = headers.find(([name, value]) => /\s/.test(name) || /[\r\n]/.test(value));
  return odd === undefined ? undefined : `the field ${JSON.stringify(odd.join(': '))}`;
}
