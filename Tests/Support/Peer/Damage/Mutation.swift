package import Foundation
import TestSupport

/// A change to the files of a store that a disk, a program or a person could make. The seed determines the change.
struct Mutation {
  var files: [String: Data]
  /// The data file after an earlier commit. This file has older versions of the pages.
  let former: Data
  private(set) var description = ""
  /// Whether a read may find an older version of a page: after a replacement by that version, or through a changed reference.
  var hasOldPages = false
  /// Whether a list of free pages names a page in use.
  var listsPageInUse = false
  private(set) var changes = 0
  var random: SeededRNG
  static let pageSize = 4096

  init(files: [String: Data], former: Data, seed: UInt64) {
    self.files = files
    self.former = former
    random = SeededRNG(seed: seed)
  }

  mutating func apply() {
    // About one change in eight damages a file other than the data file. About one case in sixteen has two changes.
    for _ in 0..<(random.chance(percent: 6) ? 2 : 1) {
      if random.chance(percent: 12) { mutateOther() } else { mutateData() }
    }
  }

  mutating func note(_ text: String) {
    changes += 1
    description += (description.isEmpty ? "" : "; ") + text
  }

  // MARK: - The data file

  /// The kind of a page, which the first bytes of the page show.
  private enum Kind: String, CaseIterable { case meta, branch, leaf, overflow, other }

  private func kind(of page: Int, in data: Data) -> Kind {
    switch data.word16(page * Self.pageSize + 10) {
    case _ where data.word64(page * Self.pageSize) != UInt64(page): .other
    case 1: .branch
    case 2: .leaf
    case 4: .overflow
    case 8: .meta
    default: .other
    }
  }

  private mutating func mutateData() {
    guard var data = files["data.mdb"], data.count >= 2 * Self.pageSize else { return }
    if random.chance(percent: 40) {
      exchangeReference(in: &data)
      files["data.mdb"] = data
      return
    }
    let pages = data.count / Self.pageSize
    let wanted = Kind.allCases.randomElement(using: &random)!
    let candidates =
      wanted == .meta ? [0, 1] : data.reachable().filter { kind(of: $0, in: data) == wanted }
    let page = candidates.randomElement(using: &random) ?? random.next(in: 0..<pages)
    let start = page * Self.pageSize
    switch random.next(in: 0..<20) {
    case 0: replace(page, &data, with: Data(count: Self.pageSize), "zeros")
    case 1: replace(page, &data, with: Data(random.bytes(Self.pageSize)), "random bytes")
    case 2:
      let other = random.next(in: 0..<pages)
      replace(page, &data, with: data.page(other), "page \(other)")
    case 3, 4:
      guard start + Self.pageSize <= former.count else { break }
      hasOldPages = true
      replace(page, &data, with: former.page(page), "its former version")
    case 5:
      // Simulates a write that stopped after some sectors of the page.
      guard start + Self.pageSize <= former.count else { break }
      hasOldPages = true
      let cut = 512 * random.next(in: 1..<8)
      replace(
        page, &data, with: former.page(page).prefix(cut) + data.page(page).dropFirst(cut),
        "half of its former version")
    case 6:
      let size =
        random.chance(percent: 50)
        ? random.next(in: 0..<pages) * Self.pageSize : random.next(in: 0..<data.count)
      data = data.prefix(size)
      note("data.mdb cut to \(size) bytes")
    case 7:
      data.append(contentsOf: random.bytes(random.next(in: 1..<20_000)))
      note("data.mdb made longer")
    default: mutateField(of: page, wanted, &data)
    }
    files["data.mdb"] = data
  }

  private mutating func replace(_ page: Int, _ data: inout Data, with bytes: Data, _ what: String) {
    data.replaceSubrange(page * Self.pageSize..<(page + 1) * Self.pageSize, with: bytes)
    note("page \(page) replaced by \(what)")
  }

  /// Changes one field of a page: a field of the header, a field of a record, or any byte.
  private mutating func mutateField(of page: Int, _ kind: Kind, _ data: inout Data) {
    let start = page * Self.pageSize
    var fields: [(Int, Int, String)] = [
      (0, 8, "number"), (8, 2, "pad"), (10, 2, "flags"), (12, 2, "lower"), (14, 2, "upper"),
      (12, 4, "overflow count"),
    ]
    if kind == .meta {
      fields += [(16, 4, "magic"), (20, 4, "version"), (24, 8, "address"), (32, 8, "map size")]
      for (base, tree) in [(40, "free"), (88, "main")] {
        fields += [
          (base, 4, "\(tree) pad"), (base + 4, 2, "\(tree) flags"), (base + 6, 2, "\(tree) depth"),
          (base + 8, 8, "\(tree) branches"), (base + 16, 8, "\(tree) leaves"),
          (base + 24, 8, "\(tree) overflow"), (base + 32, 8, "\(tree) records"),
          (base + 40, 8, "\(tree) root"),
        ]
      }
      fields += [(136, 8, "last page"), (144, 8, "transaction")]
    }
    let count = max(0, (Int(data.word16(start + 12)) - 16) / 2)
    if kind == .leaf || kind == .branch, count > 0, count < 2000 {
      let index = random.next(in: 0..<count)
      let node = Int(data.word16(start + 16 + 2 * index))
      fields.append((16 + 2 * index, 2, "offset \(index)"))
      if node + 8 < Self.pageSize {
        let key = Int(data.word16(start + node + 6))
        fields += [
          (node, 4, "size \(index)"), (node + 4, 2, "node flags \(index)"),
          (node + 6, 2, "key size \(index)"), (node + 8, max(key, 1), "key \(index)"),
          (node + 8 + key, 8, "value \(index)"), (node + 8 + key, 64, "value \(index)"),
        ]
      }
    }
    if kind == .overflow || kind == .other { fields.append((16, Self.pageSize - 16, "content")) }
    fields.append((0, Self.pageSize, "byte"))
    let (offset, size, name) = fields.randomElement(using: &random)!
    guard start + offset + size <= data.count, size > 0 else { return }
    mutateBytes(start + offset, size, &data)
    // The first six bytes of a branch page's record are the number of a child page. The new number may be the number of a free
    // page, so a read may find an older version of a page there.
    let isPageNumber = name.hasPrefix("size") || name.hasPrefix("node flags")
    if kind == .branch && isPageNumber { hasOldPages = true }
    note("\(kind.rawValue) page \(page), \(name)")
  }

  private mutating func mutateBytes(_ offset: Int, _ size: Int, _ data: inout Data) {
    let place = offset + random.next(in: 0..<size)
    switch random.next(in: 0..<7) {
    case 0, 1, 2: data[place] ^= 1 << UInt8(random.next(in: 0..<8))
    case 3: data[place] = UInt8(random.next(in: 0..<256))
    case 4: data[place] = data[place] &+ (random.chance(percent: 50) ? 1 : 255)
    case 5: for index in offset..<offset + min(size, 8) { data[index] = 0 }
    default:
      for index in offset..<offset + min(size, 8) {
        data[index] = random.chance(percent: 50) ? 255 : UInt8(random.next(in: 0..<256))
      }
    }
  }

  // MARK: - The other files

  private mutating func mutateOther() {
    let names = files.keys.filter { $0 != "data.mdb" }.sorted()
    guard let name = names.randomElement(using: &random), var data = files[name] else { return }
    switch random.next(in: 0..<6) {
    case 0:
      files[name] = nil
      return note("\(name) deleted")
    case 1: data = data.prefix(data.isEmpty ? 0 : random.next(in: 0..<data.count))
    case 2: data = Data(random.bytes(data.count))
    case 3: data = Data()
    case 4: data.append(contentsOf: random.bytes(random.next(in: 1..<5000)))
    default:
      for _ in 0..<random.next(in: 1..<20) where !data.isEmpty {
        // The first bytes of a file matter most, so most of the flips are in these bytes.
        let place = random.next(
          in: 0..<(random.chance(percent: 60) ? min(128, data.count) : data.count))
        data[place] ^= 1 << UInt8(random.next(in: 0..<8))
      }
    }
    files[name] = data
    note("\(name) changed, \(data.count) bytes")
  }
}

extension Data {
  package func word16(_ offset: Int) -> UInt16 {
    guard offset >= 0, offset + 2 <= count else { return 0 }
    return UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
  }

  package func word64(_ offset: Int) -> UInt64 {
    guard offset >= 0, offset + 8 <= count else { return 0 }
    return (0..<8).reduce(0) { $0 | UInt64(self[offset + $1]) << UInt64(8 * $1) }
  }

  /// - Precondition: the data have `size` bytes at the offset.
  mutating func set(_ word: UInt64, at offset: Int, size: Int = 8) {
    for index in 0..<size { self[offset + index] = UInt8(truncatingIfNeeded: word >> (8 * index)) }
  }

  func page(_ number: Int) -> Data {
    Data(self[number * Mutation.pageSize..<(number + 1) * Mutation.pageSize])
  }

  package var newestMeta: Int { word64(144) > word64(Mutation.pageSize + 144) ? 0 : 1 }

  /// The pages of trees in a data file, and the first pages of the large values in these trees. `roots` are the places of the
  /// root numbers in the newest meta page: 80 for the free lists, 128 for the main database.
  package func reachable(from roots: [Int] = [80, 128]) -> [Int] {
    var pending = roots.map { word64(newestMeta * Mutation.pageSize + $0) }
    var found: Set<Int> = []
    while let next = pending.popLast() {
      guard next >= 2, next < UInt64(count / Mutation.pageSize), found.insert(Int(next)).inserted
      else { continue }
      let start = Int(next) * Mutation.pageSize
      let flags = word16(start + 10)
      guard flags == 1 || flags == 2 else { continue }
      for index in 0..<Swift.max(0, (Int(word16(start + 12)) - 16) / 2) {
        let node = start + Int(word16(start + 16 + 2 * index))
        if flags == 1 {
          pending.append(word64(node) & 0xFFFF_FFFF_FFFF)
        } else {
          let value = node + 8 + Int(word16(node + 6))
          if word16(node + 4) & 1 != 0 { pending.append(word64(value)) }
          if word16(node + 4) & 2 != 0 { pending.append(word64(value + 40)) }
        }
      }
    }
    return found.sorted()
  }
}
