/** `npm run site`: builds the documentation site into build/site. With --preview, builds the checkout only and serves it. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSite } from './build.ts';
import { serveFolder } from './serve.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const { values } = parseArgs({
  options: {
    preview: { type: 'boolean', default: false },
    port: { type: 'string', default: '4173' },
    out: { type: 'string', default: join(ROOT, 'build/site') },
    base: { type: 'string', default: '/' },
    repository: { type: 'string' },
  },
});

const { preview, port, out, base, repository } = values;
const versions = buildSite({ source: ROOT, out, base: preview ? '/' : base, repository, checkoutOnly: preview });
for (const version of versions) console.log(`${version.name}: ${version.addresses.length} pages at ${version.base}`);
if (preview) {
  await serveFolder(out, Number(port));
  console.log(`http://127.0.0.1:${port}/ shows this checkout. Press Ctrl+C to end.`);
}
