import { ConnectionString } from 'mongodb-connection-string-url';
import { ForkyardError } from '../../../shared/errors.ts';

/** Where a deployment is, fit to connect with and to be named. */
export interface Address {
  /** What the driver takes. Secret: it holds the credentials. */
  readonly uri: string;
  /** The hosts, for messages. */
  readonly label: string;
  /** True where the URI leaves it to us to ask the one host it names for the others. */
  readonly mayBeDirect: boolean;
}

const encodeHint =
  'Write @ : / ? # [ ] % in a user name or password as %40 %3A %2F %3F %23 %5B %5D %25, or enter them in the form, ' +
  'which takes them as typed.';

/**
 * Parses a connection string. A password pasted with `@ : / ? # [ ] %` in it as they are is recognised before anything of
 * it could be taken for a host. Throws ForkyardError `source_unreadable`; no message holds any part of the credentials.
 */
export function parseAddress(uri: string): Address {
  if (hasUnescapedCredentials(uri)) {
    throw new ForkyardError(
      'source_unreadable',
      'The connection string cannot be read: its user name or password holds characters that must be percent-encoded.',
      { hint: encodeHint },
    );
  }
  const zone = /\[[0-9a-f:.]+%(?:25)?[^\]]+\](?::\d+)?/i.exec(hostsOf(uri))?.[0];
  if (zone !== undefined) {
    throw new ForkyardError(
      'source_unreachable',
      `${zone} is a link-local address, which the driver cannot connect to.`,
      {
        hint: "Use the machine's name, another of its addresses, or a tunnel to it (ssh -L).",
      },
    );
  }
  let parsed: ConnectionString;
  try {
    parsed = new ConnectionString(uri);
  } catch {
    if (/^mongodb\+srv:/i.test(uri) && /:\d+|,/.test(hostsOf(uri))) {
      throw new ForkyardError('source_unreadable', 'A mongodb+srv:// address names one host and no port.', {
        hint: 'DNS tells the servers and their ports; to name them yourself write mongodb://host1:27017,host2:27017/?tls=true.',
      });
    }
    // The parser's own message can hold the user name.
    throw new ForkyardError('source_unreadable', 'The connection string cannot be read.', {
      hint: 'It has the form mongodb://user:password@host:27017/?options or mongodb+srv://user:password@host/?options.',
    });
  }
  const options = parsed.searchParams;
  return {
    uri: parsed.toString(),
    label: parsed.hosts.join(', '),
    mayBeDirect:
      !parsed.isSRV && parsed.hosts.length === 1 && !options.has('directConnection') && !options.has('loadBalanced'),
  };
}

/** Options whose value may hold an `@`, as Azure's `appName=@name@` does. */
const optionsWithAt = /([?&](?:appName|authMechanismProperties)=)[^&]*/gi;

function hasUnescapedCredentials(uri: string): boolean {
  const rest = uri.replace(/^[^/]*\/\//, '').replace(optionsWithAt, '$1');
  const end = rest.lastIndexOf('@');
  return end >= 0 && /[/?#[\]@]|:.*:|%(?![0-9a-f]{2})/i.test(rest.slice(0, end));
}

/** The part of a URI with sound credentials that names hosts. */
function hostsOf(uri: string): string {
  return uri.replace(/^[^/]*\/\/([^@/?]*@)?/, '').split(/[/?]/, 1)[0] ?? '';
}
