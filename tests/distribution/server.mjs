// A small MCP server over stdio, without packages. With the argument `wrong`, the codes of its errors are no integers.
import { createInterface } from "node:readline";

const isWrong = process.argv[2] === "wrong";
const REVISIONS = ["2025-06-18", "2025-11-25"];
const number = { type: "number" };
const inputSchema = { type: "object", properties: { a: number, b: number }, required: ["a", "b"], additionalProperties: false };
const tools = [{ name: "add", description: "Adds two numbers", inputSchema }];

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: REVISIONS.includes(protocolVersion) ? protocolVersion : REVISIONS.at(-1),
    capabilities: { tools: {} },
    serverInfo: { name: "adder", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": ({ cursor }) => {
    if (cursor !== undefined) throw new Refused(-32602, "unknown cursor");
    return { tools };
  },
  "tools/call": ({ name, arguments: given = {} }) => {
    if (name !== "add") throw new Refused(-32602, `unknown tool ${name}`);
    const { a, b, ...more } = given;
    const valid = typeof a === "number" && typeof b === "number" && Object.keys(more).length === 0;
    return { content: [{ type: "text", text: valid ? String(a + b) : "expected two numbers a and b" }], isError: !valid };
  },
};

function answer(message) {
  if (message.id === undefined || message.method === undefined) return undefined;
  const { id, method, params = {} } = message;
  try {
    if (!Object.hasOwn(answers, method)) throw new Refused(-32601, `unknown method ${method}`);
    return { jsonrpc: "2.0", id, result: answers[method](params) };
  } catch (error) {
    const code = error.code ?? -32603;
    return { jsonrpc: "2.0", id, error: { code: isWrong ? String(code) : code, message: error.message } };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = answer(JSON.parse(line));
  } catch {
    reply = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "not JSON" } };
  }
  if (reply) process.stdout.write(`${JSON.stringify(reply)}\n`);
}
