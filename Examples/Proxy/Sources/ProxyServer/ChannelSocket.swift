import NIOCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The socket of a channel, for calls that the channel itself does not have. Use it only on the event loop.
final class ChannelSocket {
  private let channel: any Channel
  /// The socket is looked up only once, because the lookup takes a twentieth of the time of an answer from the store.
  private let core: (any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>)?

  init(of channel: any Channel) {
    self.channel = channel
    core = channel._channelCore as? any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>
  }

  /// Writes bytes without a copy, as many as the system takes now, and returns their number. No bytes may wait in the channel,
  /// because they would have to be written first.
  ///
  /// Most answers fit into the buffer of the system. A channel would copy each answer before it writes the answer.
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
    // An error counts as 0 bytes: the caller then lets the channel write. The channel gets the same error, and closes.
    return max(0, taken ?? 0)
  }

  /// The number of written bytes that the other side has not taken: bytes that wait here, and bytes in the system's buffer.
  ///
  /// The system allows another write only when a third of its buffer is free. With a slow reader this may take long. Until then,
  /// a falling number of untaken bytes shows that the reader reads.
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
