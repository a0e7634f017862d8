import Foundation
import TestSupport

/// Damage that leaves each page valid in itself: one reference in the data file names another page than before.
///
/// A disk that loses writes, or writes to a wrong place, causes such damage. Changes of random bytes rarely cause this damage.
extension Mutation {
  /// The place of a page number, or of a number of pages, in the data file.
  private struct Reference {
    let offset: Int
    let size: Int
    let page: Int
    var name: String
  }

  mutating func exchangeReference(in data: inout Data) {
    let pages = data.reachable()
    switch random.next(in: 0..<10) {
    case 0...2: exchange(branchReferences(in: data, pages), flags: [1, 2], in: &data)
    case 3, 4: exchange(valueReferences(in: data, pages), flags: [4], in: &data)
    case 5: exchange(rootReferences(in: data, pages), flags: [1, 2], in: &data)
    case 6: changeRunLength(in: &data, pages)
    case 7: changeFreeList(in: &data)
    case 8: listPageInUse(in: &data, pages)
    default: exchangePages(in: &data, pages)
    }
  }

  /// Changes one of the references to the number of another page.
  private mutating func exchange(_ references: [Reference], flags: Set<UInt16>, in data: inout Data)
  {
    let count = data.count / Self.pageSize
    // Omits the root number of an empty tree, because this number names no page.
    guard
      let one = references.filter({ $0.page >= 2 && $0.page < count }).randomElement(using: &random)
    else { return }
    // The candidates: the pages beside the named page, all pages of the same kind (also free pages), or all named pages.
    let candidates: [Int] =
      switch random.next(in: 0..<4) {
      case 0: [one.page - 1, one.page + 1]
      case 1:
        (2..<count).filter {
          data.word64($0 * Self.pageSize) == UInt64($0)
            && flags.contains(data.word16($0 * Self.pageSize + 10))
        }
      default: references.map(\.page)
      }
    // For a reference to a large value, prefers a large value with the same number of pages.
    let length = data.word64(one.page * Self.pageSize + 8) >> 32
    let others = candidates.filter { $0 >= 2 && $0 < count && $0 != one.page }
    let alike =
      flags == [4] ? others.filter { data.word64($0 * Self.pageSize + 8) >> 32 == length } : others
    guard let other = (alike.isEmpty ? others : alike).randomElement(using: &random) else { return }
    data.set(UInt64(other), at: one.offset, size: one.size)
    hasOldPages = true
    note("\(one.name) leads to page \(other) instead of \(one.page)")
  }

  private func records(of page: Int, in data: Data) -> [(index: Int, offset: Int)] {
    let start = page * Self.pageSize
    let count = max(0, (Int(data.word16(start + 12)) - 16) / 2)
    return (0..<min(count, 2000)).map { ($0, start + Int(data.word16(start + 16 + 2 * $0))) }
  }

  private func branchReferences(in data: Data, _ pages: [Int]) -> [Reference] {
    pages.filter { data.word16($0 * Self.pageSize + 10) == 1 }.flatMap { page in
      records(of: page, in: data).map {
        Reference(
          offset: $0.offset, size: 6, page: Int(data.word64($0.offset) & 0xFFFF_FFFF_FFFF),
          name: "branch page \(page), record \($0.index)")
      }
    }
  }

  /// The references of leaves to large values, or to the roots of databases.
  private func leafReferences(
    in data: Data, _ pages: [Int], flag: UInt16, at offset: Int, _ name: String
  ) -> [Reference] {
    pages.filter { data.word16($0 * Self.pageSize + 10) == 2 }.flatMap { page in
      records(of: page, in: data).filter { data.word16($0.offset + 4) == flag }.map {
        let place = $0.offset + 8 + Int(data.word16($0.offset + 6)) + offset
        return Reference(
          offset: place, size: 8, page: Int(truncatingIfNeeded: data.word64(place)),
          name: "leaf page \(page), \(name) \($0.index)")
      }
    }
  }

  private func valueReferences(in data: Data, _ pages: [Int]) -> [Reference] {
    leafReferences(in: data, pages, flag: 1, at: 0, "large value")
  }

  private func rootReferences(in data: Data, _ pages: [Int]) -> [Reference] {
    let meta = data.newestMeta
    return leafReferences(in: data, pages, flag: 2, at: 40, "database")
      + [("free lists", 80), ("main database", 128)].map {
        let offset = meta * Self.pageSize + $0.1
        return Reference(
          offset: offset, size: 8, page: Int(truncatingIfNeeded: data.word64(offset)),
          name: "meta page \(meta), \($0.0)")
      }
  }

  private mutating func changeRunLength(in data: inout Data, _ pages: [Int]) {
    let heads = pages.filter { data.word16($0 * Self.pageSize + 10) == 4 }
    guard let page = heads.randomElement(using: &random) else { return }
    let length = data.word64(page * Self.pageSize + 8) >> 32
    let other = [length &+ 1, length &- 1, length &+ UInt64(random.next(in: 2..<40)), 0]
      .randomElement(using: &random)!
    data.set(other, at: page * Self.pageSize + 12, size: 4)
    note("overflow page \(page) has \(other) pages instead of \(length)")
  }

  private mutating func changeFreeList(in data: inout Data) {
    let root = Int(truncatingIfNeeded: data.word64(data.newestMeta * Self.pageSize + 80))
    guard root >= 2, root < data.count / Self.pageSize, data.word16(root * Self.pageSize + 10) == 2,
      let record = records(of: root, in: data).randomElement(using: &random)
    else { return }
    // Changes only a list that is stored in the root page. Longer lists are stored in separate pages.
    let value = record.offset + 16
    let count = Int(truncatingIfNeeded: data.word64(value))
    guard data.word16(record.offset + 4) == 0, count > 0, count < 500 else { return }
    let entry = value + 8 + 8 * random.next(in: 0..<count)
    let kind = random.next(in: 0..<5)
    switch kind {
    case 0: data.set(UInt64(count) &- 1, at: value)
    case 1: data.set(UInt64(count) &+ 1, at: value)
    case 2: data.set(data.word64(value + 8), at: entry)
    case 3: data.set(data.word64(record.offset + 8) &- 1, at: record.offset + 8)
    default:
      let inUse = data.reachable()
      data.set(UInt64(inUse.randomElement(using: &random) ?? 2), at: entry)
      // In most cases sorts the list again, so that the list in itself is valid.
      let pages = (0..<count).map { data.word64(value + 8 + 8 * $0) }.sorted(by: >)
      if random.chance(percent: 75) {
        for (index, page) in pages.enumerated() { data.set(page, at: value + 8 + 8 * index) }
      }
    }
    note("free list of page \(root), record \(record.index), change \(kind)")
  }

  /// Replaces a free page on a list of free pages by a page in use. The list stays sorted and keeps its length.
  private mutating func listPageInUse(in data: inout Data, _ pages: [Int]) {
    let root = Int(truncatingIfNeeded: data.word64(data.newestMeta * Self.pageSize + 80))
    guard root >= 2, root < data.count / Self.pageSize, data.word16(root * Self.pageSize + 10) == 2,
      let record = records(of: root, in: data).randomElement(using: &random),
      var page = pages.randomElement(using: &random)
    else { return }
    // LMDB stores a long list in separate pages. The record then has only the number of the first of these pages.
    let value =
      data.word16(record.offset + 4) == 1
      ? Int(data.word64(record.offset + 16)) * Self.pageSize + 16 : record.offset + 16
    let count = Int(truncatingIfNeeded: data.word64(value))
    guard count > 0, value + 8 * count < data.count else { return }
    if data.word16(page * Self.pageSize + 10) == 4 {
      page += random.next(in: 0..<Int(data.word64(page * Self.pageSize + 8) >> 32))
    }
    var free = (0..<count).map { data.word64(value + 8 + 8 * $0) }
    guard page >= 2, !free.contains(UInt64(page)) else { return }
    free[random.next(in: 0..<count)] = UInt64(page)
    for (index, page) in free.sorted(by: >).enumerated() {
      data.set(page, at: value + 8 + 8 * index)
    }
    listsPageInUse = true
    note(
      "page \(page) is in use and on the list of free pages of page \(root), record \(record.index)"
    )
  }

  /// Exchanges the contents of two pages of the same kind. Each page keeps its own number.
  private mutating func exchangePages(in data: inout Data, _ pages: [Int]) {
    let flags: UInt16 = [1, 2, 2, 4].randomElement(using: &random)!
    let alike = pages.filter { data.word16($0 * Self.pageSize + 10) == flags }
    guard let one = alike.randomElement(using: &random),
      let other = alike.randomElement(using: &random), one != other
    else { return }
    let (first, second) = (data.page(one), data.page(other))
    for (page, content) in [(one, second), (other, first)] {
      let start = page * Self.pageSize
      data.replaceSubrange(start + 8..<start + Self.pageSize, with: content.dropFirst(8))
    }
    note("pages \(one) and \(other) changed places")
  }
}
