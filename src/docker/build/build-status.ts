// BuildKit's progress messages: protobuf in base64, one per JSON line. Only the fields that a log needs are
// named; a decoder skips the others.
import protobuf from 'protobufjs'

export interface BuildStatus {
  vertexes: Vertex[]
  statuses: VertexStatus[]
  logs: VertexLog[]
}

/** A step of the build. It is sent again whenever one of its fields changes. */
export interface Vertex {
  digest: string
  name: string
  cached: boolean
  started: Timestamp | null
  completed: Timestamp | null
  error: string
}

/** A part of a step: a layer that is fetched, the context that is read. */
export interface VertexStatus {
  vertex: string
  id: string
  current: number
  completed: Timestamp | null
}

export interface VertexLog {
  vertex: string
  timestamp: Timestamp | null
  /** 1 is stdout, 2 is stderr. */
  stream: number
  msg: Uint8Array
}

export interface Timestamp {
  seconds: number
  nanos: number
}

const schema = `
  syntax = "proto3";
  message StatusResponse {
    repeated Vertex vertexes = 1;
    repeated VertexStatus statuses = 2;
    repeated VertexLog logs = 3;
  }
  message Vertex {
    string digest = 1;
    string name = 3;
    bool cached = 4;
    Timestamp started = 5;
    Timestamp completed = 6;
    string error = 7;
  }
  message VertexStatus {
    string id = 1;
    string vertex = 2;
    int64 current = 4;
    Timestamp completed = 8;
  }
  message VertexLog {
    string vertex = 1;
    Timestamp timestamp = 2;
    int64 stream = 3;
    bytes msg = 4;
  }
  message Timestamp {
    int64 seconds = 1;
    int32 nanos = 2;
  }
`

const StatusResponse = protobuf.parse(schema).root.lookupType('StatusResponse')

/** Throws when the bytes are no such message. */
export function decodeBuildStatus(base64: string): BuildStatus {
  const message = StatusResponse.decode(Buffer.from(base64, 'base64'))
  return StatusResponse.toObject(message, { longs: Number, defaults: true }) as BuildStatus
}

export function toSeconds({ seconds, nanos }: Timestamp): number {
  return seconds + nanos / 1e9
}
