import NIOCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Channel {
  /// How many written bytes the other side has not taken: those that wait here, and those in the system's buffer. Must be
  /// called on the event loop.
  ///
  /// The system says that a write can go on only when a third of its buffer is free. To a slow reader that is a long time, in
  /// which this number shows that it reads.
  var untakenBytes: Int {
    get throws {
      let waiting = try syncOptions?.getOption(.bufferedWritableBytes) ?? 0
      let buffered = try pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: NIOBSDSocket.Handle.self
      ) { socket in
        var count: CInt = 0
        #if canImport(Glibc)
          let result = unsafe ioctl(socket, UInt(TIOCOUTQ), &count)
        #else
          var size = socklen_t(MemoryLayout<CInt>.size)
          let result = unsafe getsockopt(socket, SOL_SOCKET, SO_NWRITE, &count, &size)
        #endif
        return result == 0 ? Int(count) : 0
      }
      return waiting + (buffered ?? 0)
    }
  }
}
