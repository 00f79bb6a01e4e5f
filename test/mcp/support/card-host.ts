import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Frame, Page } from 'playwright-core';
import { rolldown } from 'rolldown';

/** The Content-Security-Policy for a card that declares no origins (MCP Apps, 2026-01-26, Content Requirements). */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'self'";

const BRIDGE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/ext-apps/app-bridge'));

export interface HostContext {
  readonly theme: 'light' | 'dark';
  readonly locale?: string;
  readonly styles?: { readonly variables: Readonly<Record<string, string>> };
}

/** What a card asked its host for. */
interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: readonly unknown[] }[];
  readonly links: readonly string[];
  readonly sizes: readonly { readonly width?: number; readonly height?: number }[];
}

/** A page that shows a card in a frame of another origin, with the bridge of the MCP Apps SDK. */
export async function startCardHost() {
  const bundle = await rolldown({ input: BRIDGE, logLevel: 'silent' });
  const { output } = await bundle.generate({ format: 'iife', name: 'Bridge' });
  await bundle.close();
  const script = output[0].code;
  let card = '';
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.url === '/card') return void response.setHeader('content-security-policy', POLICY).end(card);
    if (request.url === '/bridge.js') return void response.setHeader('content-type', 'text/javascript').end(script);
    response.end(PAGE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    /** Opens a card, and gives it the result of a tool. Returns its frame, when it is filled. */
    async show(page: Page, html: string, result: object, context: HostContext): Promise<Frame> {
      card = html;
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.evaluate(
        ([url, given, hostContext]) =>
          (globalThis as unknown as { show(...all: readonly unknown[]): Promise<void> }).show(url, given, hostContext),
        [`http://localhost:${port}/card`, result, context] as const,
      );
      const frame = page.frame({ url: /\/card$/ });
      if (frame === null) throw new Error('there is no frame');
      await frame.waitForSelector('#card:not([aria-busy])');
      return frame;
    },
    asked: (page: Page) => page.evaluate(() => (globalThis as unknown as { asked: Asked }).asked),
    change: (page: Page, context: Partial<HostContext>) =>
      page.evaluate(
        (given) =>
          (
            globalThis as unknown as { bridge: { sendHostContextChange(of: unknown): Promise<void> } }
          ).bridge.sendHostContextChange(given),
        context,
      ),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const PAGE = `<!doctype html>
<html lang="en"><title>Host</title><meta name="viewport" content="width=device-width">
<body style="margin: 0"><main><iframe title="Card" sandbox="allow-scripts" style="border: 0; width: 100%"></iframe></main>
<script src="/bridge.js"></script>
<script>
var asked = { messages: [], links: [], sizes: [] };
var bridge;
async function show(url, result, hostContext) {
  document.documentElement.style.background = hostContext.theme === 'dark' ? '#171717' : '#ffffff';
  const frame = document.querySelector('iframe');
  frame.style.colorScheme = hostContext.theme;
  bridge = new Bridge.AppBridge(null, { name: 'test-host', version: '1' }, { openLinks: {}, message: { text: {} } }, { hostContext });
  bridge.onmessage = async (params) => { asked.messages.push(params); return {}; };
  bridge.onopenlink = async ({ url }) => { asked.links.push(url); return {}; };
  bridge.onsizechange = (size) => { asked.sizes.push(size); frame.style.height = size.height + 'px'; };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await bridge.connect(new Bridge.PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = url;
  await ready;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
}
</script></body></html>`;
