//! The parts of a world for tests: the same builder as the tests of the library's layers use.

use mcpwake::model::{
    bytes, descriptor, finding, host, identity, instance, process, reading, sample, socket, time, world,
};

#[path = "../../../src/model/testkit.rs"]
#[expect(dead_code, reason = "the tests of the layers use the others")]
pub(crate) mod testkit;
