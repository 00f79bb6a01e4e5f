import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuMeter } from '../../support/cpu.ts';
import type { Cost } from '../../support/load.ts';
import { toolPath } from '../../support/tools.ts';
import type { Running } from '../peers/peer.ts';
import { OTHER_PROCESSOR } from '../upstream.ts';
import { counting, countsOf } from './counters.ts';

/** The cost of a slice, and what each process of the subject had of its CPU time. */
export interface Saturation extends Cost {
  /** CPU time per operation in microseconds, in the order of the subject's roots. */
  readonly each: readonly number[];
  /** Per operation; NaN where they cannot be counted. */
  readonly instructions: number;
  readonly cacheMisses: number;
}

const CONNECTIONS = 48;

/** Sends requests as fast as responses arrive, on 48 keep-alive connections. Throws if a response is not 200. */
export async function saturate(
  running: Pick<Running, 'port' | 'roots' | 'tokens'>,
  path: string,
  seconds: number,
  folder: string,
  pinned: boolean,
): Promise<Saturation> {
  const wrk = toolPath('wrk');
  const script = join(folder, `wrk-${running.port}.lua`);
  writeFileSync(script, requests(running.tokens));
  const url = `http://127.0.0.1:${running.port}${path}`;
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script, url];
  const command = pinned ? ['taskset', '-c', String(OTHER_PROCESSOR), wrk, ...args] : [wrk, ...args];
  const counted = join(folder, `counted-${running.port}`);
  const [program, ...rest] = counting(running.roots, counted, command);
  const meters = running.roots.map((root) => cpuMeter([root]));
  const { stdout } = await promisify(execFile)(program as string, rest);
  const times = meters.map((used) => used());
  const done = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  const bad = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout);
  if (bad !== null || !(done > 0)) throw new Error(`requests to ${url} failed: ${stdout}`);
  const each = times.map((time) => time / done);
  const counts = countsOf(counted);
  return {
    ...{ perSecond, cpu: each.reduce((sum, one) => sum + one, 0), each, operations: done },
    instructions: (counts?.instructions ?? Number.NaN) / done,
    cacheMisses: (counts?.cacheMisses ?? Number.NaN) / done,
  };
}

/** Seven headers as an assistant sends them, with another token for each request. */
function requests(tokens: readonly string[]): string {
  return `local tokens = { ${tokens.map((token) => `"${token}"`).join(', ')} }
local made, at = {}, 0
init = function()
  local common = { ["Host"] = wrk.host .. ":" .. wrk.port, ["Accept"] = "application/json", ["Accept-Encoding"] = "gzip, br", ["Accept-Language"] = "en", ["User-Agent"] = "assistant/1.0", ["X-Trace"] = "bench" }
  for i = 1, math.max(1, #tokens) do
    local headers = {}
    for name, value in pairs(common) do headers[name] = value end
    headers["Authorization"] = "Bearer " .. (tokens[i] or "none")
    made[i] = wrk.format("GET", nil, headers)
  end
end
request = function()
  at = at % #made + 1
  return made[at]
end
`;
}
