import { readFileSync } from 'node:fs';
import type { Browser, CDPSession, Page } from '@playwright/test';
import { launchChromium, viewport } from '../harness/chromium.ts';
import type { BenchRun } from './run.ts';

const deadlineMs = 180_000;
/** Of the kernel's clock in which it counts CPU time. */
const ticksASecond = 100;
const pageBytes = 4_096;

/** The app in a browser of its own, seen as its user sees it. */
export class BrowserWatch {
  /** From the start of the browser's process to the branch tree on the screen. */
  readonly firstPaintMs: number;
  private readonly browser: Browser;
  private readonly page: Page;
  private readonly session: CDPSession;
  readonly close: () => Promise<void>;
  private memory = { before: 0, peak: 0, timer: undefined as NodeJS.Timeout | undefined };

  private constructor(
    browser: Browser,
    page: Page,
    session: CDPSession,
    firstPaintMs: number,
    close: () => Promise<void>,
  ) {
    this.browser = browser;
    this.page = page;
    this.session = session;
    this.firstPaintMs = firstPaintMs;
    this.close = close;
  }

  static async open(run: BenchRun, url: string): Promise<BrowserWatch> {
    const opened: { browser?: Browser } = {};
    const close = run.cleanup.add(() => opened.browser?.close());
    const from = performance.now();
    const browser = (opened.browser = await launchChromium());
    const page = await browser.newPage({ viewport });
    page.setDefaultTimeout(deadlineMs);
    await page.goto(url);
    await page.getByRole('treeitem').first().waitFor();
    const firstPaintMs = performance.now() - from;
    return new BrowserWatch(browser, page, await browser.newBrowserCDPSession(), firstPaintMs, close);
  }

  async openFeed(branch: string): Promise<void> {
    await this.page.getByRole('treeitem', { name: new RegExp(`^${branch} `) }).click();
    await this.page.getByRole('tab', { name: /Live/ }).click();
    await this.page.getByLabel('Filter by field, value or id').waitFor();
  }

  /** Milliseconds from the click on *Review* to the first of the documents. */
  async openReview(branch: string, documents: number): Promise<number> {
    await this.openFeed(branch);
    const tab = this.page.getByRole('tab', { name: /Review/ });
    await tab.hover();
    const from = performance.now();
    await tab.click();
    await this.page
      .getByRole('grid', { name: /Documents in/ })
      .getByRole('row')
      .first()
      .waitFor();
    const ms = performance.now() - from;
    await this.page.getByRole('heading', { name: `${documents.toLocaleString('en-US')} documents` }).waitFor();
    return ms;
  }

  /** From now on the pauses between two frames are noted, and the renderer's memory every half second. */
  async startFrames(): Promise<void> {
    await this.page.evaluate(() => {
      const frames = { worst: 0, last: performance.now(), on: true };
      Object.assign(globalThis, { frames });
      const frame = (): void => {
        const now = performance.now();
        frames.worst = Math.max(frames.worst, now - frames.last);
        frames.last = now;
        if (frames.on) requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    const before = await this.rendererBytes();
    this.memory = { before, peak: before, timer: undefined };
    this.memory.timer = setInterval(() => {
      void this.rendererBytes().then((bytes) => (this.memory.peak = Math.max(this.memory.peak, bytes)));
    }, 500);
  }

  /** The longest pause, and by how much the renderer's resident memory rose at its highest. */
  async stopFrames(): Promise<{ gapMs: number; memoryMB: number }> {
    clearInterval(this.memory.timer);
    const gapMs = await this.page.evaluate(() => {
      const { frames } = globalThis as unknown as { frames: { worst: number; on: boolean } };
      frames.on = false;
      return frames.worst;
    });
    const peak = Math.max(this.memory.peak, await this.rendererBytes());
    return { gapMs, memoryMB: (peak - this.memory.before) / 2 ** 20 };
  }

  /** Waits until the feed has a row that names this document. */
  async shows(id: number): Promise<void> {
    await this.page
      .getByRole('treegrid', { name: /Writes/ })
      .getByRole('row', { name: new RegExp(`\\b${id}\\b`) })
      .first()
      .waitFor();
  }

  /** Waits until the window has been told of this many writes: each is counted as it comes, and nothing stands in for one. */
  async counted(writes: number): Promise<void> {
    const name = new RegExp(`^${writes.toLocaleString('en-US')} writes in the last`);
    await this.page.getByRole('img', { name }).waitFor();
  }

  /** Milliseconds from each key to the frame that shows what it did. */
  async typeIntoFilter(text: string): Promise<number[]> {
    const field = this.page.getByLabel('Filter by field, value or id');
    await field.evaluate((element) => {
      const keys: number[] = [];
      Object.assign(globalThis, { keys });
      element.addEventListener('keydown', () => {
        const from = performance.now();
        // After the frame has been drawn.
        requestAnimationFrame(() => setTimeout(() => keys.push(performance.now() - from)));
      });
    });
    await field.pressSequentially(text, { delay: 80 });
    await this.page.waitForFunction(
      (count) => (globalThis as unknown as { keys: number[] }).keys.length === count,
      text.length,
    );
    return await this.page.evaluate(() => (globalThis as unknown as { keys: number[] }).keys);
  }

  /** CPU seconds so far of the browser's renderers and of the engine. */
  async cpuSeconds(engine: number): Promise<{ renderer: number; engine: number }> {
    const renderer = (await this.renderers()).reduce((sum, pid) => sum + cpuOf(pid), 0);
    return { renderer, engine: cpuOf(engine) };
  }

  private async rendererBytes(): Promise<number> {
    return (await this.renderers()).reduce((sum, pid) => {
      const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0);
      return sum + pages * pageBytes;
    }, 0);
  }

  private async renderers(): Promise<number[]> {
    const { processInfo } = await this.session.send('SystemInfo.getProcessInfo');
    return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  }
}

/** User and system time; the fields after the name, which may hold anything. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksASecond;
}
