import CLMDB

/// A number that differs between the threads of this process.
@inline(__always)
var threadIdentity: UInt64 {
  #if canImport(Darwin)
    unsafe UInt64(UInt(bitPattern: pthread_self()))
  #else
    UInt64(pthread_self())
  #endif
}

/// Gives the processor away for a moment, while another thread or process finishes something short. (Not named `pause`:
/// without an argument that would be the C library's, which sleeps until a signal comes.)
func rest(microseconds: UInt32 = 50) {
  usleep(microseconds)
}
