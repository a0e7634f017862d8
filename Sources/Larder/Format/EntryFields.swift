import LMDB
import LarderSystem

/// What an entry carries besides its value, between the header and the payload: a kind, a length and the bytes of each.
///
/// A kind this build does not know is kept as it is, so that a later one can add kinds without a new format.
struct EntryFields: Equatable, Sendable {
  enum Kind: UInt8 {
    case key = 1
    case owner = 2
    case tag = 3
    case entityTag = 4
    case lastModified = 5
    case metadata = 6
    case idleInterval = 7
  }

  private(set) var all: [(kind: UInt8, bytes: [UInt8])] = []

  init() {}

  static func == (left: Self, right: Self) -> Bool {
    left.all.elementsEqual(right.all) { $0.kind == $1.kind && $0.bytes == $1.bytes }
  }

  var isEmpty: Bool { all.isEmpty }

  /// Reads the fields of a record; nil if they do not fit their space exactly.
  init?(_ bytes: Span<UInt8>) {
    var offset = 0
    while offset < bytes.count {
      guard offset + 5 <= bytes.count else { return nil }
      let count = Int(bytes.halfWord(at: offset + 1))
      guard count <= bytes.count - offset - 5 else { return nil }
      all.append((bytes[offset], bytes.extracting(offset + 5..<offset + 5 + count).copied))
      offset += 5 + count
    }
  }

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    for field in all {
      bytes.append(field.kind)
      bytes.append(littleEndian: UInt32(field.bytes.count))
      bytes.append(contentsOf: field.bytes)
    }
    return bytes
  }

  subscript(kind: Kind) -> [UInt8]? {
    get { all.first { $0.kind == kind.rawValue }?.bytes }
    set {
      if !all.isEmpty { all.removeAll { $0.kind == kind.rawValue } }
      if let newValue { all.append((kind.rawValue, newValue)) }
    }
  }

  /// The fields of a kind that may occur several times.
  func all(_ kind: Kind) -> [[UInt8]] { all.filter { $0.kind == kind.rawValue }.map(\.bytes) }

  mutating func replaceAll(_ kind: Kind, with fields: [[UInt8]]) {
    if !all.isEmpty { all.removeAll { $0.kind == kind.rawValue } }
    if !fields.isEmpty { all += fields.map { (kind.rawValue, $0) } }
  }

  var tags: [[UInt8]] {
    get { all(.tag) }
    set { replaceAll(.tag, with: newValue) }
  }
}
