import { isLoopbackHost } from '../http/host.ts';
import { type AdminClient, adminClient, type GateFlags } from './admin-client.ts';
import type { Define } from './command.ts';
import { CommandFailure } from './failure.ts';
import { gateOptions } from './operator.ts';

const SIGN_IN = '/console/sign-in';

export const define: Define = (command, terminal) => {
  gateOptions(command).action(async ({ browser, ...flags }: GateFlags & { readonly browser: boolean }) => {
    const { say, tell } = terminal;
    const gate = await adminClient(flags, terminal, true);
    const { url, advice } = await wayIn(gate);
    say(url);
    for (const line of advice) tell(line);
    if (!browser) return;
    const { openBrowser } = await import('../operator/connect/open-browser.ts');
    openBrowser(url);
  });
};

interface WayIn {
  readonly url: string;
  readonly advice: readonly string[];
}

/** Throws CommandFailure if the gate would refuse it. */
async function wayIn(gate: AdminClient): Promise<WayIn> {
  const { address, secret, mount } = gate;
  if (secret === undefined) {
    await check(gate, SIGN_IN);
    const needed = address.startsWith('https:')
      ? 'Your browser needs a client certificate that admin.mtls accepts.'
      : 'Sign in there with the secret of admin.hmac, or pass --config with the configuration that has it.';
    return { url: `${address}/console`, advice: [needed] };
  }
  const { privateHost, signLink } = await import('../operator/console/link.ts');
  const path = `${SIGN_IN}?link=${signLink(secret, Math.floor(Date.now() / 1000), mount)}`;
  await check(gate, path);
  const url = new URL(address + path);
  const once = 'The link works once, within a minute.';
  // A certificate names the address that it is for, and no other.
  if (url.protocol === 'https:' || !isLoopbackHost(url)) return { url: url.href, advice: [once] };
  url.hostname = privateHost(secret);
  return {
    url: url.href,
    advice: [once, `If your browser does not find this address, sign in with the secret at ${address}/console.`],
  };
}

async function check(gate: AdminClient, path: string): Promise<void> {
  const answer = await gate.ask(path, 'text/html');
  const { status } = answer;
  if (status === 200 && /<title>[^<]* console<\/title>/.test(answer.text)) return;
  if (status === 403)
    throw new CommandFailure('The console is switched off.', {
      reason: 'Set admin.hmac (a secret) or admin.mtls (client certificates) in the configuration.',
    });
  if (status === 401)
    throw new CommandFailure('The gate refused the link.', {
      reason: 'Its admin.hmac differs from the one in the file given by --config, or the clocks differ by a minute.',
    });
  throw gate.noGate(answer);
}
