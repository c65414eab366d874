import { ForkyardError } from '../../../shared/errors.ts';
import { engineActor, ttlActor } from '../home/records.ts';

const longest = 200;
const reserved = [engineActor, ttlActor].map((name) => name.toLowerCase());

/**
 * An actor is told in the record by this name: it is one line that can be seen, and none that the record itself uses.
 * @throws ForkyardError `name_invalid`
 */
export function requireActorName(actor: string): void {
  if (reserved.includes(actor.trim().toLowerCase())) {
    throw new ForkyardError(
      'name_invalid',
      `No actor can be called ${actor.trim()}: the record says so of other writes.`,
      {
        hint: 'Choose another name.',
      },
    );
  }
  if (actor.trim() === actor && actor !== '' && actor.length <= longest && !/\p{C}|\p{Zl}|\p{Zp}/u.test(actor)) return;
  const shown = actor.length > longest ? `${actor.slice(0, 20)}…` : actor;
  throw new ForkyardError('name_invalid', `${JSON.stringify(shown)} cannot be an actor's name.`, {
    hint: `Use one to ${longest} characters on one line, as in agent:run-1, with no space at either end.`,
  });
}
