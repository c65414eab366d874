import type { Slice } from '../bson/walk.ts';

/** Values under names, in order: an object's fields, or an array's elements under the texts of their ids. */
export class Named {
  private byName: Map<string, Slice> | undefined;

  constructor(
    readonly names: readonly string[],
    readonly values: readonly Slice[],
  ) {}

  get(name: string): Slice | undefined {
    // Most objects are compared name by name in step; only the others need to look names up.
    this.byName ??= new Map(this.names.map((own, index) => [own, this.values[index]!]));
    return this.byName.get(name);
  }
}
