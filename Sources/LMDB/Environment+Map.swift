import CLMDB
import Synchronization

/// How far this process has mapped the file, and when it may be mapped further.
final class MapGrowth: Sendable {
  let mapSize: Atomic<Int>
  /// A transaction found no room: do not wait for the usual moment.
  let isWanted = Atomic<Bool>(false)
  /// After a try in vain, the moment of the next one; until then writes go on in the room that is left.
  let nextTry = Atomic<Int64>(.min)

  init(mapSize: Int) { self.mapSize = Atomic(mapSize) }
}

extension Environment {
  private var mapSize: Int { growth.mapSize.load(ordering: .relaxed) }
  private var usedSize: Int { meta.pages * meta.pageSize }

  /// Doubles the address space when half of it is used. Called by a writer before it takes the locks between processes.
  ///
  /// The map must not move while a read of this process is under way. If one does not end in time the write goes on in
  /// the room that is left, and one a second later tries again; with little room left, the next one does.
  func growMapIfUseful() throws(LMDBError) {
    let wanted = growth.isWanted.load(ordering: .relaxed)
    guard wanted || usedSize > mapSize / 2 else { return }
    let now = SystemTime.monotonicMilliseconds
    let isPressing = wanted || usedSize > mapSize / 4 * 3
    if !isPressing, now < growth.nextTry.load(ordering: .relaxed) { return }
    if try resizeMap(to: max(mapSize, usedSize) * 2, patience: .milliseconds(100)) {
      growth.isWanted.store(false, ordering: .relaxed)
    } else {
      growth.nextTry.store(now + 1000, ordering: .relaxed)
    }
  }

  /// Follows another process that made the file larger than this process's map. Called by a writer that holds the
  /// locks between processes, so that the file stays as it is.
  func adoptMapSizeIfNeeded() throws(LMDBError) {
    guard usedSize > mapSize else { return }
    if try !adoptMapSize(patience: patience) { throw .mapHeld }
  }

  /// - Returns: false if reads of this process kept the map where it is.
  func adoptMapSize(patience: Duration) throws(LMDBError) -> Bool {
    let used = usedSize
    if used <= mapSize { return true }
    return try resizeMap(to: used * 2, patience: patience)
  }

  private func resizeMap(to size: Int, patience: Duration) throws(LMDBError) -> Bool {
    // LMDB gives the old map up before it asks for the new one and cannot go back.
    if clmdb_check_room(size) != 0 { return false }
    let result = readers.withAllIdle(patience: patience) { () -> LMDBError? in
      if !isOpen { return phaseError }
      if size <= mapSize { return nil }
      let code = unsafe mdb_env_set_mapsize(handle, size)
      if code != 0 {
        noteBroken()
        return LMDBError(code: code)
      }
      growth.mapSize.store(size, ordering: .relaxed)
      return nil
    }
    guard let result else { return false }
    if let error = result { throw error }
    return true
  }
}
