import { field, isHtml, isRedirect, jsonObject, mediaType, where } from '../answer.ts';
import { check } from '../check.ts';
import { hijacker } from '../edges.ts';
import { DISCOVER } from '../facts/mcp-endpoint.ts';
import { failure, pass, warning } from '../finding.ts';

/** The tool interface for agents (Model Context Protocol). */
export const MCP = [
  check({
    id: 'mcp.initialize',
    title: 'A client of 2025-11-25 is welcomed, or asked to sign in',
    reference: 'MCP 2025-11-25, Lifecycle and Streamable HTTP',
    fix: 'Route POST of the tool interface to the gate, with Accept: application/json, text/event-stream let through.',
    needs: ['mcp'],
    async run(_site, { mcp: { answer } }) {
      if (answer.status === 401) return pass('401: it asks to sign in');
      const streamed = mediaType(answer) === 'text/event-stream' && answer.text.includes('"result"');
      const body = jsonObject(answer);
      if (answer.status === 200 && (streamed || body?.result !== undefined)) return pass('200');
      if (body?.error !== undefined && answer.status < 500)
        return warning(
          `${where(answer)} answers initialize with an error (${answer.status})`,
          'Speak 2025-11-25 as well: most clients do.',
        );
      const instead = hijacker(answer);
      return failure(`${where(answer)}: ${instead?.what ?? answer.status}`, instead?.fix);
    },
  }),
  check({
    id: 'mcp.discover',
    title: 'A client of 2026-07-28 is understood',
    reference: 'MCP 2026-07-28, server/discover',
    fix: 'Let the fields Mcp-Method, Mcp-Name and MCP-Protocol-Version through, and answer in JSON-RPC whatever the revision.',
    needs: ['mcp'],
    async run({ ask }, { mcp: { url } }) {
      const answer = await ask(url, DISCOVER);
      if (answer.status === 401) return pass('401: it asks to sign in');
      const body = jsonObject(answer);
      if (answer.status === 200 && (body?.result !== undefined || answer.text.includes('"result"')))
        return pass('server/discover is answered');
      if (body?.error !== undefined && answer.status < 500)
        return pass(`an older revision, said in JSON-RPC (${answer.status})`);
      return warning(
        `${where(answer)} answers server/discover ${answer.status} ${isHtml(answer) ? 'with a page' : 'without JSON-RPC'}`,
      );
    },
  }),
  check({
    id: 'mcp.get',
    title: 'GET of the tool interface is a stream, or a clear no',
    reference: 'MCP 2025-11-25, Streamable HTTP',
    fix: 'Answer text/event-stream or 405: a page or a redirect makes clients believe that there is no MCP here.',
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
    title: 'Events are not collected on the way',
    reference: 'MCP 2025-11-25, Streamable HTTP; HTML §9.2',
    fix: 'Switch buffering and compression off for text/event-stream: nginx "proxy_buffering off", X-Accel-Buffering: no, and no gzip.',
    needs: ['mcp'],
    async run({ ask }, { mcp }) {
      const stream = await ask(mcp.url, {
        headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip', 'mcp-protocol-version': '2025-11-25' },
      });
      const streams = [mcp.answer, stream].filter((answer) => mediaType(answer) === 'text/event-stream');
      for (const answer of streams) {
        const squeezed = field(answer, 'content-encoding');
        if (squeezed !== '' && squeezed !== 'identity') return warning(`events come as ${squeezed}`);
        if (field(answer, 'content-length') !== '')
          return warning('events come with a Content-Length: somebody has waited for the last of them');
      }
      return pass(
        streams.length === 0 ? 'answers come in one piece: nothing to hold back' : 'events come as they are sent',
      );
    },
  }),
] as const;
