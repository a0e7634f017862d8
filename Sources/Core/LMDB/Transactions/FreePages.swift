import CLarderSystem
import LarderSystem

/// One record of LMDB's free lists: the pages that one commit has freed.
struct FreeList: ~Escapable {
  let transaction: UInt64
  let count: Int
  private let words: Span<UInt8>

  /// Throws if the lengths are impossible. LMDB does not check the lengths.
  @_lifetime(copy list)
  init(_ key: Span<UInt8>, _ list: Span<UInt8>) throws(LMDBError) {
    guard key.count == 8, list.count >= 8 else { throw .corrupted }
    let count = list.word(at: 0)
    guard count <= UInt64(list.count / 8 - 1) else { throw .corrupted }
    transaction = key.word(at: 0)
    self.count = Int(count)
    words = list
  }

  func page(_ index: Int) -> UInt64 { words.word(at: 8 + 8 * index) }

  var pages: [UInt64] {
    unsafe [UInt64](unsafeUninitializedCapacity: count) { pages, initialized in
      unsafe words.withUnsafeBytes { words in
        unsafe UnsafeMutableRawBufferPointer(pages).copyMemory(
          from: UnsafeRawBufferPointer(rebasing: words[8..<8 + 8 * count]))
      }
      initialized = count
    }
  }

  /// Whether this list and `pages` have the same length, the same first page and the same last page.
  func hasSameEnds(as pages: [UInt64]) -> Bool {
    count == pages.count
      && (count == 0 || page(0) == pages[0] && page(count - 1) == pages[count - 1])
  }

  /// The number of equal pages at the beginning of both lists. The result may be 0 if pages in the middle differ.
  func commonCount(with pages: [UInt64]) -> Int {
    var (low, high) = (0, min(count, pages.count))
    while low < high {
      let middle = (low + high) / 2
      if page(middle) == pages[middle] { low = middle + 1 } else { high = middle }
    }
    let isSame = unsafe words.withUnsafeBytes { words in
      unsafe pages.withUnsafeBytes { pages in
        unsafe low == 0 || memcmp(words.baseAddress! + 8, pages.baseAddress!, 8 * low) == 0
      }
    }
    return isSame ? low : 0
  }
}

extension ReadTransaction {
  /// The number of free pages in the file. O(free lists).
  package func freePages() throws(LMDBError) -> Int {
    var total = 0
    var cursor = try cursor(in: .free)
    while let record = try cursor.next() { total += try FreeList(record.key, record.value).count }
    return total
  }
}
