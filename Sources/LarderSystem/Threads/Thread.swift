public import CLarderSystem

/// A number that differs between the threads of this process.
@inlinable @inline(__always)
package var threadIdentity: UInt64 {
  #if canImport(Darwin)
    unsafe UInt64(UInt(bitPattern: pthread_self()))
  #else
    UInt64(pthread_self())
  #endif
}

/// Sleeps briefly before the caller retries something that another thread or process finishes soon.
package func backOff(microseconds: UInt32 = 50) {
  usleep(microseconds)
}
