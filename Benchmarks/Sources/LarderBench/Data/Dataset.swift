import BenchData

/// The entries of a run. Every peer gets the same keys and values.
///
/// Each index means one entry. Some entries always stay in the store. Other entries are expired there, or never are in the
/// store, or are free for workloads that insert.
struct Dataset: Sendable {
  static let keySize = 13
  /// The number of different values. Entry `i` has the value number `i % span`.
  static let span = 1024

  let count: Int
  let valueSize: Int
  let absent: Range<UInt32>
  let expired: Range<UInt32>
  let spare: Range<UInt32>
  /// The keys by their index.
  let keys: [String]
  /// The values by their index modulo ``span``.
  let values: [[UInt8]]
  /// The keys and values for C.
  let raw: Shared<bench_data>
  private let sums: [UInt64]

  /// - Parameter spare: The number of entries that workloads may insert in addition to the stored entries.
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
    // Random values cannot be compressed, so that every store must write all bytes.
    let noise = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.span * valueSize)
    var generator = SplitMix(state: 7)
    for index in 0..<Self.span * valueSize {
      noise[index] = UInt8.random(in: 0...255, using: &generator)
    }
    // This memory is never freed, because C code uses it until the process ends.
    raw = Shared(
      bench_data(
        keys: flat, key_size: Self.keySize, noise: noise, span: Self.span, value_size: valueSize))
    let values = (0..<Self.span).map { index in
      Array(UnsafeBufferPointer(start: noise + index * valueSize, count: valueSize))
    }
    self.values = values
    sums = values.map { value in value.withUnsafeBytes { Touch.sum($0) } }
  }

  /// Keys of 13 characters in random order, so that entries that are read one after the other are not neighbours in a file.
  private static func key(_ index: Int) -> String {
    let text = String(UInt64(index) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
    return String(repeating: "0", count: keySize - text.utf8.count) + text
  }

  func value(_ index: UInt32) -> [UInt8] { values[Int(index) % Self.span] }

  /// The tally that reads of these entries must have if all these entries are stored.
  func expected(_ order: Order) -> Tally {
    var tally = Tally()
    for index in order { tally.sum &+= sums[Int(index) % Self.span] }
    tally.found = order.count
    return tally
  }

  /// The bytes of one entry: the key and the value.
  var entrySize: Int { Self.keySize + valueSize }
}

/// The indices of entries, in the order in which a workload uses them.
typealias Order = ArraySlice<UInt32>

/// The result of reads: the number of values, and the sum of the touched bytes.
struct Tally: Equatable {
  var found = 0
  var sum: UInt64 = 0
}

/// Reads one byte of each cache line of a value, so that the processor must load the whole value.
enum Touch {
  @inline(__always)
  static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var sum: UInt64 = 0
    for at in stride(from: 0, to: bytes.count, by: 64) { sum &+= UInt64(bytes[at]) }
    return sum
  }
}

/// Handles and memory of C libraries. The manuals of these libraries say that any thread may use them.
struct Shared<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
