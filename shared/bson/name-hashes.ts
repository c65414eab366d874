/** Hashes of the names of one object: says which name may stand twice. */
export class NameHashes {
  private readonly few: number[] = [];
  private many: Set<number> | undefined;

  /** Whether that hash was there before. */
  add(hash: number): boolean {
    if (this.many !== undefined) {
      const { size } = this.many;
      return this.many.add(hash).size === size;
    }
    if (this.few.includes(hash)) return true;
    this.few.push(hash);
    if (this.few.length > 32) this.many = new Set(this.few);
    return false;
  }
}
