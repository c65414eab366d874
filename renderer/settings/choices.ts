const hourMs = 3_600_000;

/** Lives to choose from, milliseconds; null keeps. */
export const lives = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs, keep: null } as const;
export type Life = keyof typeof lives;

/** Which of the lives this is; `other` where it was set to something else. */
export function lifeOf(ttlMs: number | null): Life | 'other' {
  const found = Object.entries(lives).find(([, ms]) => ms === ttlMs);
  return (found?.[0] as Life | undefined) ?? 'other';
}

const memorySizes = [256, 512, 1024, 2048];

/** Memory sizes to choose from, with the present one among them. */
export function memoryChoices(currentMB: number): { readonly value: string; readonly label: string }[] {
  const sizes = memorySizes.includes(currentMB) ? memorySizes : [...memorySizes, currentMB].sort((a, b) => a - b);
  return sizes.map((mb) => ({ value: String(mb), label: mb % 1024 === 0 ? `${mb / 1024} GB` : `${mb} MB` }));
}

/** Where the server in use came from. */
export function sourceWords(source: string, byEnvironment: boolean): string {
  switch (source) {
    case 'named':
      return byEnvironment ? 'named by the environment' : 'named here';
    case 'bundled':
      return 'the one that came with Forkyard';
    case 'cache':
      return 'downloaded before';
    case 'path':
      return 'found on PATH';
    default:
      return 'downloaded';
  }
}
