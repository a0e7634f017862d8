public import Larder

/// Checks the promises of a ``/Larder/Codec`` with the given values.
///
/// - The `id` of the codec is an id for applications, or the codec is one of Larder's codecs.
/// - A lossless codec decodes every value as it was encoded. With another codec, a value that was decoded once does not
///   change when it is encoded and decoded again.
/// - A cache returns the values that the codec decodes, from memory and from disk.
/// - Several threads can use the codec at the same time.
/// - For bytes that were cut, changed, extended or never a value, `decode` throws or returns a value. A trap ends the process.
///
/// - Parameters:
///   - codec: the codec.
///   - values: at least one. The check covers only the forms of the type that these values show.
///   - damages: for each value, the number of changed encodings and the largest number of cut encodings that are decoded.
///   - seed: selects the damage; an equal seed damages equal bytes.
/// - Throws: ``ConformanceFailure`` with all broken promises; ``/Larder/LarderError`` if no store can be made.
public func checkConformance<C: Codec>(
  of codec: C, with values: [C.Value], damages: Int = 1_000, seed: UInt64 = 1
) async throws where C.Value: Equatable {
  var check = CodecCheck(codec: codec)
  check.checkIdentity()
  if values.isEmpty { check.problems.append("there is no value to check it with") }
  for (index, value) in values.enumerated() {
    guard let bytes = check.checkRoundTrip(value, "value \(index)") else { continue }
    check.damage(bytes, times: damages, seed: seed &+ UInt64(index))
  }
  try check.checkCache(values)
  await check.checkThreads(values)
  try ConformanceFailure.throwing(check.problems, of: codec)
}

private struct CodecCheck<C: Codec> where C.Value: Equatable {
  let codec: C
  var problems: [String] = []

  mutating func checkIdentity() {
    let module = String(reflecting: C.self).prefix { $0 != "." }
    if codec.id.rawValue < 128, module != "Larder", module != "LarderCodecs" {
      problems.append(
        "its id is \(codec.id.rawValue), and 0 to 127 belong to Larder: take one from 128 to 255")
    }
  }

  fileprivate mutating func checkRoundTrip(_ value: C.Value, _ name: String) -> [UInt8]? {
    do {
      let bytes = try codec.encode(value)
      let decoded = try LarderTesting.decoded(codec, value)
      if codec.isLossless, decoded != value {
        problems.append("it is lossless, and \(name) is decoded as another value: \(decoded)")
      }
      if try LarderTesting.decoded(codec, decoded) != decoded {
        problems.append("\(name) changes each time it is encoded and decoded")
      }
      return bytes
    } catch {
      problems.append("\(name) cannot be encoded and decoded: \(error)")
      return nil
    }
  }

  /// Decodes damaged bytes. The results do not matter: the check finds decodings that do not return.
  func damage(_ bytes: [UInt8], times: Int, seed: UInt64) {
    var random = Random(state: seed)
    for count in 0..<min(bytes.count, times) { attempt(Array(bytes.prefix(count))) }
    for _ in 0..<times {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: 0...damaged.count, using: &random)
        let byte = UInt8.random(in: 0...255, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where place < damaged.count: damaged[place] = byte
        case 1 where place < damaged.count: damaged[place] ^= 1 << (byte & 7)
        case 2 where place < damaged.count: damaged.remove(at: place)
        // Most formats read these bytes as the largest length that the format can state.
        case 3: damaged.insert(contentsOf: [UInt8](repeating: 0xFF, count: 8), at: place)
        default: damaged.insert(byte, at: place)
        }
      }
      attempt(damaged)
    }
    for count in [0, 1, 7, 64, 4096] {
      for byte: UInt8 in [0, 0x20, 0x7F, 0x80, 0xFF] {
        attempt([UInt8](repeating: byte, count: count))
      }
    }
  }

  private func attempt(_ bytes: [UInt8]) { _ = try? codec.decode(bytes.span) }

  fileprivate mutating func checkCache(_ values: [C.Value]) throws {
    let store = try Store.temporary(options: Store.Options(clock: ManualClock()))
    let cache = store.cache(codec, in: "conformance")
    // Without a memory tier every read decodes the value from disk.
    let disk = store.cache(codec, in: "conformance", memory: .off)
    for (index, value) in values.enumerated() {
      do throws(LarderError) { try cache.set(value, for: index) } catch {
        // An earlier check has already reported that this value cannot be encoded.
        if error.code == .unencodable { continue }
        throw error
      }
      let expected = try disk.value(for: index)
      if expected == nil { problems.append("a cache misses value \(index) that it has stored") }
      // The first read puts the value into memory, which answers the second read.
      let first = try cache.value(for: index)
      let second = try cache.value(for: index)
      if first != expected || second != expected {
        problems.append("value \(index) differs in memory and on disk")
      }
      if try disk.entry(for: index)?.codec != codec.id {
        problems.append("the entry of value \(index) names another codec")
      }
    }
    try store.finish()
  }

  fileprivate mutating func checkThreads(_ values: [C.Value]) async {
    let codec = codec
    let failures = await withTaskGroup(of: Bool.self) { group in
      for value in values { for _ in 0..<8 { group.addTask { !isSteady(codec, value) } } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    if failures > 0 { problems.append("several threads at once decode other values than one") }
  }
}

/// Whether repeated decoding gives equal values. An error counts as true, because the check with one thread reports errors.
private func isSteady<C: Codec>(_ codec: C, _ value: C.Value) -> Bool where C.Value: Equatable {
  do {
    let first = try decoded(codec, value)
    for _ in 0..<20 where try decoded(codec, value) != first { return false }
  } catch {}
  return true
}

private func decoded<C: Codec>(_ codec: C, _ value: C.Value) throws -> C.Value {
  let bytes = try codec.encode(value)
  return try codec.decode(bytes.span)
}

/// Random numbers; equal seeds give equal numbers.
private struct Random: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Checksum.of([], seed: state)
  }
}

/// A failed conformance check of a codec or a clock.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
  /// The checked type, such as `JSONCodec<Color>`.
  public let subject: String
  /// The broken promises, each as one sentence.
  public let problems: [String]

  /// The subject, then each problem on its own line.
  public var description: String {
    "\(subject) does not conform:\n" + problems.map { "- \($0)" }.joined(separator: "\n")
  }

  static func throwing(_ problems: [String], of subject: Any) throws(ConformanceFailure) {
    guard problems.isEmpty else {
      throw ConformanceFailure(subject: "\(type(of: subject))", problems: problems)
    }
  }
}
