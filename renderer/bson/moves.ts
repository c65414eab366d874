/**
 * Which of a reordered sequence's members must be moved at least: `ranks` are the old places in the new order, each once. What
 * is left out of the longest ascending part has moved.
 */
export function movedAt(ranks: readonly number[]): number[] {
  const tails: number[] = [];
  const before = new Int32Array(ranks.length).fill(-1);
  ranks.forEach((rank, index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ranks[tails[middle]!]! < rank) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? -1 : tails[low - 1]!;
    tails[low] = index;
  });
  const stays = new Uint8Array(ranks.length);
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at]!) stays[at] = 1;
  return ranks.flatMap((_, index) => (stays[index] === 1 ? [] : [index]));
}
