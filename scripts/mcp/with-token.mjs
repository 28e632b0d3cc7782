// The conformance tool cannot send a token, so this stands in front of Void and adds one. Everything else,
// Host and Origin above all, passes as it came.
//   node with-token.mjs SERVER_PORT   (VOID_AGENT_TOKEN)   prints the port it listens on
import http from "node:http";

const port = Number(process.argv[2]);
const token = process.env.VOID_AGENT_TOKEN;

const server = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const { method, url: path } = request;
  const passed = http.request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  request.pipe(passed);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
