/** One way to carry frames: MessagePort, WebSocket, the engine's socket, or memory. A frame is one JSON text. */
export interface Transport {
  send(text: string): void;
  /** Called for each arriving frame, in order. Set once, before anything can arrive. */
  onMessage(listener: (text: string) => void): void;
  onClose(listener: () => void): void;
  close(): void;
}
