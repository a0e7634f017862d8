import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The size of this process's map of the data file, and when to change it.
final class MapGrowth: Sendable {
  /// The size at opening: the map is at least so large unless the file limit is lower.
  let openingSize: Int
  let mapSize: Atomic<Int>
  /// The limit of the file's size in bytes; `Int.max` without a limit.
  let fileLimit = Atomic<Int>(.max)
  /// A transaction found the map full: grow at once.
  let isWanted = Atomic<Bool>(false)
  /// After a failed attempt to grow, the time of the next one; until then writes use the space left.
  let nextTry = Atomic<Int64>(.min)

  init(mapSize: Int) {
    openingSize = mapSize
    self.mapSize = Atomic(mapSize)
  }
}

extension Environment {
  private static let smallestMap = 64 << 20

  /// The size to map at opening: `wanted` bytes, or less in a process with little address space, at most half of which is
  /// taken. A large map needs no resizing, for which all reads of the process must end; only used pages take memory.
  static func initialMapSize(_ wanted: Int, fileSize: Int) -> Int {
    // A sparse file may claim to be larger than any address space.
    let fileSize = min(fileSize, 1 << 45)
    let needed = fileSize * 2
    var size = min(wanted, 1 << 46)
    while size > smallestMap, larder_check_address_space(2 * size) != 0 { size /= 2 }
    size = max(size, needed)
    if larder_check_address_space(size) != 0 { size = max(fileSize + 16 << 20, size / 2) }
    let unit = 1 << 16
    return (size + unit - 1) / unit * unit
  }

  private var mapSize: Int { growth.mapSize.load(ordering: .relaxed) }
  private var usedSize: Int { meta.pages * meta.pageSize }

  /// The largest map that keeps the file within its limit. A file that exceeds the limit is mapped completely.
  private var largestSize: Int {
    max(growth.fileLimit.load(ordering: .relaxed) / meta.pageSize * meta.pageSize, usedSize)
  }

  /// The size the map should have: all that the limit allows, otherwise twice the used size.
  private var usefulSize: Int {
    if fileLimit != nil { return largestSize }
    let isTight = growth.isWanted.load(ordering: .relaxed) || usedSize > mapSize / 2
    return max(growth.openingSize, isTight ? max(mapSize, usedSize) * 2 : mapSize)
  }

  /// The limit that this process sets for the size of the data file in bytes, nil without a limit.
  ///
  /// The limit is the size of this process's map, rounded down to whole pages: LMDB writes nothing beyond the map and
  /// leaves its last page unused. A file that exceeds the limit keeps its size. Every writing process must set the limit.
  package var fileLimit: Int? {
    let limit = growth.fileLimit.load(ordering: .relaxed)
    return limit == .max ? nil : limit
  }

  /// Sets ``fileLimit``. The limit applies at once if this process has no transaction, otherwise from the next write,
  /// which throws ``LMDBError/mapHeld`` if a read prevents remapping for too long.
  package func setFileLimit(_ bytes: Int?) {
    growth.fileLimit.store(bytes ?? .max, ordering: .relaxed)
    let useful = usefulSize
    if useful == mapSize { return }
    do throws(LMDBError) {
      _ = try resizeMap(toHold: useful, lockTimeout: .zero)
    } catch {
      // The environment is closed, forked or broken; every later call throws the same error.
    }
  }

  /// Resizes the map to the useful size. A writer calls it before it takes the locks between processes, so that no other
  /// process waits for this process's reads.
  ///
  /// The map must not move during a read of this process. If a larger map is wanted and a read does not end in time, the
  /// write uses the space left and a write one second later tries again, or the next one if little space is left. A smaller
  /// map is mandatory.
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

  /// Adapts the map to a file that another process has made larger, and to a changed limit. The caller holds the locks
  /// between processes, so the file keeps its size.
  func fitMap() throws(LMDBError) {
    guard usedSize > mapSize || mapSize > largestSize else { return }
    try checkUsedSize()
    if try !resizeMap(toHold: usedSize > mapSize ? usedSize * 2 : 0, lockTimeout: lockTimeout) {
      throw .mapHeld
    }
  }

  /// Lets a read see a file that another process has made larger.
  ///
  /// - Returns: false if reads of this process prevent remapping.
  func adoptMapSize(lockTimeout: Duration) throws(LMDBError) -> Bool {
    let used = usedSize
    if used <= mapSize { return true }
    try checkUsedSize()
    return try resizeMap(toHold: used * 2, lockTimeout: lockTimeout)
  }

  /// Throws if the newest commit names more pages than its file can have. No map holds them, so a wait for one would be in
  /// vain.
  private func checkUsedSize() throws(LMDBError) {
    guard let size = FileStatus.of(files.data).map({ Int($0.st_size) }) else { return }
    let pages = UInt64(size / meta.pageSize)
    if meta.pages > SnapshotPages.mostPages(inFileOf: pages) { throw .damagedPage }
  }

  /// Makes the map hold `size` bytes if the limit allows it, and no more than the limit.
  ///
  /// - Returns: false if the map is unchanged, for lack of address space or because of reads of this process.
  private func resizeMap(toHold size: Int, lockTimeout: Duration) throws(LMDBError) -> Bool {
    // LMDB unmaps the file before it maps it again and cannot go back.
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
      // LMDB maps more if another process has just made the file larger.
      growth.mapSize.store(unsafe info.me_mapsize, ordering: .relaxed)
      return nil
    }
    guard let result else { return false }
    if let error = result { throw error }
    return true
  }
}
