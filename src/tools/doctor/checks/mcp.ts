import { field, isHtml, isRedirect, jsonObject, mediaType, where } from '../answer.ts';
import { check } from '../check.ts';
import { hijacker } from '../edges.ts';
import { DISCOVER } from '../facts/mcp-endpoint.ts';
import { failure, pass, warning } from '../finding.ts';

/** The tool interface for agents (Model Context Protocol). */
export const MCP = [
  check({
    id: 'mcp.initialize',
    title: 'A client of 2025-11-25 is served or asked to sign in',
    reference: 'MCP 2025-11-25, Lifecycle and Streamable HTTP',
    fix: 'Route POST of the tool interface to the gate, and pass on Accept: application/json, text/event-stream.',
    needs: ['mcp'],
    async run(_site, { mcp: { answer } }) {
      if (answer.status === 401) return pass('401: sign-in required');
      const streamed = mediaType(answer) === 'text/event-stream' && answer.text.includes('"result"');
      const body = jsonObject(answer);
      if (answer.status === 200 && (streamed || body?.result !== undefined)) return pass('200');
      if (body?.error !== undefined && answer.status < 500)
        return warning(
          `${where(answer)} answers initialize with an error (${answer.status})`,
          'Support 2025-11-25 as well: most clients use it.',
        );
      const instead = hijacker(answer);
      return failure(`${where(answer)}: ${instead?.what ?? answer.status}`, instead?.fix);
    },
  }),
  check({
    id: 'mcp.discover',
    title: 'A client of 2026-07-28 is understood',
    reference: 'MCP 2026-07-28, server/discover',
    fix: 'Pass on the headers Mcp-Method, Mcp-Name and MCP-Protocol-Version, and answer every revision in JSON-RPC.',
    needs: ['mcp'],
    async run({ ask }, { mcp: { url } }) {
      const answer = await ask(url, DISCOVER);
      if (answer.status === 401) return pass('401: sign-in required');
      const body = jsonObject(answer);
      if (answer.status === 200 && (body?.result !== undefined || answer.text.includes('"result"')))
        return pass('server/discover is answered');
      if (body?.error !== undefined && answer.status < 500)
        return pass(`an older revision, reported in JSON-RPC (${answer.status})`);
      return warning(
        `${where(answer)} answers server/discover ${answer.status} ${isHtml(answer) ? 'with a page' : 'without JSON-RPC'}`,
      );
    },
  }),
  check({
    id: 'mcp.get',
    title: 'GET of the tool interface returns a stream or 405',
    reference: 'MCP 2025-11-25, Streamable HTTP',
    fix: 'Answer text/event-stream or 405: after a page or a redirect, clients assume that there is no MCP server.',
    needs: ['mcp'],
    async run({ ask }, { mcp: { url } }) {
      const answer = await ask(url, { headers: { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25' } });
      if (answer.status < 300 && mediaType(answer) !== 'text/event-stream')
        return warning(`GET is ${answer.status} ${mediaType(answer)}`);
      if (isRedirect(answer)) return warning(`GET is ${hijacker(answer)?.what ?? answer.status}`);
      return answer.status >= 500 ? warning(`GET fails with ${answer.status}`) : pass(`${answer.status}`);
    },
  }),
  check({
    id: 'mcp.buffering',
    title: 'Events are not buffered on the way',
    reference: 'MCP 2025-11-25, Streamable HTTP; HTML section 9.2',
    fix: 'Turn off buffering and compression for text/event-stream: nginx "proxy_buffering off", X-Accel-Buffering: no, and no gzip.',
    needs: ['mcp'],
    async run({ ask }, { mcp }) {
      const stream = await ask(mcp.url, {
        headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip', 'mcp-protocol-version': '2025-11-25' },
      });
      const streams = [mcp.answer, stream].filter((answer) => mediaType(answer) === 'text/event-stream');
      for (const answer of streams) {
        const squeezed = field(answer, 'content-encoding');
        if (squeezed !== '' && squeezed !== 'identity')
          return warning(`events arrive with Content-Encoding ${squeezed}`);
        if (field(answer, 'content-length') !== '')
          return warning('events arrive with a Content-Length: a proxy has buffered them');
      }
      return pass(
        streams.length === 0 ? 'responses are not streams: nothing to buffer' : 'events arrive as they are sent',
      );
    },
  }),
] as const;
