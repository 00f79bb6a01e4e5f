/** What every Node program tells the harness. test/clients/README.md has the protocol. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';

export const { ISSUER, RESOURCE, PROFILE, MCP_URL, ACCOUNT_URL, CALLBACK, STEP_UP } = process.env;

let current = 'the start';

/** Reports the version of an installed package, which this folder or the root has. */
export function version(name) {
  const folder = createRequire(import.meta.url)
    .resolve.paths(name)
    .find((path) => existsSync(`${path}/${name}`));
  say('version', { library: JSON.parse(readFileSync(`${folder}/${name}/package.json`, 'utf8')).version });
}

/** Reports the lines that the app had to set. */
export function needs(...lines) {
  say('needs', { lines });
}

/** Reports a step as done. */
export function step(name) {
  say('step', { name });
  current = `after ${name}`;
}

/** Asks the member to open a URL. */
export function open(url) {
  say('authorize', { url: String(url) });
}

/** Waits until the access token has expired. */
export async function expiry() {
  await wait((Number(process.env.TOKEN_LIFETIME) + 1) * 1000);
}

/** Runs a program's steps, and reports the first that fails. */
export async function run(steps) {
  try {
    await steps();
    process.exit(0);
  } catch (error) {
    say('failed', { step: current, message: messageOf(error) });
    console.error(error);
    process.exit(1);
  }
}

/** Throws unless the two are equal. */
export function same(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** Throws unless the response is a success. Returns its JSON. */
export async function json(response) {
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${await response.text()}`);
  return await response.json();
}

function say(word, value) {
  process.stdout.write(`${word} ${JSON.stringify(value)}\n`);
}

function messageOf(error) {
  const parts = [];
  for (let at = error; at !== undefined && at !== null && parts.length < 4; at = at.cause) {
    parts.push(at.error_description ?? at.message ?? JSON.stringify(at));
  }
  return parts.join(': ');
}
