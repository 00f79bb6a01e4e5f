import { field, isHtml, isRedirect, jsonObject, mediaType, type SiteAnswer, where } from '../answer.ts';
import type { Question } from '../ask.ts';
import { insteadAt, insteadOf } from '../edges.ts';
import { DISCOVER } from '../facts/mcp-endpoint.ts';
import { checkEach, failure, pass, warning } from '../finding.ts';
import { checks } from '../site.ts';

/** GET of the tool interface, which opens a stream of events. */
const STREAM: Question = { headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25' } };

/** The tool interface for agents (Model Context Protocol). */
export const MCP = checks(['mcp'], {
  'mcp.initialize'({ mcp: { answer } }) {
    if (answer.status === 401) return pass('401: sign-in required');
    if (hasResult(answer)) return pass('200');
    if (hasError(answer))
      return warning(
        `${where(answer)} answers initialize with an error (${answer.status})`,
        'Support 2025-11-25 as well: most clients use it.',
      );
    return failure(...insteadAt(answer));
  },
  async 'mcp.discover'({ ask, mcp: { url } }) {
    const answer = await ask(url, DISCOVER);
    if (answer.status === 401) return pass('401: sign-in required');
    if (hasResult(answer)) return pass('server/discover is answered');
    if (hasError(answer)) return pass(`an older revision, reported in JSON-RPC (${answer.status})`);
    const how = isHtml(answer) ? 'with a page' : 'without JSON-RPC';
    return warning(`${where(answer)} answers server/discover ${answer.status} ${how}`);
  },
  async 'mcp.get'({ ask, mcp: { url } }) {
    const answer = await ask(url, STREAM);
    if (answer.status < 300 && mediaType(answer) !== 'text/event-stream')
      return warning(`GET is ${answer.status} ${mediaType(answer)}`);
    if (isRedirect(answer)) return warning(`GET is ${insteadOf(answer)[0]}`);
    return answer.status >= 500 ? warning(`GET fails with ${answer.status}`) : pass(`${answer.status}`);
  },
  async 'mcp.buffering'({ ask, mcp }) {
    const stream = await ask(mcp.url, { headers: { ...STREAM.headers, 'accept-encoding': 'gzip' } });
    const streams = [mcp.answer, stream].filter((answer) => mediaType(answer) === 'text/event-stream');
    return checkEach(
      streams.length === 0 ? 'responses are not streams: nothing to buffer' : 'events arrive as they are sent',
      streams,
      (answer) => {
        const coding = field(answer, 'content-encoding');
        if (coding !== '' && coding !== 'identity') return warning(`events arrive with Content-Encoding ${coding}`);
        if (field(answer, 'content-length') === '') return undefined;
        return warning('events arrive with a Content-Length: a proxy has buffered them');
      },
    );
  },
});

/** Whether a response, in JSON or as events, holds a JSON-RPC result. */
function hasResult(answer: SiteAnswer): boolean {
  const isStream = mediaType(answer) === 'text/event-stream';
  return (
    answer.status === 200 && (isStream ? answer.text.includes('"result"') : jsonObject(answer)?.result !== undefined)
  );
}

function hasError(answer: SiteAnswer): boolean {
  return answer.status < 500 && jsonObject(answer)?.error !== undefined;
}
