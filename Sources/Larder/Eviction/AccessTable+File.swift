import LMDB
import LarderSystem

extension AccessTable {
  /// Rises when a word or the hash of an entry means something else.
  private static let layout: UInt32 = 1
  static let fewestEntries = 4096
  private static let mostEntries = 1 << 28
  /// How far the table's clock may have come: its minutes are 16 bits, and somebody may have set the store's clock back a
  /// little. Beyond that the table gets a new one.
  private static let minutes: ClosedRange<Int64> = -1440...60_000
  /// How much of the past a new table goes on with.
  private static let keptMinutes: Int64 = 1 << 15

  init(of environment: Environment, store: [UInt8]) {
    words = SharedTable(
      SharedTable.Format(file: .access, layout: Self.layout, store: store) { count in
        let entries = count / Self.wordsPerEntry
        return count == Self.wordsPerEntry * entries && entries & (entries - 1) == 0
          && (Self.fewestEntries...Self.mostEntries).contains(entries)
      }, of: environment)
  }

  /// Maps the table, for writing if it may be written; then it is made if there is none.
  func open(writable: Bool, in minute: Int64) {
    guard writable else {
      words.openForReading()
      return
    }
    words.open(making: Self.wordsPerEntry * Self.fewestEntries) { view in
      view.setNote(Note.epoch, UInt64(bitPattern: minute - 1))
    }
  }

  /// Notes how many entries the store has. False if they have outgrown the table, if its clock has come to the end, or if
  /// there is none.
  func fits(entries: Int, in minute: Int64) -> Bool {
    let view = words.view
    guard view.isWritable else { return false }
    if view.note(Note.entries) != UInt64(entries) {
      view.setNote(Note.entries, UInt64(entries))
    }
    return Self.minutes.contains(minute &- view.epoch)
      && (entries <= view.entries || view.entries == Self.mostEntries)
  }

  /// Makes the table anew so that it fits.
  func refit(entries: Int, in minute: Int64) {
    open(writable: true, in: minute)
    let needed = min(max(words.view.entries, entries.roundedUpToPowerOfTwo), Self.mostEntries)
    words.replace(count: Self.wordsPerEntry * max(needed, Self.fewestEntries)) { old, new in
      let isKnown = (-1440...0xFFFF).contains(minute &- old.epoch)
      let epoch = isKnown ? max(old.epoch, minute - Self.keptMinutes) : minute - 1
      new.setNote(Note.epoch, UInt64(bitPattern: epoch))
      new.setNote(Note.entries, UInt64(entries))
      new.carry(from: old, forward: isKnown ? epoch - old.epoch : nil)
    }
  }
}

extension SharedTable.View {
  /// Takes over a table whose epoch was so many minutes earlier; nil if nobody knows when.
  ///
  /// A smaller one knows less of where an entry belongs: each of its buckets is copied to all that may be meant. What is
  /// wrong there is never asked for, and is what a full bucket forgets first.
  fileprivate func carry(from old: borrowing SharedTable.View, forward minutes: Int64?) {
    guard old.entries > 0, entries % old.entries == 0 else { return }
    let factor = entries / old.entries
    for place in 0..<2 * entries {
      let source = place.place(inBucketsOf: AccessTable.markWays, factor: factor)
      let word = AccessSlot(bits: old[source])
      if word == .empty { continue }
      let minute = minutes.map { UInt32(max(Int64(word.minute) - $0, 1)) } ?? 0
      self[place] = AccessSlot(tag: word.tag, mark: word.mark, minute: minute).bits
    }
    for place in 0..<4 * entries {
      let source = place.place(inBucketsOf: AccessTable.ghostWays, factor: factor)
      self[2 * entries + place] = old[2 * old.entries + source]
    }
  }
}

extension Int {
  /// Where what is in this place was in a table with so many times fewer buckets.
  fileprivate func place(inBucketsOf ways: Int, factor: Int) -> Int {
    self / ways / factor * ways + self % ways
  }

  /// The smallest power of two that is not smaller.
  fileprivate var roundedUpToPowerOfTwo: Int {
    self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
