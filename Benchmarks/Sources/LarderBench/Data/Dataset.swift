import BenchData

/// The entries of a run: the same keys and values for every peer.
///
/// An entry is an index. Some are stored throughout, some are stored and have expired, some are never stored, and some
/// are there for the workloads that insert.
struct Dataset: Sendable {
  static let keySize = 13
  /// How many values there are; entry `i` has value `i % span`.
  static let span = 1024

  let count: Int
  let valueSize: Int
  let absent: Range<UInt32>
  let expired: Range<UInt32>
  let spare: Range<UInt32>
  /// The keys, by index.
  let keys: [String]
  /// The values, by index modulo ``span``.
  let values: [[UInt8]]
  /// The same for C.
  let raw: Shared<bench_data>
  private let sums: [UInt64]

  /// - Parameter spare: how many entries beyond those stored the workloads may insert.
  init(count: Int, valueSize: Int, spare: Int = 0) {
    self.count = count
    self.valueSize = valueSize
    let some = UInt32(min(count, 100_000))
    let stored = UInt32(count)
    absent = stored..<stored + some
    expired = absent.upperBound..<absent.upperBound + some
    self.spare = expired.upperBound..<expired.upperBound + UInt32(spare)
    keys = (0..<Int(self.spare.upperBound)).map(Self.key)

    let flat = UnsafeMutablePointer<UInt8>.allocate(capacity: keys.count * Self.keySize)
    var end = 0
    for key in keys {
      for byte in key.utf8 {
        flat[end] = byte
        end += 1
      }
    }
    // Values cannot be compressed, so that nobody stores less than was given.
    let noise = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.span * valueSize)
    var generator = SplitMix(state: 7)
    for index in 0..<Self.span * valueSize {
      noise[index] = UInt8.random(in: 0...255, using: &generator)
    }
    // Both stay for as long as the process does.
    raw = Shared(
      bench_data(
        keys: flat, key_size: Self.keySize, noise: noise, span: Self.span, value_size: valueSize))
    let values = (0..<Self.span).map { index in
      Array(UnsafeBufferPointer(start: noise + index * valueSize, count: valueSize))
    }
    self.values = values
    sums = values.map { value in value.withUnsafeBytes { Touch.sum($0) } }
  }

  /// Keys of 13 characters in no order: neighbours in a file are not read one after the other.
  private static func key(_ index: Int) -> String {
    let text = String(UInt64(index) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
    return String(repeating: "0", count: keySize - text.utf8.count) + text
  }

  func value(_ index: UInt32) -> [UInt8] { values[Int(index) % Self.span] }

  /// What reading these entries must come to, if they are all there.
  func expected(_ order: Order) -> Tally {
    var tally = Tally()
    for index in order { tally.sum &+= sums[Int(index) % Self.span] }
    tally.found = order.count
    return tally
  }

  /// Bytes of one entry's key and value.
  var entrySize: Int { Self.keySize + valueSize }
}

/// Which entries to work on, one after the other.
typealias Order = ArraySlice<UInt32>

/// What a read met: how many values, and the sum of the bytes that were touched.
struct Tally: Equatable {
  var found = 0
  var sum: UInt64 = 0
}

/// One byte of each cache line of a value: enough to have the whole brought in.
enum Touch {
  @inline(__always)
  static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var sum: UInt64 = 0
    for at in stride(from: 0, to: bytes.count, by: 64) { sum &+= UInt64(bytes[at]) }
    return sum
  }
}

/// Handles and memory of C libraries that any thread may use, by the word of their manuals.
struct Shared<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
