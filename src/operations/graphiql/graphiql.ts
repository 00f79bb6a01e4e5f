import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GraphiqlOptions, graphiqlPage, graphiqlPolicy } from './page.ts';

interface Asset {
  readonly type: string;
  /** Where the file is. Throws MODULE_NOT_FOUND when its package is not installed. */
  readonly file: () => string;
}

/** What is sent for a path of the tool. */
export interface GraphiqlFile {
  readonly status: 200 | 404;
  readonly contentType: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';

/** Every file the page loads: from here or from the installed packages, as they ship them for a script element. */
const ASSETS: Readonly<Record<string, Asset>> = {
  '/graphiql/react.js': { type: SCRIPT, file: shipped('react', 'umd/react.production.min.js') },
  '/graphiql/react-dom.js': { type: SCRIPT, file: shipped('react-dom', 'umd/react-dom.production.min.js') },
  '/graphiql/vendor.js': { type: SCRIPT, file: shipped('graphiql', 'graphiql.min.js') },
  '/graphiql/vendor.css': { type: STYLE, file: shipped('graphiql', 'graphiql.min.css') },
  '/graphiql/page.js': { type: SCRIPT, file: () => fileURLToPath(new URL('graphiql.js', import.meta.url)) },
  '/graphiql/page.css': { type: STYLE, file: () => fileURLToPath(new URL('graphiql.css', import.meta.url)) },
};

/** The paths of the tool: the page, then what it loads. */
export const GRAPHIQL_PATHS: readonly string[] = ['/graphiql', ...Object.keys(ASSETS)];

const GUARDED = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const NO_ACCOUNT_API = 'GraphiQL is for the Account API, which this gate does not have.';
const NOT_INSTALLED = 'GraphiQL is not installed here. Install it with:  npm ci --include=optional';

/**
 * GraphiQL for people who write against the Account API. In: a path of GRAPHIQL_PATHS, and the endpoint, or undefined
 * without an Account API. Nothing is loaded before somebody asks, and no token ever comes here: the page sends it to
 * the endpoint itself. Rejects when an installed file cannot be read.
 */
export async function graphiqlFile(path: string, options: GraphiqlOptions | undefined): Promise<GraphiqlFile> {
  if (options === undefined) return absent(NO_ACCOUNT_API);
  try {
    const asset = ASSETS[path];
    // The page asks for all of them: without one it would stay empty and say nothing.
    for (const { file } of Object.values(ASSETS)) file();
    if (asset === undefined) {
      const headers = { ...GUARDED, 'content-security-policy': graphiqlPolicy(options) };
      return { status: 200, contentType: 'text/html; charset=utf-8', text: graphiqlPage(options), headers };
    }
    return { status: 200, contentType: asset.type, text: await readFile(asset.file(), 'utf8'), headers: GUARDED };
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    // Half an installation is none either.
    if (code === 'MODULE_NOT_FOUND' || code === 'ENOENT') return absent(NOT_INSTALLED);
    throw thrown;
  }
}

function absent(text: string): GraphiqlFile {
  return { status: 404, contentType: PLAIN, text, headers: GUARDED };
}

/** By its package.json: the files for script elements are not among a package's exports. */
function shipped(name: string, file: string): () => string {
  return () => join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
}
