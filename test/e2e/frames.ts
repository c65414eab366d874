import { expect, type Page } from '@playwright/test';

/** A window that computes so long without a frame stands still: a key typed meanwhile would not be seen. */
const limitMs = 2_000;

/**
 * While `act` runs, the window never stands still for long. From one frame to the next the processor time of the window's
 * thread counts, not the clock: a machine that gives its time to others is no fault of the window.
 */
export async function worstFrame(page: Page, act: () => Promise<void>): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const threadMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    const thread = metrics.find(({ name }) => name === 'ThreadTime');
    if (thread === undefined) throw new Error('the window does not tell its processor time');
    return thread.value * 1_000;
  };
  let worst = 0;
  let over = false;
  const watch = async (): Promise<void> => {
    for (let last = await threadMs(); !over;) {
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
      const now = await threadMs();
      worst = Math.max(worst, now - last);
      last = now;
    }
  };
  const watching = watch();
  try {
    await act();
  } finally {
    over = true;
    await watching;
    await session.detach();
  }
  expect(worst, 'milliseconds of computing without a frame').toBeLessThan(limitMs);
}
