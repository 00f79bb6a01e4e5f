import type { Config } from '../../config/schema.ts';

/** Milliseconds for a gate on the same machine to answer. */
const PATIENCE = 10_000;

/**
 * Asks the admin listener of a running gate what observe mode has seen. In: its configuration, and which form. Out: the
 * text. Throws what keeps it from being had, in words for whoever typed the command.
 */
export async function askObserved(config: Config, form: 'yaml' | 'json'): Promise<string> {
  const path = form === 'json' ? '/observed.json' : '/observed';
  const { host, port } = config.listen.admin;
  if (config.admin.mtls !== undefined)
    throw new Error(`The admin listener asks for a certificate: get https://${host}:${port}${path} with yours.`);
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const url = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}${path}`;
  let answer: Response;
  try {
    answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(PATIENCE) });
  } catch (error) {
    throw new Error(`No gate answers at ${url}. Is it running, with this configuration?`, { cause: error });
  }
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} says: ${text.trim().slice(0, 200)}`);
  return text;
}
