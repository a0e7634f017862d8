import NIOCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The socket of a channel, for what a channel itself does not do. To be used on the event loop alone.
final class ChannelSocket {
  private let channel: any Channel
  /// Looked up once: that takes as long as a twentieth of an answer from the store.
  private let core: (any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>)?

  init(of channel: any Channel) {
    self.channel = channel
    core = channel._channelCore as? any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>
  }

  /// Writes bytes without a copy, as many as the system takes at once, and returns their number. No bytes may wait in the
  /// channel, since those come first.
  ///
  /// Most answers fit into the buffer of the system. A channel would copy them before.
  func write(_ first: [UInt8], _ second: Span<UInt8>) throws -> Int {
    let taken = try core?.withUnsafeTransport { socket in
      unsafe first.withUnsafeBytes { first in
        unsafe second.withUnsafeBytes { second in
          unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { parts in
            unsafe parts[0] = iovec(
              iov_base: .init(mutating: first.baseAddress), iov_len: first.count)
            unsafe parts[1] = iovec(
              iov_base: .init(mutating: second.baseAddress), iov_len: second.count)
            return unsafe writev(socket, parts.baseAddress, 2)
          }
        }
      }
    }
    // After an error the channel writes, and has the same error: it closes the connection then.
    return max(0, taken ?? 0)
  }

  /// How many written bytes the other side has not taken: those that wait here, and those in the system's buffer.
  ///
  /// The system says that a write can go on only when a third of its buffer is free. To a slow reader that is a long time, in
  /// which this number shows that it reads.
  var untakenBytes: Int {
    get throws {
      let waiting = try channel.syncOptions?.getOption(.bufferedWritableBytes) ?? 0
      let buffered = try core?.withUnsafeTransport { socket in
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
