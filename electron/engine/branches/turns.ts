/** Work that must not meet on one branch (locking and copying, adopting, ending, waking) runs one after the other. */
export class Turns {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Runs `work` when all earlier work on this branch has ended, however that ended. Not from inside such work. */
  take<T>(branchId: string, work: () => Promise<T>): Promise<T> {
    const result = (this.tails.get(branchId) ?? Promise.resolve()).then(work, work);
    const tail = result
      .catch(() => undefined)
      .then(() => {
        if (this.tails.get(branchId) === tail) this.tails.delete(branchId);
      });
    this.tails.set(branchId, tail);
    return result;
  }
}
