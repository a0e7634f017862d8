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

/// Gives the processor away for a moment, while another thread or process finishes something short.
func pause(microseconds: UInt32 = 50) {
  usleep(microseconds)
}
