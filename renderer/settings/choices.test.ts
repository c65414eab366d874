import { describe, expect, it } from 'vitest';
import { lifeOf, memoryChoices } from './choices.ts';

describe('settings', () => {
  it('name a life that is one of the choices, and say where it is none', () => {
    expect(lifeOf(3_600_000)).toBe('hour');
    expect(lifeOf(null)).toBe('keep');
    expect(lifeOf(90_000)).toBe('other');
  });

  it('always offer the memory that is set', () => {
    expect(memoryChoices(256).map(({ label }) => label)).toEqual(['256 MB', '512 MB', '1 GB', '2 GB']);
    expect(memoryChoices(384).map(({ value }) => value)).toContain('384');
  });
});
