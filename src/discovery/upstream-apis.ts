import { OPENAPI_REFRESH } from '../config/constants.ts';
import type { Config, UpstreamConfig } from '../config/schema.ts';
import type { Tree } from '../config/tree.ts';
import { openapiProblem } from '../config/upstream-documents.ts';
import { type JsonBounds, parseBoundedJson } from '../http/bounded-json.ts';
import { importApi, type UpstreamApi } from './openapi/upstream/import-api.ts';

export interface UpstreamApisParts {
  readonly upstreams: Config['upstreams'];
  /** Documents loaded from files, by upstream name. */
  readonly documents: ReadonlyMap<string, Tree>;
  /**
   * Requests an upstream's document without the identity of a member. Rejects if there is no answer before the signal
   * aborts.
   */
  readonly fetch: (upstream: string, path: string, signal: AbortSignal) => Promise<{ status: number; body: string }>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Called once per failed attempt, with the reason. */
  readonly warn: (upstream: string, reason: string) => void;
}

/**
 * Milliseconds: how long a client waits for a document that has not been loaded yet, and the delay before the next
 * attempt after a failure.
 */
const PATIENCE = 3000;
const AGAIN_AFTER = 30_000;

/**
 * The document of a large monolith has about twenty thousand values. The depth is bounded because documents are
 * processed recursively.
 */
const DOCUMENT_BOUNDS: JsonBounds = { depth: 128, values: 50_000, names: 5000 };

interface Fetched {
  readonly name: string;
  readonly upstream: UpstreamConfig;
  readonly path: string;
  body: string | undefined;
  nextAt: number;
  busy: Promise<void> | undefined;
}

/**
 * Loads and refreshes the API descriptions of upstreams. The returned function never rejects, and leaves out upstreams
 * whose document is unavailable. The first call waits briefly for the documents; later calls get what is known while
 * documents are refreshed in the background.
 */
export function upstreamApis(parts: UpstreamApisParts): () => Promise<ReadonlyMap<string, UpstreamApi>> {
  const { upstreams, documents, clock, warn } = parts;
  let known: ReadonlyMap<string, UpstreamApi> = new Map(
    Object.entries(upstreams).flatMap(([name, upstream]) => {
      const document = documents.get(name);
      return document === undefined ? [] : [[name, importApi(name, upstream, document)]];
    }),
  );
  const fetched = Object.entries(upstreams).flatMap(([name, upstream]): Fetched[] => {
    const path = upstream.openapi?.path;
    return path === undefined ? [] : [{ name, upstream, path, body: undefined, nextAt: 0, busy: undefined }];
  });

  const load = async (one: Fetched): Promise<void> => {
    const { name, upstream, path } = one;
    try {
      const { status, body } = await parts.fetch(name, path, AbortSignal.timeout(PATIENCE));
      if (status !== 200) throw new Error(`it answered ${status}`);
      if (body !== one.body) {
        const document: unknown = parseBoundedJson(body, DOCUMENT_BOUNDS);
        const problem = openapiProblem(document);
        if (problem !== undefined) throw new Error(`it ${problem}`);
        known = new Map([...known, [name, importApi(name, upstream, document as Tree)]]);
        one.body = body;
      }
      one.nextAt = clock() + OPENAPI_REFRESH * 1000;
    } catch (error) {
      one.nextAt = clock() + AGAIN_AFTER;
      warn(name, error instanceof SyntaxError ? 'it is not JSON' : String((error as Error).message));
    } finally {
      one.busy = undefined;
    }
  };

  return async () => {
    for (const one of fetched) if (clock() >= one.nextAt) one.busy ??= load(one);
    await Promise.all(fetched.map(({ body, busy }) => (body === undefined ? busy : undefined)));
    return known;
  };
}
