import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLog } from './log.ts';

let data: string;
beforeEach(() => (data = mkdtempSync(join(tmpdir(), 'forkyard-log-'))));
afterEach(() => rmSync(data, { recursive: true }));

test('lines carry their time, no secret, and are for the owner alone', () => {
  openLog(data, 'engine.log')('lost mongodb://me:p@ss@127.0.0.1:1/\nat once');
  const text = readFileSync(join(data, 'engine.log'), 'utf8');
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT\S+Z lost mongodb:\/\/\*\*\*@127\.0\.0\.1:1\/\n {2}at once\n$/);
  expect(statSync(join(data, 'engine.log')).mode & 0o777).toBe(0o600);
});

test('the key to the loopback web is no part of a log', () => {
  openLog(data, 'app.log')('open http://127.0.0.1:1/#token=abc-D_e, forkyard.key.abc-D_e');
  expect(readFileSync(join(data, 'app.log'), 'utf8')).toMatch(/ open \S+\/#token=\*\*\*, forkyard\.key\.\*\*\*\n$/);
});

test('a log over 5 MB makes room and keeps what it had', () => {
  writeFileSync(join(data, 'engine.log'), 'x'.repeat(5 * 1024 * 1024 + 1));
  openLog(data, 'engine.log')('new');
  expect(statSync(join(data, 'engine.log.1')).size).toBeGreaterThan(5 * 1024 * 1024);
  expect(readFileSync(join(data, 'engine.log'), 'utf8')).toMatch(/ new\n$/);
});

test('a log that cannot be written stops nobody', () => {
  expect(() => openLog(join(data, 'missing'), 'app.log')('line')).not.toThrow();
});
