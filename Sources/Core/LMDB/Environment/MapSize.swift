import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The size of LMDB's map in this process, and when to change it.
final class MapSize: Sendable {
  private static let smallest = 64 << 20

  private let handle: EnvironmentHandle
  /// The map is at least this large unless the file limit is lower.
  private let atOpening: Int
  private let mapped: Atomic<Int>
  private let limit = Atomic<Int>(.max)
  /// A transaction found the map full: the next write grows the map at once.
  private let isWanted = Atomic<Bool>(false)
  /// After a failed attempt to grow, the time of the next attempt; until then writes use the space left.
  private let nextTry = Atomic<Int64>(.min)

  init(_ size: Int, of handle: EnvironmentHandle) {
    self.handle = handle
    atOpening = size
    mapped = Atomic(size)
  }

  /// The size to map at opening: `wanted` bytes, or less in a process with little address space. A small file takes at most
  /// half of that space. To resize a map, all reads of the process must end, so a large map helps; only used pages take memory.
  static func initial(_ wanted: Int, fileSize: Int) -> Int {
    // A sparse file may claim to be larger than any address space.
    let fileSize = min(fileSize, 1 << 45)
    let needed = fileSize * 2
    var size = min(wanted, 1 << 46)
    while size > smallest, larder_check_address_space(2 * size) != 0 { size /= 2 }
    size = max(size, needed)
    if larder_check_address_space(size) != 0 { size = max(fileSize + 16 << 20, size / 2) }
    let unit = 1 << 16
    return (size + unit - 1) / unit * unit
  }

  private var size: Int { mapped.load(ordering: .relaxed) }
  private var usedSize: Int { handle.meta.pages * handle.meta.pageSize }

  /// The largest map that keeps the file within its limit. A file beyond the limit is mapped completely.
  private var largestSize: Int {
    let pageSize = handle.meta.pageSize
    return max(limit.load(ordering: .relaxed) / pageSize * pageSize, usedSize)
  }

  /// The size that the map should have: all that the limit allows; without a limit, twice the size once half of it is used.
  private var usefulSize: Int {
    if fileLimit != nil { return largestSize }
    let isTight = isWanted.load(ordering: .relaxed) || usedSize > size / 2
    return max(atOpening, isTight ? max(size, usedSize) * 2 : size)
  }

  var fileLimit: Int? {
    let bytes = limit.load(ordering: .relaxed)
    return bytes == .max ? nil : bytes
  }

  func setFileLimit(_ bytes: Int?) {
    limit.store(bytes ?? .max, ordering: .relaxed)
    let useful = usefulSize
    // After an error every later call throws the same error.
    if useful != size { _ = try? resize(toHold: useful, lockTimeout: .zero) }
  }

  func noteFull() { isWanted.store(true, ordering: .relaxed) }

  /// A writer calls this function before it takes the locks between processes, so no other process waits for this process's
  /// reads. If a read prevents a larger map, the write uses the space left. A write one second later tries again, or the next
  /// write if little space is left. A smaller map is mandatory.
  func prepare() throws(LMDBError) {
    if size > largestSize { return try fit() }
    let useful = usefulSize
    guard useful > size else { return }
    let now = SystemTime.monotonicMilliseconds
    let isPressing = isWanted.load(ordering: .relaxed) || usedSize > size / 4 * 3
    if !isPressing, now < nextTry.load(ordering: .relaxed) { return }
    let modest = min(useful, max(size, usedSize) * 2)
    let wanted = larder_check_address_space(useful) == 0 ? useful : modest
    if try resize(toHold: wanted, lockTimeout: .milliseconds(100)) {
      isWanted.store(false, ordering: .relaxed)
    } else {
      nextTry.store(now + 1000, ordering: .relaxed)
    }
  }

  /// Adapts the map to a file that another process has made larger, and to a changed limit. The caller holds `lock.write`.
  func fit() throws(LMDBError) {
    guard usedSize > size || size > largestSize else { return }
    try checkUsedSize()
    let needed = usedSize > size ? usedSize * 2 : 0
    if try !resize(toHold: needed, lockTimeout: handle.lockTimeout) { throw .mapHeld }
  }

  /// Lets a read see a file that another process has made larger. Returns false if reads of this process prevent remapping.
  func adopt(lockTimeout: Duration) throws(LMDBError) -> Bool {
    let used = usedSize
    if used <= size { return true }
    try checkUsedSize()
    return try resize(toHold: used * 2, lockTimeout: lockTimeout)
  }

  /// Throws if the newest commit names more pages than its file can have: no map can hold them, and a wait would not help.
  private func checkUsedSize() throws(LMDBError) {
    guard let size = FileStatus.of(handle.files.data).map({ Int($0.st_size) }) else { return }
    let pages = UInt64(size / handle.meta.pageSize)
    if handle.meta.pages > SnapshotPages.mostPages(inFileOf: pages) { throw .damagedPage }
  }

  /// Makes the map `wanted` bytes large, but at most ``largestSize``. Returns false, and leaves the map unchanged, if address
  /// space is missing or reads continue.
  private func resize(toHold wanted: Int, lockTimeout: Duration) throws(LMDBError) -> Bool {
    // LMDB unmaps the file before it maps the file again, and cannot go back.
    if wanted > size, larder_check_address_space(min(wanted, largestSize)) != 0 { return false }
    let done: Void? = try handle.readers.withAllIdle(lockTimeout: lockTimeout) {
      () throws(LMDBError) -> Void in
      if !handle.isOpen { throw handle.phaseError }
      let next = min(max(wanted, size), largestSize)
      if next == size { return }
      let code = unsafe mdb_env_set_mapsize(handle.pointer, next)
      if code != 0 {
        handle.noteBroken()
        throw LMDBError(code: code)
      }
      var info = unsafe MDB_envinfo()
      unsafe mdb_env_info(handle.pointer, &info)
      // LMDB maps more if another process has just made the file larger.
      mapped.store(unsafe info.me_mapsize, ordering: .relaxed)
    }
    return done != nil
  }
}
