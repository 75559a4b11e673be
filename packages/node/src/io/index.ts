// The I/O part of @troupe/node, by hand.

export { adopt, type AdoptOptions } from './adopt.ts'
export type { ConnectOptions, HandledConnectOptions, OwnedConnectOptions } from './connect.ts'
export { IoError } from './errors.ts'
export { connectionSupervisor, type ListenerCommand, type ListenerEvent, type ListenOptions, type SpawnConnection } from './listen.ts'
export type {
  Bytes,
  Closed,
  CloseReason,
  Connected,
  Connection,
  ConnectionCommand,
  ConnectionEvent,
  ConnectionOptions,
  Data,
  Drained,
  Endpoint,
  Failed,
  Flushed,
  HalfClosed,
  SocketEvent,
} from './protocol.ts'
export { tcp } from './tcp.ts'
export { tls, type TlsClientOptions, type TlsServerOptions } from './tls.ts'
export { type Decoder, FrameError } from './framing/decoder.ts'
export { encodeLengthPrefixed, lengthPrefixed, type LengthPrefixOptions } from './framing/length-prefixed.ts'
export { lines } from './framing/lines.ts'
export { encodeRespRequest, type RespErrorReply, respReplies, type RespReply, type RespReplyOptions } from './framing/resp-replies.ts'
export { respRequests, type RespRequests, type RespRequestOptions } from './framing/resp-requests.ts'
