// @module-tag soak
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startChild } from '../../scripts/local/child.ts';

function startProgram(program: string, graceMs = 5_000) {
  const first = Promise.withResolvers<string>();
  const child = startChild({ name: 'test', parameters: ['-e', program], environment: process.env, onLine: first.resolve, graceMs });
  return { child, firstLine: first.promise };
}

/** A program that serves until it is ended and prints where. */
const server = `require('node:http').createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1', function () {
  console.log('http://127.0.0.1:' + this.address().port);
});`;
const startGrandchild = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(server)}], { stdio: 'inherit' });`;

const isServing = (url: string) =>
  fetch(url, { headers: { connection: 'close' } }).then(
    () => true,
    () => false,
  );

test('stopping a child ends what it started, too', async () => {
  const { child, firstLine } = startProgram(`${startGrandchild} setInterval(() => {}, 1000);`);
  const url = await firstLine;
  expect(await isServing(url)).toBe(true);
  await child.stop();
  expect(await child.ended).toBe('SIGTERM');
  await sleep(50);
  expect(await isServing(url)).toBe(false);
});

test('a child that ended by itself says how, and what it left behind is still ended', async () => {
  const { child, firstLine } = startProgram(`${startGrandchild} setTimeout(() => process.exit(3), 1500);`);
  const url = await firstLine;
  expect(await child.ended).toBe('exit code 3');
  expect(await isServing(url)).toBe(true);
  await child.stop();
  await sleep(50);
  expect(await isServing(url)).toBe(false);
});

test('a child that will not end is ended by force', async () => {
  const { child, firstLine } = startProgram(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up');`, 100);
  await firstLine;
  await child.stop();
  expect(await child.ended).toBe('SIGKILL');
});

test('a child whose parent is killed ends by itself', async () => {
  const childModule = JSON.stringify(new URL('../../scripts/local/child.ts', import.meta.url).href);
  const parent = `import(${childModule}).then(({ startChild }) => startChild({
    name: 'inner', parameters: ['-e', ${JSON.stringify(server)}], environment: process.env, onLine: (line) => console.log(line),
  })); setInterval(() => {}, 1000);`;
  const { child, firstLine } = startProgram(parent);
  const url = await firstLine;
  expect(await isServing(url)).toBe(true);
  await child.stop();
  await sleep(1_500);
  expect(await isServing(url)).toBe(false);
});
