import Larder
import RawLMDB

/// Hits of 200-byte values: Larder's whole read path against LMDB's in C.
struct Reads {
  let workload: Workload
  let namespace: Namespace
  let raw: OpaquePointer

  init(count: Int, valueSize: Int = 200, directory: String) throws {
    workload = Workload(count: count)
    let store = try Store(at: "\(directory)/ours-\(count)")
    namespace = store.namespace("entries")
    raw = raw_open("\(directory)/raw-\(count)")!
    let value = [UInt8](repeating: 118, count: valueSize)
    for start in stride(from: 0, to: count, by: 10_000) {
      try store.write { batch in
        for key in workload.keys[start..<min(start + 10_000, count)] {
          try batch.set(value, for: key, in: namespace, expires: .after(.hours(24)))
        }
      }
    }
    let result = raw_fill(raw, workload.flat, Workload.keySize, count, valueSize, 10_000)
    precondition(result == 0)
  }

  func run(
    distinct: Int, rounds: Int, operations: Int
  ) throws -> (ours: Sample, raw: Sample, ratio: Double, spread: ClosedRange<Double>) {
    let order = workload.order(distinct: distinct, rounds: operations)
    var mine: UInt64 = 0
    var theirs: UInt64 = 0
    let result = try compare(
      rounds: rounds, operations: operations,
      ours: {
        mine = 0
        for index in order {
          let sum = try namespace.withValue(for: workload.keys[Int(index)]) { bytes in
            var sum: UInt64 = 0
            for at in stride(from: 0, to: bytes.count, by: 64) { sum &+= UInt64(bytes[at]) }
            return sum
          }
          mine &+= sum ?? 0
        }
      },
      raw: { theirs = raw_read(raw, workload.flat, Workload.keySize, order, order.count) })
    precondition(mine == theirs && mine > 0, "the two sides read different values")
    return result
  }
}
