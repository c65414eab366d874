/** One way to carry frames: MessagePort, WebSocket, the engine's socket, or memory. A frame is one JSON text. */
export interface Transport {
  /** Frames sent after the transport has closed vanish. Never throws. */
  send(text: string): void;
  /** Called for each arriving frame, in order. Set once, before anything can arrive. */
  onMessage(listener: (text: string) => void): void;
  /** Called once, whichever side closed. Called at once where it is closed already. */
  onClose(listener: () => void): void;
  close(): void;
}
