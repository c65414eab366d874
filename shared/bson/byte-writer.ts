/** A growable buffer that BSON is written into front to back, lengths and types filled in afterwards. */
export class ByteWriter {
  bytes = new Uint8Array(1024);
  at = 0;
  private view = new DataView(this.bytes.buffer);

  /** Makes room for `count` more bytes. */
  ensure(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + count));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  byte(value: number): void {
    this.ensure(1);
    this.bytes[this.at++] = value;
  }

  int32(value: number): void {
    this.ensure(4);
    this.view.setInt32(this.at, value, true);
    this.at += 4;
  }

  /** A whole number that a double holds exactly. */
  int64(value: number): void {
    this.int32((value % 0x1_0000_0000) | 0);
    this.int32(Math.floor(value / 0x1_0000_0000));
  }

  bigInt64(value: bigint): void {
    this.ensure(8);
    this.view.setBigInt64(this.at, value, true);
    this.at += 8;
  }

  double(value: number): void {
    this.ensure(8);
    this.view.setFloat64(this.at, value, true);
    // Engines may write any NaN.
    if (Number.isNaN(value)) this.view.setBigUint64(this.at, 0x7ff8_0000_0000_0000n, true);
    this.at += 8;
  }

  put(bytes: Uint8Array): void {
    this.ensure(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  setInt32(at: number, value: number): void {
    this.view.setInt32(at, value, true);
  }
}
