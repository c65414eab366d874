import { MongoClient, MongoServerError } from 'mongodb';
import { ForkyardError, redact } from '../../../shared/errors.ts';
import { type Address, parseAddress } from './address.ts';

/** From asking to either reading or a sentence of why not. */
const deadlineMs = 9_500;
/** For the first try, by discovery; a second, direct one has what is left. */
const discoveryMs = 6_000;

export interface Deployment {
  readonly client: MongoClient;
  /** The hosts, without credentials. */
  readonly label: string;
}

/**
 * Connects to a deployment of somebody else's, for reading. A replica set that knows its members by names which mean
 * nothing here is read through the one member that was named.
 *
 * Throws, within 10 s, ForkyardError `source_unreachable` that names hosts and cause, and nothing of the credentials.
 */
export async function connectDeployment(uri: string, signal: AbortSignal): Promise<Deployment> {
  const address = parseAddress(uri);
  const first = await attempt(address, discoveryMs, false, signal);
  if (first instanceof MongoClient) return { client: first, label: address.label };
  if (address.mayBeDirect && hasAnsweredAsMember(first)) {
    const second = await attempt(address, deadlineMs - discoveryMs, true, signal);
    if (second instanceof MongoClient) return { client: second, label: address.label };
  }
  signal.throwIfAborted();
  throw unreachable(address, first);
}

/** A client that has answered a ping as its user, or what prevented it. */
async function attempt(
  address: Address,
  timeoutMs: number,
  direct: boolean,
  signal: AbortSignal,
): Promise<MongoClient | Error> {
  let client: MongoClient | undefined;
  const stopping = new AbortController();
  const stop = (reason: Error) => stopping.abort(reason);
  const onAbort = () => stop(new Error('aborted'));
  // A resolver that never answers is outside the driver's own deadlines.
  const timer = setTimeout(() => stop(new Error('timed out')), timeoutMs + 250);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    client = new MongoClient(address.uri, {
      appName: 'forkyard import',
      serverSelectionTimeoutMS: timeoutMs,
      connectTimeoutMS: timeoutMs,
      // `localhost` means ::1 on some machines and 127.0.0.1 on others: both are tried.
      autoSelectFamily: true,
      maxPoolSize: 2,
      ...(direct ? { directConnection: true } : {}),
    });
    stopWhenAllRefuse(client, stop);
    const stopped = new Promise<never>((_resolve, reject) => {
      stopping.signal.addEventListener('abort', () => reject(stopping.signal.reason as Error), { once: true });
    });
    if (signal.aborted) onAbort();
    await Promise.race([client.db('admin').command({ ping: 1 }, { timeoutMS: timeoutMs }), stopped]);
    return client;
  } catch (error) {
    await client?.close().catch(() => undefined);
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** The driver tries on until its deadline; where no host exists or listens at all, the user need not wait for that. */
function stopWhenAllRefuse(client: MongoClient, stop: (reason: Error) => void): void {
  const refusing = new Set<string>();
  client.on('serverHeartbeatFailed', ({ connectionId, failure }) => {
    if (!/ECONNREFUSED|ENOTFOUND/.test(messages(failure).join(' '))) return;
    refusing.add(connectionId);
    if (refusing.size >= client.options.hosts.length) stop(failure);
  });
  client.on('serverHeartbeatSucceeded', () => client.removeAllListeners('serverHeartbeatFailed'));
}

/** Somebody of a replica set was there, but the members it names were not to be reached by those names. */
function hasAnsweredAsMember(error: Error): boolean {
  return Boolean((error as Error & { reason?: { setName?: string | null } }).reason?.setName);
}

/** AuthenticationFailed, and Atlas's own code for it. */
const authenticationCodes: ReadonlySet<unknown> = new Set([18, 8000]);

function isAuthentication(error: Error): boolean {
  return error instanceof MongoServerError && authenticationCodes.has(error.code);
}

function unreachable({ label }: Address, error: Error): ForkyardError {
  if (isAuthentication(error)) {
    return new ForkyardError('source_unreachable', `${label} refused the user name or the password.`, {
      hint: 'Percent-encode special characters in them (% itself is %25), and name the authSource where it is not admin.',
    });
  }
  const cause = causeOf(error);
  return new ForkyardError('source_unreachable', `${label} ${cause.text}.`, {
    hint:
      cause.hint ??
      'Check host and port, whether the server runs, and whether a firewall or an access list is between.',
    retry: true,
  });
}

function causeOf(error: Error): { text: string; hint?: string } {
  const text = messages(error).join(' ');
  if (/querySrv|queryTxt|Srv record/i.test(text)) {
    return {
      text: 'cannot be found: the lookup of its SRV record failed',
      hint: 'Where the network does not answer SRV lookups, use the form mongodb://host1:27017,host2:27017/?tls=true&replicaSet=…',
    };
  }
  if (/ENOTFOUND|EAI_AGAIN/.test(text)) return { text: 'cannot be found: no such host' };
  if (/ECONNREFUSED/.test(text)) return { text: 'refused the connection' };
  if (/EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL/.test(text)) return { text: 'cannot be reached from this network' };
  if (/certificate|CERT_|SSL|TLS/i.test(text)) {
    return {
      text: 'could not agree on TLS',
      hint: 'Check the tls options of the connection string and the certificates.',
    };
  }
  if (/timed out|ETIMEDOUT|timeout/i.test(text)) return { text: `did not answer within ${discoveryMs / 1000} s` };
  if (/ECONNRESET|connection .*closed|EPIPE/i.test(text)) {
    return { text: 'closed the connection', hint: 'It may want TLS (tls=true), or may not be a MongoDB server.' };
  }
  return { text: `could not be read: ${redact(error.message).split('\n')[0] ?? ''}` };
}

/** The messages of an error, of its causes and of what the driver noted for each server. */
function messages(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 6) return [];
  const { reason, errors } = error as Error & {
    reason?: { servers?: Map<string, { error?: unknown }> };
    errors?: unknown[];
  };
  const code = (error as NodeJS.ErrnoException).code;
  const inner = [
    error.cause,
    ...(errors ?? []),
    ...[...(reason?.servers?.values() ?? [])].map((server) => server.error),
  ];
  return [error.message, String(code ?? ''), ...inner.flatMap((one) => messages(one, depth + 1))];
}
