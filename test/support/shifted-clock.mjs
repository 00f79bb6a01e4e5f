// Loaded into a gate with `node --import`. Moves its clock ahead by the milliseconds that a file contained when it
// started.
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
