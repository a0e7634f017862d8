import BenchData

/// The entries of a run. Every peer gets the same keys and values.
///
/// An entry is an index. Some entries stay stored, some are stored and have expired, some are never stored, and some
/// are for the workloads that insert.
struct Dataset: Sendable {
  static let keySize = 13
  /// The number of different values; entry `i` has value `i % span`.
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
  /// The keys and values for C.
  let raw: Shared<bench_data>
  private let sums: [UInt64]

  /// - Parameter spare: how many entries the workloads may insert beside the stored entries.
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
    // The values cannot be compressed, so every store has to store all bytes.
    let noise = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.span * valueSize)
    var generator = SplitMix(state: 7)
    for index in 0..<Self.span * valueSize {
      noise[index] = UInt8.random(in: 0...255, using: &generator)
    }
    // The keys and the values stay until the process ends.
    raw = Shared(
      bench_data(
        keys: flat, key_size: Self.keySize, noise: noise, span: Self.span, value_size: valueSize))
    let values = (0..<Self.span).map { index in
      Array(UnsafeBufferPointer(start: noise + index * valueSize, count: valueSize))
    }
    self.values = values
    sums = values.map { value in value.withUnsafeBytes { Touch.sum($0) } }
  }

  /// Keys of 13 characters in random order, so that successive reads do not meet neighbours in a file.
  private static func key(_ index: Int) -> String {
    let text = String(UInt64(index) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
    return String(repeating: "0", count: keySize - text.utf8.count) + text
  }

  func value(_ index: UInt32) -> [UInt8] { values[Int(index) % Self.span] }

  /// The tally of reads of these entries if all are stored.
  func expected(_ order: Order) -> Tally {
    var tally = Tally()
    for index in order { tally.sum &+= sums[Int(index) % Self.span] }
    tally.found = order.count
    return tally
  }

  /// The bytes of the key and the value of one entry.
  var entrySize: Int { Self.keySize + valueSize }
}

/// The indices of the entries to work on, in order.
typealias Order = ArraySlice<UInt32>

/// The result of reads: the number of values, and the sum of the touched bytes.
struct Tally: Equatable {
  var found = 0
  var sum: UInt64 = 0
}

/// Touches one byte of each cache line of a value, which brings the whole value into the cache.
enum Touch {
  @inline(__always)
  static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var sum: UInt64 = 0
    for at in stride(from: 0, to: bytes.count, by: 64) { sum &+= UInt64(bytes[at]) }
    return sum
  }
}

/// Handles and memory of C libraries that any thread may use, according to their manuals.
struct Shared<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
