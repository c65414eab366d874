/** The driver ships no types for its internals. */
declare module 'mongodb/lib/cmap/commands.js' {
  export class DocumentSequence {
    constructor(field: string);
    /** The first argument is kept only for command monitoring. */
    push(document: object, bytes: Uint8Array): number;
  }
}
