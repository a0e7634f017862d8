import LMDB
import Synchronization

extension StoreCore {
  /// After a write: sees to it that the access table fits a store of so many entries. Where that fails, the disk being
  /// full, it is tried again in another minute.
  func fitAccess(to entries: UInt64) {
    let now = coarseNow
    let entries = Int(clamping: entries)
    if access.fits(entries: entries, now: now) { return }
    let minute = now / 60_000
    if accessFailure.load(ordering: .relaxed) == minute { return }
    access.refit(entries: entries, now: now)
    if !access.fits(entries: entries, now: now) { accessFailure.store(minute, ordering: .relaxed) }
  }
}
