import { rename, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Log } from '../../operations/log.ts';

type Form = (domains: readonly string[]) => string;

const inLines: Form = (domains) => domains.map((domain) => `${domain}\n`).join('');

/**
 * One router for each domain: Traefik would obtain one certificate for all domains in the rule of one router. JSON is
 * YAML, too.
 */
const forTraefik: Form = (domains) => {
  const routers = domains.map((domain) => [domain, { rule: `Host(\`${domain}\`)`, service: 'coursegate' }]);
  return `${JSON.stringify(routers.length === 0 ? {} : { http: { routers: Object.fromEntries(routers) } }, undefined, 2)}\n`;
};

/** What a proxy reads, by the ending of the file. */
const FORMS: Readonly<Record<string, Form>> = {
  '.conf': (domains) => domains.map((domain) => `server_name ${domain};\n`).join(''),
  '.yaml': forTraefik,
  '.yml': forTraefik,
};

/**
 * Keeps the file of `domains` up to date, for proxies that read a list. Returns what is called when the domains may have
 * changed. A file that cannot be written is logged, and written after the next change.
 */
export function domainsFile(file: () => string | undefined, domains: () => readonly string[], log: Log): () => void {
  let written: string | undefined;
  let writing = false;
  const write = async (): Promise<void> => {
    for (let path = file(); path !== undefined; path = file()) {
      const text = (FORMS[extname(path)] ?? inLines)(domains());
      if (path + text === written) break;
      // Proxies may read it at any moment.
      const draft = `${path}.new`;
      await writeFile(draft, text);
      await rename(draft, path);
      written = path + text;
    }
    writing = false;
  };
  return () => {
    if (writing) return;
    writing = true;
    write().catch((err: unknown) => {
      writing = false;
      log.error({ err }, 'the file of `domains` could not be written');
    });
  };
}
