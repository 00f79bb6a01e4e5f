import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { PNG } from './media.ts';

/**
 * Resources that can be read and, before 2026-07-28, subscribed to. No notification is ever sent, because nothing
 * changes.
 */
export function registerResources(server: McpServer, watched: boolean): void {
  const text = (name: string, words: string) =>
    server.registerResource(name, `test://${name}`, { mimeType: 'text/plain' }, ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/plain', text: words }],
    }));
  text('static-text', 'This is the content of the static text resource.');
  text('watched-resource', 'This is watched, and does not change.');
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: PNG }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { mimeType: 'application/json' },
    ({ href }, { id }) => {
      const value = { id, templateTest: true, data: `Data for ID: ${id}` };
      return { contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify(value) }] };
    },
  );
  if (!watched) return;
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}
