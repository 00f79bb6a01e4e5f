import { join, resolve } from 'node:path';
import { type Environment, type Setting, settingsTree } from './setting.ts';
import { merge, type Tree, valueAt } from './tree.ts';

/**
 * Reads the short variables that platforms and people set by habit. The `COURSEGATE__…` variables override them.
 *
 * | variable             | sets                                                                             |
 * |----------------------|----------------------------------------------------------------------------------|
 * | `COURSEGATE_PROFILE` | `profile`                                                                        |
 * | `PORT`               | `listen.port`, and the port of an `origin` on localhost (see below)              |
 * | `ADMIN_PORT`         | `listen.admin.port`                                                              |
 * | `COURSEGATE_DATA`    | `store.path` = DIR/coursegate.db when the store is sqlite; DIR relative to cwd   |
 */
export function environmentAliases(
  environment: Environment,
  settings: readonly Setting[],
  below: Tree,
): readonly Setting[] {
  const long = settingsTree(settings);
  const made: Setting[] = [];
  const set = (variable: string, path: readonly string[], make: (text: string) => unknown) => {
    const text = environment[variable];
    if (text !== undefined && text !== '') made.push({ variable, path, value: make(text) });
  };

  set('COURSEGATE_PROFILE', ['profile'], (text) => text);
  set('PORT', ['listen', 'port'], number);
  set('ADMIN_PORT', ['listen', 'admin', 'port'], number);
  if (valueAt(merge(below, long), ['store', 'kind']) === 'sqlite') {
    set('COURSEGATE_DATA', ['store', 'path'], (directory) => join(resolve(directory), 'coursegate.db'));
  }

  const overruled = valueAt(long, ['listen', 'port']) !== undefined;
  const origin = overruled ? undefined : originOnPort(valueAt(below, ['origin']), environment.PORT);
  if (origin !== undefined) set('PORT', ['origin'], () => origin);
  return made;
}

/**
 * Applies `PORT` to an origin on localhost. Such an origin is the listener itself, so it follows the listener:
 * http://localhost:8080 with PORT=9000 becomes http://localhost:9000. Any other origin is the public name of a proxy in
 * front of the gate, whose port is not ours to change. Port 0 (any free port) yields no origin.
 */
function originOnPort(origin: unknown, port: string | undefined): string | undefined {
  if (typeof origin !== 'string' || !URL.canParse(origin)) return undefined;
  if (port === undefined || !/^[1-9]\d{0,4}$/.test(port)) return undefined;
  const url = new URL(origin);
  if (url.hostname !== 'localhost' && url.hostname !== '127.0.0.1') return undefined;
  url.port = port;
  return url.origin;
}

/** Leaves text that is not a number as it is: the schema then reports the mistake with the variable's name. */
function number(text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}
