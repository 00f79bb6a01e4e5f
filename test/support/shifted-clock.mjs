// Loaded into a gate by `node --import`: its clock is ahead by the milliseconds that a file held when it started.
import { readFileSync } from 'node:fs';

const ahead = Number(readFileSync(process.env.TEST_CLOCK_AHEAD, 'utf8'));
const System = Date;
globalThis.Date = class extends System {
  constructor(...given) {
    if (given.length === 0) super(System.now() + ahead);
    else super(...given);
  }

  static now() {
    return System.now() + ahead;
  }
};
