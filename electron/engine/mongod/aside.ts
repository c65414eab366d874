/**
 * A collection that is being dropped or put back stands aside for that time, under a name that nobody else uses: so it
 * goes, and comes, whole and in one moment. What happens to it there is the engine's own affair and no change of anybody.
 */
const prefix = 'forkyard.aside.';

/** The name, within its database, of the collection that this step of this plan has set aside. */
export function asideName(plan: string, step: number): string {
  return `${prefix}${plan}.${step}`;
}

/**
 * The name of what this step had made and is being taken away again: whether others have written to it is still to be looked
 * at, while what stands under {@link asideName} is not whole yet.
 */
export function leavingName(plan: string, step: number): string {
  return `${asideName(plan, step)}.leaving`;
}

export function isAside(collection: string | undefined): boolean {
  return collection?.startsWith(prefix) ?? false;
}
