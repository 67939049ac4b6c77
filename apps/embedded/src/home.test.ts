import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openHome } from './home.js';
import { openSecrets, saveSecrets } from './secrets.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cellar-home-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('a home that a running start has is refused, with its process', async () => {
  const path = folder();
  const script = join(path, 'bootstrap.mjs');
  writeFileSync(script, 'setInterval(() => undefined, 1e6)');
  const other = spawn(process.execPath, [script]);
  const exited = once(other, 'exit');
  onTestFinished(async () => {
    other.kill();
    await exited;
  });
  await once(other, 'spawn');
  writeFileSync(join(path, 'lock.json'), JSON.stringify({ pid: other.pid }));
  expect(() => openHome(path)).toThrow(new RegExp(`already running in ${path} \\(process ${other.pid}\\)`));
});

test('a lock that a killed start left, a stranger got the number of, or that is damaged, is taken over', () => {
  const path = folder();
  for (const content of [JSON.stringify({ pid: 2 ** 22 - 1 }), JSON.stringify({ pid: process.pid }), '{']) {
    writeFileSync(join(path, 'lock.json'), content);
    const home = openHome(path);
    expect(JSON.parse(readFileSync(home.file('lock.json'), 'utf8'))).toEqual({ pid: process.pid });
    home[Symbol.dispose]();
    expect(() => statSync(join(path, 'lock.json'))).toThrow();
  }
});

test('a folder that cannot be made is told in one sentence', () => {
  const path = folder();
  writeFileSync(join(path, 'file'), '');
  expect(() => openHome(join(path, 'file', 'home'))).toThrow(/cannot be written. Choose another: CELLAR_HOME=/);
});

test('secrets are made once, and only we may read them or dev.json', () => {
  using home = openHome(folder());
  const made = openSecrets(home);
  expect(openSecrets(home)).toEqual(made);
  saveSecrets(home, { ...made, apiKey: 'cel_a_b' });
  expect(openSecrets(home).apiKey).toBe('cel_a_b');
  home.writeDevFile({ url: 'http://127.0.0.1:1', apiKey: 'a', adminKey: 'b', pids: { api: 1, workers: [2] } });
  for (const name of ['secrets.json', 'dev.json']) expect(statSync(home.file(name)).mode & 0o777).toBe(0o600);
});

test('damaged secrets are told, not replaced: the data beside them depends on them', () => {
  using home = openHome(folder());
  writeFileSync(home.file('secrets.json'), '{}');
  expect(() => openSecrets(home)).toThrow(/secrets.json cannot be read/);
  expect(readFileSync(home.file('secrets.json'), 'utf8')).toBe('{}');
});

test('a home where no folder can be made is refused at once', () => {
  const file = join(folder(), 'file');
  writeFileSync(file, '');
  for (const path of ['/proc/nowhere/home', join(file, 'home')]) {
    expect(() => openHome(path)).toThrow(`The folder ${path} cannot be written.`);
  }
});
