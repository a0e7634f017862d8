import LarderSystem

/// A page of a B-tree with a checked header and checked node offsets.
struct RawPage {
  let number: UInt64
  let isLeaf: Bool
  let bytes: [UInt8]
  let count: Int

  private static let branch: UInt16 = 0x01
  private static let leaf: UInt16 = 0x02

  init(_ bytes: [UInt8], number: UInt64) throws(RawFile.Finding) {
    let flags = bytes.u16(10)
    let lower = Int(bytes.u16(12))
    let upper = Int(bytes.u16(14))
    guard bytes.u64(0) == number else {
      throw RawFile.Finding(
        kind: .damaged, detail: "page \(number) says it is page \(bytes.u64(0))")
    }
    guard flags == Self.branch || flags == Self.leaf else {
      throw RawFile.Finding(
        kind: .damaged, detail: "page \(number) is no tree page (flags \(flags))")
    }
    guard lower >= 16, lower % 2 == 0, lower <= upper, upper <= bytes.count else {
      throw RawFile.Finding(kind: .damaged, detail: "page \(number) has impossible bounds")
    }
    self.number = number
    self.bytes = bytes
    isLeaf = flags == Self.leaf
    count = (lower - 16) / 2
    guard count >= 1 else {
      throw RawFile.Finding(kind: .damaged, detail: "page \(number) is empty")
    }
    for index in 0..<count { try checkNode(self.offset(index), from: upper) }
  }

  /// Accepts only the flags that Larder uses: LMDB would read invalid memory for others.
  private func checkNode(_ node: Int, from upper: Int) throws(RawFile.Finding) {
    guard node >= upper, node + 8 <= bytes.count else {
      throw RawFile.Finding(kind: .damaged, detail: "page \(number) has a record outside itself")
    }
    if isLeaf, bytes.u16(node + 4) & ~3 != 0 || bytes.u16(node + 4) & 3 == 3 {
      throw RawFile.Finding(
        kind: .damaged, detail: "page \(number) has a record of an unknown kind")
    }
    let value = !isLeaf ? 0 : isBig(node) ? 8 : dataSize(node)
    guard node + 8 + keySize(node) + value <= bytes.count else {
      throw RawFile.Finding(kind: .damaged, detail: "page \(number) has a record outside itself")
    }
  }

  private func offset(_ index: Int) -> Int { Int(bytes.u16(16 + 2 * index)) }
  private func keySize(_ node: Int) -> Int { Int(bytes.u16(node + 6)) }
  private func dataSize(_ node: Int) -> Int { Int(bytes.u32(node)) }
  private func isBig(_ node: Int) -> Bool { bytes.u16(node + 4) & 0x01 != 0 }

  func key(_ index: Int) -> ArraySlice<UInt8> {
    let node = offset(index)
    return bytes[node + 8..<node + 8 + keySize(node)]
  }

  /// The child page of branch record `index`.
  func child(_ index: Int) -> UInt64 {
    let node = offset(index)
    return UInt64(bytes.u32(node)) | UInt64(bytes.u16(node + 4)) << 32
  }

  /// The value of a leaf record: its bytes or their overflow pages.
  enum Value {
    case inline([UInt8])
    case overflow(page: UInt64, count: Int)
  }

  func value(_ index: Int) -> Value {
    let node = offset(index)
    let start = node + 8 + keySize(node)
    if isBig(node) { return .overflow(page: bytes.u64(start), count: dataSize(node)) }
    return .inline(Array(bytes[start..<start + dataSize(node)]))
  }

  /// Whether record `index` describes a named database.
  func isDatabase(_ index: Int) -> Bool { bytes.u16(offset(index) + 4) & 0x02 != 0 }

  /// The branch record to follow for `key`: the last one that is not greater.
  func branch(for key: [UInt8]) -> Int {
    var found = 0
    for index in 1..<max(count, 1) where !key.lexicographicallyPrecedes(self.key(index)) {
      found = index
    }
    return found
  }
}
