/// The bytes of something, front to back, a chunk at a time.
public protocol ByteSource {
  /// The next chunk, never empty; `nil` at the end. An error ends the source too.
  func next() throws(DumpError) -> [UInt8]?
}

/// Bytes that are in memory already, handed out in chunks of a given size.
public final class ArraySource: ByteSource {
  private let bytes: [UInt8]
  private let chunk: Int
  private var at = 0

  public init(_ bytes: [UInt8], chunk: Int = 65_536) {
    precondition(chunk > 0, "a chunk has at least one byte")
    self.bytes = bytes
    self.chunk = chunk
  }

  public func next() -> [UInt8]? {
    guard at < bytes.count else { return nil }
    let end = min(at + chunk, bytes.count)
    defer { at = end }
    return Array(bytes[at..<end])
  }
}
