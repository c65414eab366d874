/** What is larger goes to pieces of its own: a document of home, like any other, ends at 16 MB with all that is beside it. */
export const inlineBytes = 12 * 1024 * 1024;
const pieceBytes = 8 * 1024 * 1024;

/** Bytes that fit no document of home, cut into pieces that do; views of the same memory, in order. */
export function cutIntoPieces(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / pieceBytes);
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes));
}
