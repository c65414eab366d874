import { describe, expect, it } from 'vitest';
import { ForkyardError } from '../../../shared/errors.ts';
import { parseAddress } from './address.ts';

function refusal(uri: string): ForkyardError {
  try {
    parseAddress(uri);
  } catch (error) {
    if (error instanceof ForkyardError) return error;
  }
  throw new Error('was not refused');
}

describe('a password pasted as it is', () => {
  it.each([
    'p@ss:w/rd%?#[]$',
    'p@ss',
    'p@ss/word',
    'p@ss?word',
    'pa:ss',
    'pa/ss',
    'pa?ss',
    'pa#ss',
    'pa[ss',
    'pa]ss',
    '100%sure',
    'p@ss?w=1',
    'a@b@c',
  ])('%s is recognised, and nothing of it is shown', (password) => {
    for (const rest of ['localhost:27017', 'db.example.com/shop?replicaSet=rs0', '[::1]']) {
      const error = refusal(`mongodb://root:${password}@${rest}`);
      expect(error.message).toContain('percent-encoded');
      const seen = JSON.stringify([error.toBody(), error.stack]);
      for (const part of [password, ...password.split('@').filter((piece) => piece.length > 2)]) {
        expect(seen).not.toContain(part);
      }
    }
  });

  it('is taken when it needs no escaping, or is escaped', () => {
    for (const password of ['pass', 'p$ss!*()=+', encodeURIComponent('p@ss:w/rd%?#[]$')]) {
      expect(parseAddress(`mongodb://root:${password}@h:1/`)).toMatchObject({ label: 'h:1', mayBeDirect: true });
    }
  });
});

it('an @ in the value of appName is no password', () => {
  const uri =
    'mongodb://name:a2V5PT0%3D@name.mongo.cosmos.azure.com:10255/?ssl=true&replicaSet=globaldb&appName=@name@';
  expect(parseAddress(uri).label).toBe('name.mongo.cosmos.azure.com:10255');
});

it('several hosts, SRV and directConnection are told apart', () => {
  expect(parseAddress('mongodb://a:1,b:2/?replicaSet=rs')).toMatchObject({ label: 'a:1, b:2', mayBeDirect: false });
  expect(parseAddress('mongodb+srv://u:p@cluster.example.net/')).toMatchObject({ mayBeDirect: false });
  expect(parseAddress('mongodb://a/?directConnection=false')).toMatchObject({ mayBeDirect: false });
});

it('addresses of IPv6 are parsed; a link-local one with its interface is named as what the driver cannot reach', () => {
  expect(parseAddress('mongodb://u:p@[::1]:27018/').label).toBe('[::1]:27018');
  for (const zone of ['%en0', '%25en0']) {
    const error = refusal(`mongodb://u:p@[fe80::1${zone}]:27018/`);
    expect(error.code).toBe('source_unreachable');
    expect(error.message).toBe(`[fe80::1${zone}]:27018 is a link-local address, which the driver cannot connect to.`);
  }
});

it('what is no connection string is refused in plain words that show nothing of it', () => {
  for (const uri of ['mongodb://', 'mongodb://us%zzer:secret@h', 'mongodb://@h/']) {
    const error = refusal(uri);
    expect(error.code).toBe('source_unreadable');
    expect(JSON.stringify(error.toBody())).not.toContain('secret');
  }
});

it('an SRV address with a port, or with several hosts, is told what is wrong with it', () => {
  for (const uri of ['mongodb+srv://u:secret@h.example.com:27017/', 'mongodb+srv://a.example.com,b.example.com/']) {
    expect(refusal(uri)).toMatchObject({
      code: 'source_unreadable',
      message: 'A mongodb+srv:// address names one host and no port.',
      hint: expect.stringContaining('mongodb://host1:27017'),
    });
  }
});
