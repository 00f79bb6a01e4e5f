import { setImmediate } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import { ApiError } from './api-error.ts';
import { wholeNumber } from './paging.ts';

const MOST_TICKS = 100;

/** Sends `count` server-sent events and ends. Each one is written in its own turn, so that they are separate chunks. */
export const ticks: RequestHandler = async (request, response) => {
  const count = wholeNumber(request, 'count', 3);
  if (count > MOST_TICKS) throw new ApiError(400, 'bad_request', `count must be at most ${MOST_TICKS}.`);
  response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  for (let tick = 1; tick <= count && !response.destroyed; tick += 1) {
    response.write(`id: ${tick}\nevent: tick\ndata: {"tick":${tick},"of":${count}}\n\n`);
    await setImmediate();
  }
  response.end();
};
