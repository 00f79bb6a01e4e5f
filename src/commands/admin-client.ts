import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LoadedConfig } from '../config/load.ts';
import type { Environment } from '../config/setting.ts';
import { CommandFailure, EXIT } from './failure.ts';

/** The options that select the gate a command talks to. */
export interface GateFlags {
  readonly config?: string;
  /** Address of the admin listener if it differs from the configuration, for example through a tunnel. */
  readonly admin?: string;
  /** PEM files: the client certificate for `admin.mtls`. */
  readonly cert?: string;
  readonly key?: string;
}

interface AdminAnswer {
  readonly status: number;
  readonly text: string;
}

/** The admin listener of a running gate. */
export interface AdminClient {
  readonly address: string;
  /** Sends an unsigned GET. Throws CommandFailure when no gate answers. */
  ask(path: string, accept?: string): Promise<AdminAnswer>;
  /** Sends a signed command and returns the JSON response. Throws CommandFailure if it is refused or no gate answers. */
  command(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>;
}

/** Milliseconds. Ample for a gate on the same machine: long work is requested page by page. */
const PATIENCE = 30_000;
const LONGEST_ANSWER = 64 * 1024 * 1024;

/** Throws CommandFailure for unusable flags, and ConfigError when the configuration file is invalid. */
export async function adminClient(flags: GateFlags, environment: Environment): Promise<AdminClient> {
  const { config: file, admin } = flags;
  if (file === undefined && admin === undefined) {
    throw new CommandFailure(
      'Specify the gate: --config with its configuration file, or --admin with its admin address.',
      {
        code: EXIT.usage,
      },
    );
  }
  const loaded = file === undefined ? undefined : await load(file, environment);
  const address = (admin ?? addressOf(loaded)).replace(/\/$/, '');
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new CommandFailure(`"${address}" is not the address of an admin listener, such as http://127.0.0.1:9090.`, {
      code: EXIT.usage,
    });
  }
  const [cert, key] = await Promise.all([flags.cert, flags.key].map(readPemFile));
  const next = file === undefined ? 'coursegate serve --config FILE' : `coursegate serve --config ${file}`;
  const pinned = loaded?.admin.mtls?.cert;
  const secret = loaded?.admin.hmac[0];

  const send = (method: string, path: string, headers: Record<string, string>, body: Buffer) =>
    exchange({ url: address + path, method, headers, body, tls: { pinned, cert, key } }).catch((thrown: unknown) => {
      if (thrown instanceof CommandFailure) throw thrown;
      throw new CommandFailure(`No gate answers at ${address}.`, {
        reason: `Is it running with this configuration? (${thrown instanceof Error ? thrown.message : String(thrown)})`,
        next,
        code: EXIT.unavailable,
      });
    });

  return {
    address,
    ask: (path, accept = '*/*') => send('GET', path, { accept }, Buffer.alloc(0)),
    async command(method, path, given) {
      const body = Buffer.from(given === undefined ? '' : JSON.stringify(given));
      const { signCommand, SIGNATURE_FIELD } = await import('../authorization-server/administration/signature.ts');
      const { pathname, search } = new URL(address + path);
      const signed = { method, target: pathname + search, body };
      const signature: Record<string, string> =
        secret === undefined ? {} : { [SIGNATURE_FIELD]: signCommand(signed, secret, Math.floor(Date.now() / 1000)) };
      const { status, text } = await send(method, path, signature, body);
      if (status === 200) return JSON.parse(text);
      throw refusal(status, text, file);
    },
  };
}

async function load(file: string, environment: Environment): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({ file, environment });
}

function addressOf(loaded: LoadedConfig | undefined): string {
  if (loaded === undefined) return '';
  const { host, port } = loaded.config.listen.admin;
  if (port === 0) {
    throw new CommandFailure('listen.admin.port is 0, so the gate listens on a random port.', {
      reason: 'Pass its address with --admin, or configure a port.',
      code: EXIT.usage,
    });
  }
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = loaded.admin.mtls === undefined ? 'http' : 'https';
  return `${scheme}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

async function readPemFile(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CommandFailure(`Cannot read ${path}.`, { cause, code: EXIT.usage });
  });
}

/** Turns an error response of the admin listener into a failure with advice. */
function refusal(status: number, text: string, file: string | undefined): CommandFailure {
  const config = file ?? 'FILE';
  const said = titleOf(text);
  if (status === 401 || status === 403) {
    return new CommandFailure(`The gate refused this command: ${said}`, {
      reason:
        'Commands are signed with admin.hmac of the file given by --config, or authenticated by --cert and --key.',
      next: `coursegate check ${config}`,
    });
  }
  if (status >= 500) {
    return new CommandFailure(`The gate cannot do this right now: ${said}`, {
      next: `coursegate health --config ${config}`,
      code: EXIT.unavailable,
    });
  }
  return new CommandFailure(said);
}

function titleOf(text: string): string {
  try {
    const { title } = JSON.parse(text) as { title?: unknown };
    if (typeof title === 'string') return title;
  } catch {}
  return text.trim().slice(0, 200);
}

interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly tls: {
    /** PEM of the certificate that the gate must present, from its configuration. Undefined: any the system trusts. */
    readonly pinned: string | undefined;
    readonly cert: string | undefined;
    readonly key: string | undefined;
  };
}

function exchange({ url, method, headers, body, tls }: Exchange): Promise<AdminAnswer> {
  return new Promise((resolve, reject) => {
    const secure = url.startsWith('https:');
    const options = {
      method,
      headers: {
        ...headers,
        ...(body.length > 0 ? { 'content-type': 'application/json' } : {}),
        'content-length': body.length,
      },
      signal: AbortSignal.timeout(PATIENCE),
      agent: false,
    } as const;
    const { pinned, cert, key } = tls;
    const request = secure
      ? httpsRequest(url, {
          ...options,
          ...(cert === undefined ? {} : { cert }),
          ...(key === undefined ? {} : { key }),
          // Certificates rarely name the loopback address used here, so the configured certificate itself is pinned.
          ...(pinned === undefined
            ? {}
            : { ca: pinned, allowPartialTrustChain: true, checkServerIdentity: () => undefined }),
        })
      : httpRequest(url, options);
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('error', reject);
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > LONGEST_ANSWER) request.destroy(new Error('the response is too long'));
        chunks.push(chunk);
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    request.end(body);
  });
}
