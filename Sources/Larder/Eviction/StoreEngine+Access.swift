import LMDB
import Synchronization

extension StoreEngine {
  /// The fewest bytes of the data file that one entry takes.
  private static let smallestEntry = 64

  /// Grows the access table to the number of entries after a write. After a failure, such as a full disk, the next
  /// attempt is in the next minute.
  ///
  /// The file's size bounds the number: a damaged counter must not create a table of gigabytes.
  func fitAccess(to entries: UInt64) {
    let minute = coarseMinute
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
