import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@playwright/test';
import { test } from './app.ts';

test('MC-08: a page from another port of this machine gets neither the engine nor anything to get it with', async ({
  app: { page, cli },
}) => {
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  const { url } = (await cli('up', '--detach')) as { url: string };
  const key = new URLSearchParams(new URL(url).hash.slice(1)).get('token') ?? '';
  expect(key).not.toBe('');
  const seen: IncomingHttpHeaders[] = [];
  const evil = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader('content-type', 'text/html');
    response.end('<title>evil</title>');
  }).listen(0, '127.0.0.1');
  await once(evil, 'listening');
  try {
    // In the same browser, with everything it remembers.
    const other = await page.context().newPage();
    await other.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
    const tried = await other.evaluate(
      async ({ app, key: known }) => {
        const open = (protocols: string[]) =>
          new Promise<string>((resolve) => {
            const socket = new WebSocket(`${app.replace('http', 'ws')}/rpc`, protocols);
            socket.onopen = () => resolve('open');
            socket.onerror = () => resolve('refused');
          });
        const frame = document.createElement('iframe');
        frame.src = app;
        const loaded = new Promise((resolve) => (frame.onload = resolve));
        document.body.append(frame);
        await loaded;
        return {
          read: await fetch(app).then(
            () => 'read',
            () => 'refused',
          ),
          without: await open(['forkyard']),
          // Even with the key: the origin is not the app's.
          with: await open(['forkyard', `forkyard.key.${known}`]),
          framed: frame.contentDocument === null ? 'out of reach' : 'readable',
          kept: { ...localStorage, ...sessionStorage },
        };
      },
      { app: new URL(url).origin, key },
    );
    expect(tried).toEqual({ read: 'refused', without: 'refused', with: 'refused', framed: 'out of reach', kept: {} });
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen) {
      expect(headers.cookie).toBeUndefined();
      expect(JSON.stringify(headers)).not.toContain(key);
    }
  } finally {
    evil.close();
  }
});

test('the key leaves the address bar, a reload goes on with it, and a tab without it is told what to do', async ({
  app: { page },
}) => {
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  expect(page.url()).not.toContain('token');
  await page.reload();
  await expect(page.getByRole('heading', { name: /Start with data/ })).toBeVisible();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await expect(other.getByRole('heading', { name: 'This browser tab has no key to the engine.' })).toBeVisible();
});
