/**
 * Node's flags for the engine's process. It makes garbage in pieces of a megabyte (replies of servers, texts of answers), and
 * a young generation of twice 4 MB instead of 16 keeps it below 200 MB while a branch is verified; its speed is the same.
 */
export const engineFlags: readonly string[] = ['--max-semi-space-size=4'];
