import { readFile } from 'node:fs/promises';
import type { LoadedConfig } from '../config/load.ts';
import { mediaType } from '../http/body.ts';
import { boundedExchange } from '../http/bounded-client.ts';
import { printable } from '../operator/connect/printable.ts';
import { hostPort, reachableHost } from '../operator/host-port.ts';
import { shellWord } from '../operator/shell-word.ts';
import { readProcess } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure, misused } from './failure.ts';
import { assertSchool } from './school-option.ts';
import type { Terminal } from './terminal.ts';

/** The options that select the gate a command talks to. */
export interface GateFlags {
  readonly config?: string;
  /** Address of the admin listener if it differs from the configuration, for example through a tunnel. */
  readonly admin?: string;
  /** One of the schools that the configuration lists. */
  readonly school?: string;
  /** PEM files: the client certificate for `admin.mtls`. */
  readonly cert?: string;
  readonly key?: string;
}

/** What an admin listener, or something else at its address, has answered. */
export interface AdminAnswer {
  readonly status: number;
  /** The media type in lower case, '' if there is none. */
  readonly type: string;
  readonly location: string | undefined;
  readonly text: string;
}

/** The admin listener of a running gate. */
export type AdminClient = Awaited<ReturnType<typeof adminClient>>;

/** Milliseconds. Ample for a gate on the same machine: long work is requested page by page. */
const PATIENCE = 30_000;
const LONGEST_ANSWER = 64 * 1024 * 1024;

/**
 * Throws CommandFailure for unusable flags, and ConfigError when the configuration file is invalid.
 * @param ofProcess whether the process itself has an answer, where it has many schools
 */
export async function adminClient(flags: GateFlags, terminal: Pick<Terminal, 'environment'>, ofProcess = false) {
  const { config: file, admin } = flags;
  if (file === undefined && admin === undefined) {
    throw misused('Specify the gate: --config with its configuration file, or --admin with its admin address.');
  }
  const loaded = file === undefined ? undefined : await readProcess(file, terminal);
  if (file !== undefined && loaded !== undefined && (flags.school !== undefined || !ofProcess))
    assertSchool(file, loaded, flags.school);
  const mount = flags.school === undefined ? '' : `/schools/${flags.school}`;
  const address = (admin ?? addressOf(loaded)).replace(/\/$/, '') + mount;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw misused(`"${address}" is not the address of an admin listener, such as http://127.0.0.1:9090.`);
  }
  const [cert, key] = await Promise.all([flags.cert, flags.key].map((path) => path && readTextFile(path)));
  const start = file === undefined ? {} : { next: `coursegate serve --config ${shellWord(file)}` };
  const pinned = loaded?.admin.mtls?.cert;
  // Certificates rarely name the loopback address used here, so the configured certificate itself is pinned.
  const trusted =
    pinned === undefined ? {} : { ca: pinned, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  // Each of them is accepted at the school. Where the process has none, the school's own is.
  const signing = loaded?.admin.hmac[0] === undefined && flags.school !== undefined ? loaded?.schools : undefined;
  const secret = (signing === undefined ? loaded : await signing.load(flags.school ?? ''))?.admin.hmac[0];

  const send = async (method: string, path: string, headers: Record<string, string>, body = Buffer.alloc(0)) => {
    const limits = { signal: AbortSignal.timeout(PATIENCE), longest: LONGEST_ANSWER, agent: false } as const;
    try {
      const request = { method, headers, body, cert, key, ...trusted, ...limits };
      const answer = await boundedExchange(new URL(address + path), request);
      if (answer.cut) throw new Error('the response is too long');
      const { 'content-type': type, location } = answer.headers;
      return { status: answer.status, type: mediaType(type), location, text: answer.body.toString('utf8') };
    } catch (thrown) {
      throw new CommandFailure(`No gate answers at ${address}.`, {
        reason: `Is it running with this configuration? (${thrown instanceof Error ? thrown.message : String(thrown)})`,
        ...start,
        code: EXIT.unavailable,
      });
    }
  };

  return {
    address,
    /** What the paths of the school are below; empty for the process. */
    mount,
    /** The secret of `admin.hmac`, if the configuration was given and has one. */
    secret,
    /** Sends an unsigned GET. Throws CommandFailure when nothing answers. */
    ask: (path: string, accept = '*/*'): Promise<AdminAnswer> => send('GET', path, { accept }),
    /** The failure for an answer that no gate gives. */
    noGate: (answer: AdminAnswer) => notAGate(address, answer),
    /** Sends a signed command and returns the JSON response. Throws CommandFailure if it is refused or no gate answers. */
    async command<T>(method: 'GET' | 'POST', path: string, given?: object): Promise<T> {
      const body = Buffer.from(given === undefined ? '' : JSON.stringify(given));
      const { signCommand, SIGNATURE_FIELD } = await import('../authorization-server/administration/signature.ts');
      const { pathname, search } = new URL(address + path);
      const signed = { method, target: pathname + search, body };
      const fields = {
        ...(body.length > 0 && { 'content-type': 'application/json' }),
        ...(secret !== undefined && { [SIGNATURE_FIELD]: signCommand(signed, secret, Math.floor(Date.now() / 1000)) }),
      };
      const answer = await send(method, path, fields, body);
      const reply = answer.status === 200 ? asJson(answer.text) : undefined;
      if (reply !== undefined) return reply as T;
      throw answer.status === 200 || isForeign(answer) ? notAGate(address, answer) : refusal(answer, address, file);
    },
  };
}

function addressOf(loaded: LoadedConfig | undefined): string {
  if (loaded === undefined) return '';
  const { host, port } = loaded.config.listen.admin;
  if (port === 0) {
    throw misused('listen.admin.port is 0, so the gate listens on a random port.', {
      reason: 'Pass its address with --admin, or configure a port.',
    });
  }
  const scheme = loaded.admin.mtls === undefined ? 'http' : 'https';
  return `${scheme}://${hostPort({ host: reachableHost(host), port })}`;
}

export async function readTextFile(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw misused(`Cannot read ${path}.`, { cause });
  });
}

/** Turns an error response of the admin listener into a failure with advice. */
function refusal({ status, text }: AdminAnswer, address: string, file: string | undefined): CommandFailure {
  const title = titleOf(text);
  const config = file === undefined ? undefined : shellWord(file);
  if (status === 401 || status === 403) {
    return new CommandFailure(`The gate refused this command: ${title}`, {
      reason:
        'Commands are signed with admin.hmac of the file given by --config, or authenticated by --cert and --key.',
      ...(config === undefined ? {} : { next: `coursegate check ${config}` }),
    });
  }
  if (status >= 500) {
    return new CommandFailure(`The gate cannot do this right now: ${title}`, {
      next: `coursegate health ${config === undefined ? `--admin ${address}` : `--config ${config}`}`,
      code: EXIT.unavailable,
    });
  }
  return new CommandFailure(title, { code: status === 404 ? EXIT.unanswered : EXIT.failure });
}

function titleOf(text: string): string {
  const { title } = Object(asJson(text)) as { title?: unknown };
  return typeof title === 'string' ? title : firstLine(text);
}

/** Whether an answer is of a kind that an admin listener never gives to a program. */
export function isForeign({ status, type }: AdminAnswer): boolean {
  return (status >= 300 && status < 400) || type === 'text/html' || type === 'application/xhtml+xml';
}

/** The failure for an answer that no gate gives. It says what answered, in one line and without its markup. */
function notAGate(address: string, answer: AdminAnswer): CommandFailure {
  return new CommandFailure(`No gate answers at ${address}, but something else: ${described(answer)}.`, {
    reason: 'Is this the address of the admin listener (listen.admin), and not that of the site?',
    code: EXIT.unavailable,
  });
}

function described({ status, type, location, text }: AdminAnswer): string {
  if (location !== undefined) return `${status}, a redirect to ${printable(location)}`;
  const title = /<title[^>]{0,100}>([^<]{0,200})/i.exec(text.slice(0, 20_000))?.[1]?.trim();
  if (title !== undefined) return `${status}, a page “${printable(title)}”`;
  if (text.trim() === '') return `${status} without content`;
  return type === 'text/plain' || type === '' ? `${status}, ${firstLine(text)}` : `${status} with ${printable(type)}`;
}

/** The first line of a text, safe for a terminal. */
export function firstLine(text: string): string {
  return printable(text.trim().split('\n')[0] ?? '').slice(0, 200);
}

/** The parsed text; undefined if it is no JSON. */
export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
