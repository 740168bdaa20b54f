// Node's http as it comes: node server.js PORT [CERT KEY]
const [port, cert, key] = process.argv.slice(2);
const hello = (request, response) => response.end('hello\n');
const read = require('fs').readFileSync;
const server = cert
  ? require('https').createServer({ cert: read(cert), key: read(key) }, hello)
  : require('http').createServer(hello);
server.listen(port, '127.0.0.1');
