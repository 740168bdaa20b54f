// Node's http as it comes: node server.js PORT
const http = require('http');
http.createServer((request, response) => response.end('hello\n')).listen(process.argv[2], '127.0.0.1');
