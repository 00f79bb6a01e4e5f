import express, { type Express } from 'express';

const JSON_LIMIT = '64kb';

/** An Express application without X-Powered-By and with case-sensitive paths. */
export function createService(): Express {
  const service = express();
  service.disable('x-powered-by');
  service.enable('case sensitive routing');
  return service;
}

/** Parses JSON bodies. `request.body` stays undefined for other content types. */
export const jsonBody = express.json({ limit: JSON_LIMIT });
