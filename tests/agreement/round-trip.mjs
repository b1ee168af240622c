// A client for the scenario json-schema-2020-12-preservation: it lists the tools, and passes the schema of the first tool
// to the second. `casebook drive` runs both steps.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [casebook, target, url] = process.argv.slice(2);

function drive(...args) {
  const done = spawnSync(casebook, ['drive', target, ...args], { encoding: 'utf8' });
  process.stdout.write(done.stdout);
  process.stderr.write(done.stderr);
  if (done.status !== 0) process.exit(done.status ?? 1);
  return done.stdout;
}

const handed = drive('everything/client-json-schema-2020-12-preservation/handed-over', url);
const { tools } = JSON.parse(handed.split('\n')[1]);
const schema = tools.find(({ name }) => name === 'json_schema_2020_12_tool').inputSchema;

const folder = mkdtempSync(join(tmpdir(), 'casebook-agreement-'));
try {
  mkdirSync(join(folder, 'back'));
  const call = { call: 'json_schema_echo', arguments: { schema: { '@literal': schema } } };
  const echo = { description: 'Takes a schema.', inputSchema: { type: 'object' }, does: { echo: true } };
  const back = {
    $schema: '../schemas/case.json',
    title: 'What was handed over goes back',
    role: 'client',
    given: { tools: { json_schema_echo: echo } },
    tests: {
      back: {
        title: 'the schema goes back as it came',
        steps: [
          { when: { list: 'tools' }, then: 'observe' },
          { when: call, then: 'observe' },
        ],
      },
    },
  };
  writeFileSync(join(folder, 'back', 'requirements.json'), '{}\n');
  writeFileSync(join(folder, 'back', 'back.json'), JSON.stringify(back, null, 2));
  drive('back/back', url, '--cases', folder);
} finally {
  rmSync(folder, { recursive: true });
}
