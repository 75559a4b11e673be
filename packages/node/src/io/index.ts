// The I/O part of @troupe/node, by hand.

export { adopt, type Adoptable, type AdoptOptions, type ReadinessOptions } from './adopt.ts'
export type { ConnectOptions, HandledConnectOptions, OwnedConnectOptions } from './connect.ts'
export { IoError } from './errors.ts'
export { connectionSupervisor, type SpawnConnection } from './accept.ts'
export type { ListenerCommand, ListenerEvent, ListenOptions, ListenSettings } from './listen.ts'
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
export type { CanRead, CanWrite, ReadinessCommand, ReadinessEvent, ReadResult } from './readiness-protocol.ts'
export { tcp } from './tcp.ts'
export { tls, type TlsClientOptions, type TlsServerOptions } from './tls.ts'
export { type Decoder, FrameError } from './framing/decoder.ts'
export { encodeLengthPrefixed, lengthPrefixed, type LengthPrefixOptions } from './framing/length-prefixed.ts'
export { lines } from './framing/lines.ts'
export { encodeRespRequest, type RespErrorReply, respReplies, type RespReply, type RespReplyOptions } from './framing/resp-replies.ts'
export { respRequests, type RespRequests, type RespRequestOptions } from './framing/resp-requests.ts'
export { childProcess, type ProcessCommand, type ProcessEvent, type ProcessOptions } from './child-process.ts'
export { file, type AppendFileOptions, type ReadFileOptions, type WatchEvent, type WatchOptions } from './files.ts'
export { type Line, type LineCommand, type LineEvent, type LineOptions, stdinLines } from './line-feed.ts'
export { type OsSignal, type OsSignalOptions, osSignals } from './os-signals.ts'
export { udp, type UdpCommand, type UdpEvent, type UdpOptions } from './udp.ts'
export { http, type HttpCommand, type HttpEvent, type HttpRequest, type HttpServeOptions } from './http.ts'
export type { BodyEvent } from './http-body.ts'
export type { ExchangeCommand } from './http-exchange.ts'
export { websocket, type WebSocketConnectOptions } from './websocket.ts'
export type { WebSocketAcceptOptions } from './websocket-acceptor.ts'
export type {
  AcceptedWebSocket,
  OwnedWebSocketEvent,
  WebSocketCommand,
  WebSocketConnection,
  WebSocketEvent,
  WebSocketOptions,
  WebSocketRequest,
} from './websocket-protocol.ts'
