import { ForkyardError } from '../../../shared/errors.ts';

const attempts = 4;

/**
 * Makes a plan and applies it. Where documents moved in between it is made anew, at most three times: what they became is
 * merged like anything else, and what must be decided then is refused.
 */
export async function whileMoving<T>(planAndApply: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await planAndApply();
    } catch (error) {
      const moved =
        error instanceof ForkyardError && error.code === 'plan_stale' ? error.details?.['moved'] : undefined;
      const documents = Array.isArray(moved) && moved.length > 0 && moved.every((each: object) => 'id' in each);
      if (!documents || attempt === attempts) throw error;
    }
  }
}
