import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// How far this process has mapped the file, and when it may be mapped otherwise.
final class MapGrowth: Sendable {
  /// What the map had when the environment was opened, and has at least unless a limit says less.
  let openingSize: Int
  let mapSize: Atomic<Int>
  /// The most bytes that the file may have; the highest number for as many as there are.
  let fileLimit = Atomic<Int>(.max)
  /// A transaction found no room: do not wait for the usual moment.
  let isWanted = Atomic<Bool>(false)
  /// After a try in vain, the moment of the next one; until then writes go on in the room that is left.
  let nextTry = Atomic<Int64>(.min)

  init(mapSize: Int) {
    openingSize = mapSize
    self.mapSize = Atomic(mapSize)
  }
}

extension Environment {
  private var mapSize: Int { growth.mapSize.load(ordering: .relaxed) }
  private var usedSize: Int { meta.pages * meta.pageSize }

  /// The map that keeps the file within its limit. What a file has beyond that is mapped all the same, to be read.
  private var largestSize: Int {
    max(growth.fileLimit.load(ordering: .relaxed) / meta.pageSize * meta.pageSize, usedSize)
  }

  /// What the map should have: all that the limit allows, or twice what is used.
  private var usefulSize: Int {
    if fileLimit != nil { return largestSize }
    let isTight = growth.isWanted.load(ordering: .relaxed) || usedSize > mapSize / 2
    return max(growth.openingSize, isTight ? max(mapSize, usedSize) * 2 : mapSize)
  }

  /// The most bytes that this process lets the data file have, nil without a limit.
  ///
  /// The limit is the size of this process's map, beyond which LMDB writes nothing, rounded down to whole pages; LMDB
  /// leaves the last of them unused. A file that is larger already keeps its size. Every process that writes must set
  /// the limit for itself.
  package var fileLimit: Int? {
    let limit = growth.fileLimit.load(ordering: .relaxed)
    return limit == .max ? nil : limit
  }

  /// Sets ``fileLimit``. It holds at once if no transaction of this process is under way, otherwise from the next write
  /// on, which fails with ``LMDBError/mapHeld`` if a read does not let it have the map it needs in time.
  package func setFileLimit(_ bytes: Int?) {
    growth.fileLimit.store(bytes ?? .max, ordering: .relaxed)
    let useful = usefulSize
    if useful == mapSize { return }
    do throws(LMDBError) {
      _ = try resizeMap(toHold: useful, lockTimeout: .zero)
    } catch {
      // Closed, forked or given up by LMDB, as every other call will say.
    }
  }

  /// Sees to a map of the useful size. Called by a writer before it takes the locks between processes, so that nobody
  /// else waits for this process's reads.
  ///
  /// The map must not move while a read of this process is under way. If it should be larger and one does not end in
  /// time the write goes on in the room that is left, and one a second later tries again; with little room left, the
  /// next one does. If it must be smaller there is no going on.
  func prepareMap() throws(LMDBError) {
    if mapSize > largestSize { return try fitMap() }
    let useful = usefulSize
    guard useful > mapSize else { return }
    let now = SystemTime.monotonicMilliseconds
    let isPressing = growth.isWanted.load(ordering: .relaxed) || usedSize > mapSize / 4 * 3
    if !isPressing, now < growth.nextTry.load(ordering: .relaxed) { return }
    let modest = min(useful, max(mapSize, usedSize) * 2)
    let size = larder_check_address_space(useful) == 0 ? useful : modest
    if try resizeMap(toHold: size, lockTimeout: .milliseconds(100)) {
      growth.isWanted.store(false, ordering: .relaxed)
    } else {
      growth.nextTry.store(now + 1000, ordering: .relaxed)
    }
  }

  /// Follows another process that made the file larger than this process's map, and a limit that was set meanwhile.
  /// Called by a writer that holds the locks between processes, so that the file stays as it is.
  func fitMap() throws(LMDBError) {
    guard usedSize > mapSize || mapSize > largestSize else { return }
    if try !resizeMap(toHold: usedSize > mapSize ? usedSize * 2 : 0, lockTimeout: lockTimeout) {
      throw .mapHeld
    }
  }

  /// Lets a read see a file that another process made larger.
  ///
  /// - Returns: false if reads of this process kept the map where it is.
  func adoptMapSize(lockTimeout: Duration) throws(LMDBError) -> Bool {
    let used = usedSize
    if used <= mapSize { return true }
    return try resizeMap(toHold: used * 2, lockTimeout: lockTimeout)
  }

  /// Makes the map hold `size` bytes if the limit allows it, and as few as the limit asks for.
  ///
  /// - Returns: false if the map stayed as it is, for want of address space or because of reads of this process.
  private func resizeMap(toHold size: Int, lockTimeout: Duration) throws(LMDBError) -> Bool {
    // LMDB gives the old map up before it asks for the new one and cannot go back.
    if size > mapSize, larder_check_address_space(min(size, largestSize)) != 0 { return false }
    let result = readers.withAllIdle(lockTimeout: lockTimeout) { () -> LMDBError? in
      if !isOpen { return phaseError }
      let size = min(max(size, mapSize), largestSize)
      if size == mapSize { return nil }
      let code = unsafe mdb_env_set_mapsize(handle, size)
      if code != 0 {
        noteBroken()
        return LMDBError(code: code)
      }
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(handle, &info)
      // LMDB takes more if another process made the file larger at this moment.
      growth.mapSize.store(unsafe info.me_mapsize, ordering: .relaxed)
      return nil
    }
    guard let result else { return false }
    if let error = result { throw error }
    return true
  }
}
