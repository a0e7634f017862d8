import LarderSystem

/// Reads numbers and bytes from the front of a slice, and nothing beyond its end.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// A number of `width` bytes, at most 4; nil if fewer bytes are left.
  mutating func number(_ width: Int) -> Int? {
    bytes(width)?.reduce(0) { $0 << 8 | Int($1) }
  }

  /// A duration of at most ``Frame/longest``; nil for a longer duration, or if fewer bytes are left.
  mutating func duration() -> Duration? {
    guard let number = bytes(8).map({ UInt64(bigEndianBytes: $0) }),
      number <= Frame.longest.frameMilliseconds
    else { return nil }
    return .milliseconds(Int64(number))
  }
}
