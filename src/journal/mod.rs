//! The record of an incident: entries, the chain over them, its verification, and what they add up
//! to. Pure: bytes and readers come from `store`.

mod act;
pub mod digest;
pub mod entry;
pub mod export;
mod fill;
pub mod leads;
pub mod line;
pub mod markdown;
mod observe;
pub mod operator;
pub mod page;
pub mod past;
pub mod record;
mod redact;
pub mod returned;
pub mod seen;
mod sentence;
pub mod story;
pub mod subject;
mod termination;
pub mod unhandled;
pub mod verify;

pub use digest::{Digest, Digester, Head};
pub use entry::Entry;
pub use line::{Joint, Line, Sealed};
pub use operator::Operator;
pub use past::Past;
pub use record::{Evidence, Kept, Record};
pub use returned::Return;
pub use story::Story;
pub use subject::{InstanceRef, LeadRef, ParentRef, Subject, TargetRef};
pub use verify::{Fault, FaultKind, Torn, Verified, verify};
