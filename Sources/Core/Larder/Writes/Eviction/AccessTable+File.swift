import LMDB
import LarderSystem
import Synchronization

extension AccessTable {
  /// The number of the layout, which increases when the meaning of a word or the hash of an entry changes.
  private static let layout: UInt32 = 2
  static let fewestEntries = 4096
  private static let mostEntries = 1 << 28
  /// In these minutes after its epoch a table is usable: a clock may go back by one day, and a slot has 16 bits for a minute.
  private static let minutes: ClosedRange<Int64> = -1440...60_000
  /// When a table is replaced, last uses that are older than this number of minutes become equally old.
  private static let keptMinutes: Int64 = 1 << 15

  init(of environment: Environment, store: [UInt8]) {
    words = SharedTable(.access, layout: Self.layout, store: store, of: environment) { count in
      let entries = (count - Self.recentWords) / Self.wordsPerEntry
      return count == Self.count(entries: entries) && entries & (entries - 1) == 0
        && (Self.fewestEntries...Self.mostEntries).contains(entries)
    }
  }

  static func count(entries: Int) -> Int { wordsPerEntry * entries + recentWords }

  /// If `writable` is true, maps the file for writing, and creates a missing file. Otherwise maps an existing file for reading.
  func open(writable: Bool, in minute: Int64) {
    guard writable else {
      words.openForReading()
      return
    }
    words.open(making: Self.count(entries: Self.fewestEntries)) { view in
      view.setNote(Note.epoch, UInt64(bitPattern: minute - 1))
    }
  }

  /// Notes the number of the store's entries. Returns whether a table is open for writing, is large enough for the entries (or
  /// has the largest size), and has an epoch that is near enough to the minute.
  func fits(entries: Int, in minute: Int64) -> Bool {
    let view = words.view
    guard view.isWritable else { return false }
    if view.note(Note.entries) != UInt64(entries) { view.setNote(Note.entries, UInt64(entries)) }
    return Self.minutes.contains(minute &- view.epoch)
      && (entries <= view.entries || view.entries == Self.mostEntries)
  }

  func refit(entries: Int, in minute: Int64) {
    open(writable: true, in: minute)
    let needed = min(max(words.view.entries, entries.nextPowerOfTwo), Self.mostEntries)
    words.replace(count: Self.count(entries: max(needed, Self.fewestEntries))) { old, new in
      let isKnown = (-1440...0xFFFF).contains(minute &- old.epoch)
      let epoch = isKnown ? max(old.epoch, minute - Self.keptMinutes) : minute - 1
      new.setNote(Note.epoch, UInt64(bitPattern: epoch))
      new.setNote(Note.entries, UInt64(entries))
      new.carry(from: old, forward: isKnown ? epoch - old.epoch : nil)
    }
  }
}

extension SharedTable.View {
  /// Takes over the slots of `old`, a table whose epoch was `minutes` earlier; `minutes` is nil if the difference is unknown.
  /// `old` uses fewer bits of the hash to choose a bucket. So each bucket of `old` is copied to every new bucket in which
  /// lookups may search for its entries. Lookups never use the other copies, so a full bucket replaces those copies first.
  fileprivate func carry(from old: borrowing SharedTable.View, forward minutes: Int64?) {
    guard old.entries > 0, entries % old.entries == 0 else { return }
    let factor = entries / old.entries
    let ways = AccessTable.slotWays
    for bucket in 0..<2 * entries / ways {
      let source = bucket / factor * ways
      for way in 0..<ways {
        let slot = AccessSlot(bits: old[source + way])
        if slot == .empty { continue }
        let known = slot.minute == 0 ? nil : minutes
        let minute = known.map { UInt32(max(Int64(slot.minute) - $0, 1)) } ?? 0
        self[bucket * ways + way] =
          AccessSlot(tag: slot.tag, stats: slot.stats, minute: minute).bits
      }
    }
    let ghostWays = AccessTable.ghostWays
    for bucket in 0..<4 * entries / ghostWays {
      let source = 2 * old.entries + bucket / factor * ghostWays
      for way in 0..<ghostWays where old[source + way] != 0 {
        self[2 * entries + bucket * ghostWays + way] = old[source + way]
      }
    }
    for word in 1...AccessTable.recentWords { self[count - word] = old[old.count - word] }
  }
}

extension StoreEngine {
  private static let smallestEntry = 64

  /// After a write, grows the access table to the number of entries. If the table cannot grow, a write in the next minute tries
  /// again. The size of the data file limits the number, because a damaged counter must not create a table of gigabytes.
  func fitAccess(to entries: UInt64) {
    let minute = clock.coarseMinute
    if access.fits(entries: Int(clamping: entries), in: minute) { return }
    let entries = min(
      Int(clamping: entries), environment.info.pages * pageSize / Self.smallestEntry)
    if access.fits(entries: entries, in: minute) { return }
    if accessFailure.load(ordering: .relaxed) == minute { return }
    access.refit(entries: entries, in: minute)
    if !access.fits(entries: entries, in: minute) {
      accessFailure.store(minute, ordering: .relaxed)
    }
  }
}
