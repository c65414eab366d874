/** How many colours `tokens.css` has for actors. */
export const actorHues = 8;

const storageKey = 'forkyard.actor-colours';
/** Names that are remembered; later ones go by their name alone. */
const mostNames = 500;

let remembered: Map<string, number> | undefined;

/** Which colour an actor has, in every branch: given when it is first seen and remembered from then on. */
export function actorHue(name: string): number {
  remembered ??= stored();
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const hue = freeHue(remembered, name);
  if (remembered.size < mostNames) {
    remembered.set(name, hue);
    localStorage.setItem(storageKey, JSON.stringify([...remembered]));
  }
  return hue;
}

/** The colour that fewest have; of several such, the first from the one that the name asks for. */
export function freeHue(taken: ReadonlyMap<string, number>, name: string): number {
  const uses = Array.from({ length: actorHues }, () => 0);
  for (const hue of taken.values()) uses[hue] = (uses[hue] ?? 0) + 1;
  const fewest = Math.min(...uses);
  const wanted = hash(name) % actorHues;
  const order = uses.map((_, step) => (wanted + step) % actorHues);
  return order.find((hue) => uses[hue] === fewest) ?? wanted;
}

/** FNV-1a. */
function hash(name: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}

function stored(): Map<string, number> {
  try {
    const pairs = JSON.parse(localStorage.getItem(storageKey) ?? '[]') as [string, unknown][];
    return new Map(pairs.filter((pair): pair is [string, number] => isHue(pair[1])).slice(0, mostNames));
  } catch {
    return new Map();
  }
}

function isHue(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) < actorHues;
}
