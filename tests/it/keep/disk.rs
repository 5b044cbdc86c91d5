//! A disk without room: said, nothing lost, and it goes on once there is room.
