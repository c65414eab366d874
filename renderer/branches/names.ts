const firsts = ['amber', 'birch', 'cedar', 'cobalt', 'copper', 'dusk', 'ember', 'fern', 'granite', 'indigo', 'juniper'];
const seconds = ['siding', 'signal', 'junction', 'switch', 'platform', 'express', 'shuttle', 'trestle'];

/** A name for a sandbox that no branch has yet: two words, easy to say and to type. */
export function suggestName(taken: readonly string[], random: () => number = Math.random): string {
  const used = new Set(taken);
  const pick = (words: readonly string[]): string => words[Math.floor(random() * words.length)] ?? 'sandbox';
  for (let tries = 0; tries < 20; tries += 1) {
    const name = `${pick(firsts)}-${pick(seconds)}`;
    if (!used.has(name)) return name;
  }
  for (let number = 1; ; number += 1) {
    const name = `sandbox-${String(number)}`;
    if (!used.has(name)) return name;
  }
}
