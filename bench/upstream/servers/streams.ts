import { createServer } from 'node:http';

/** An upstream of event streams that send one event and are idle from then on. */
createServer((request, response) => {
  if (request.url === '/') return void response.end('ok');
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('data: hello\n\n');
}).listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4096 });
