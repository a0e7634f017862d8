import LMDB
import Synchronization

extension StoreEngine {
  /// After a write: sees to it that the access table fits a store of so many entries. Where that fails, the disk being
  /// full, it is tried again in another minute.
  func fitAccess(to entries: UInt64) {
    let minute = coarseMinute
    let entries = Int(clamping: entries)
    if access.fits(entries: entries, in: minute) { return }
    if accessFailure.load(ordering: .relaxed) == minute { return }
    access.refit(entries: entries, in: minute)
    if !access.fits(entries: entries, in: minute) {
      accessFailure.store(minute, ordering: .relaxed)
    }
  }
}
