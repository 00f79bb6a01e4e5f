import express, { type Express } from 'express';

const JSON_LIMIT = '64kb';

/** Out: an express application that does not name itself and takes addresses by the letter. */
export function createService(): Express {
  const service = express();
  service.disable('x-powered-by');
  service.enable('case sensitive routing');
  return service;
}

/** The parser of JSON bodies: `request.body` stays undefined for any other kind of body. */
export const jsonBody = express.json({ limit: JSON_LIMIT });
