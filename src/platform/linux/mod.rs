//! Linux: /proc, netlink, pidfd.
