/** Looks without pause until the answer is yes; fails after a hundred seconds. */
export async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 100_000;
  while (!(await look())) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
