// Runs a hook that is a function for node, on a port: shim.js PORT FILE. The path of a request doesn't matter.
const http = require('http');
const hook = require(process.argv[3]);

http.createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', async () => {
    try {
      const answer = await hook({request: {body: JSON.parse(Buffer.concat(parts))}});
      response.writeHead(answer.status, answer.headers);
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    } catch (error) {
      response.writeHead(500, {'Content-Type': 'text/plain'});
      response.end(String(error));
    }
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
