//! macOS: libproc, sysctl.
