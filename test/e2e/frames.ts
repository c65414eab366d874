import { expect, type Page } from '@playwright/test';

/** While `act` runs, the window never stands still for long: a key typed meanwhile would be seen. */
export async function worstFrame(page: Page, act: () => Promise<void>): Promise<void> {
  await page.evaluate(() => {
    let last = performance.now();
    const watch = { worst: 0, on: true };
    (window as unknown as { watch: typeof watch }).watch = watch;
    const frame = (): void => {
      const now = performance.now();
      watch.worst = Math.max(watch.worst, now - last);
      last = now;
      if (watch.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await act();
  const worst = await page.evaluate(() => {
    const { watch } = window as unknown as { watch: { worst: number; on: boolean } };
    watch.on = false;
    return watch.worst;
  });
  expect(worst, 'milliseconds without a frame').toBeLessThan(2_000);
}
