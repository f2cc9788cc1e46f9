//! The messages of a Perfetto trace that Warpline writes (`protos/perfetto/trace/perfetto_trace.proto` of
//! google/perfetto).

use prost::Message;

/// A trace. Concatenated traces form one trace.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(super) packet: Vec<Packet>,
}

/// `TracePacket`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Packet {
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    pub(super) trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<Event>,
    #[prost(message, optional, tag = "60")]
    pub(super) track_descriptor: Option<Track>,
}

/// `TrackDescriptor`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Track {
    #[prost(uint64, tag = "1")]
    pub(super) uuid: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<Process>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(super) counter: Option<Counter>,
}

/// `ProcessDescriptor`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Process {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(string, repeated, tag = "2")]
    pub(super) cmdline: Vec<String>,
    #[prost(string, tag = "6")]
    pub(super) process_name: String,
}

/// `CounterDescriptor`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Counter {
    #[prost(int32, tag = "3")]
    pub(super) unit: i32,
}

/// `CounterDescriptor.Unit.UNIT_SIZE_BYTES`
pub(super) const UNIT_BYTES: i32 = 3;

/// `TrackEvent`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    #[prost(message, repeated, tag = "4")]
    pub(super) debug_annotations: Vec<Annotation>,
    #[prost(int32, tag = "9")]
    pub(super) r#type: i32,
    #[prost(uint64, tag = "11")]
    pub(super) track_uuid: u64,
    #[prost(string, optional, tag = "23")]
    pub(super) name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub(super) counter_value: Option<i64>,
}

/// `TrackEvent.Type`
pub(super) const BEGIN: i32 = 1;
/// `TrackEvent.Type`
pub(super) const END: i32 = 2;
/// `TrackEvent.Type`
pub(super) const COUNTER: i32 = 4;

/// `DebugAnnotation`
#[derive(Clone, PartialEq, Message)]
pub(super) struct Annotation {
    #[prost(string, tag = "10")]
    pub(super) name: String,
    #[prost(uint64, optional, tag = "3")]
    pub(super) uint_value: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub(super) string_value: Option<String>,
}
