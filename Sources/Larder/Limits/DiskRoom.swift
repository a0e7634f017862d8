import LMDB

/// What a batch may take of a data file with a limit.
///
/// A value needs pages, and every change needs copies of those it touches; what they replace is free only for the second
/// commit after. So a part of the file, the reserve, is kept free of entries: removals always find room in it, and a
/// value what it needs before those that leave for it have made any.
struct DiskRoom {
  /// What the file may have, in bytes and in pages.
  let limit: Int
  let pages: Int
  /// Pages that were free or behind the end when the batch began.
  let available: Int
  /// Pages that were in use then: no more than these can be copied.
  let used: Int
  /// What the batch has written: pages of large values, bytes of small entries, and how many entries.
  private var values = 0
  private var bytes = 0
  private var entries = 0

  /// An eighth of the limit, at most 64 MB.
  static func reserve(of pages: Int, pageSize: Int) -> Int { min(pages / 8, (64 << 20) / pageSize) }

  init(limit: Int, pageSize: Int, available: Int, used: Int) {
    self.limit = limit
    self.pageSize = pageSize
    self.used = used
    pages = limit / pageSize
    reserve = Self.reserve(of: pages, pageSize: pageSize)
    self.available = available
  }

  private let pageSize: Int
  let reserve: Int

  /// An estimate, rather too high, of how many pages the batch has taken: leaves that were split are half full.
  var spent: Int {
    let new = values + bytes * 2 / pageSize
    return entries == 0 ? 0 : new + min(entries * Self.perEntry, used + new)
  }

  /// - Parameter pages: what a large value takes; 0 for one that goes into a leaf.
  mutating func spend(pages: Int, stored: Int) {
    values += pages
    bytes += pages == 0 ? stored : 0
    entries += 1
  }

  /// No batch takes more.
  static let enough = 1 << 17
  /// How many pages entries may take.
  var usable: Int { pages - reserve }

  /// Copies of pages that one more entry may need: of the leaves it touches in four trees, and of what is above them.
  static let perEntry = 4
  /// Pages that a step of coming down to a lower limit may copy.
  static let perStep = 512
  /// What removals and the commit itself find in any case.
  static let kept = 48
}

/// Thrown through a batch that found too few pages: what it did is taken back.
struct OutOfPages: Error {
  var needed: Int
}

/// Thrown before a batch begins, when another process has set another limit for the data file.
struct FileLimitChanged: Error {
  var limit: Int?
}
