import { describe, expect, it } from 'vitest';
import { hidePassword, uriParts, withoutPassword } from './uri.ts';

const uri = 'mongodb://claude-code:s3cret@127.0.0.1:27118/?directConnection=true';

describe('a connection string', () => {
  it('is taken apart at its password', () => {
    expect(uriParts(uri)).toEqual({
      before: 'mongodb://claude-code',
      password: 's3cret',
      after: '@127.0.0.1:27118/?directConnection=true',
    });
    expect(uriParts('mongodb://127.0.0.1/').password).toBeUndefined();
  });

  it('loses nothing but the password', () => {
    expect(withoutPassword(uri)).toBe('mongodb://claude-code@127.0.0.1:27118/?directConnection=true');
  });

  it('is hidden wherever it stands in a snippet', () => {
    expect(hidePassword(`a ${uri} b`, uri)).not.toContain('s3cret');
  });
});
