import { afterEach, expect, test, vi } from 'vitest';

const bytes = Uint8Array.from({ length: 20_000 }, (_, i) => (i * 31) % 256);
const text = Buffer.from(bytes).toString('base64');

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test('base64 is the same in a browser, which has no Buffer', async () => {
  const { btoa, atob } = globalThis;
  vi.stubGlobal('Buffer', undefined);
  vi.stubGlobal('btoa', btoa);
  vi.stubGlobal('atob', atob);
  vi.resetModules();
  const value = await import('./value.ts');
  expect(value.toBase64(bytes)).toBe(text);
  expect(value.fromBase64(text)).toEqual(bytes);
  expect(value.sameBytes(bytes, bytes.slice())).toBe(true);
});
