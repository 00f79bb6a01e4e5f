import { createServer } from 'node:http';
import { ANSWER } from './mcp-tools.ts';

/** The school's catalogue, as cheap as possible. */
const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ANSWER) };
createServer((_request, response) => void response.writeHead(200, headers).end(ANSWER)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
);
