/** The word that was most likely meant, or undefined where none is near: two slips at most, or a beginning of it. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const begun = words.find((each) => word.length >= 2 && each.startsWith(word));
  if (begun !== undefined) return begun;
  const ranked = words
    .map((each) => ({ each, slips: distance(word, each) }))
    .filter(({ each, slips }) => slips <= Math.min(2, each.length - 1))
    .sort((a, b) => a.slips - b.slips);
  return ranked[0]?.each;
}

/** Edits from `a` to `b`, one for each letter added, left out, changed, or swapped with its neighbour. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const edits = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same];
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits.push((before[j - 2] ?? 0) + 1);
      row.push(Math.min(...edits));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
