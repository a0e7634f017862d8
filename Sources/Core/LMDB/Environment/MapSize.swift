import CLMDB
import CLarderSystem
import LarderSystem
import Synchronization

/// The size of LMDB's map in this process, and when this size changes.
final class MapSize: Sendable {
  private static let smallest = 64 << 20
  /// The address space that the two maps of the file, LMDB's and ``DataMap``, leave for the rest of the process.
  static let spare = 16 << 20

  private let handle: EnvironmentHandle
  /// The map has at least this size, except if the file limit is lower.
  private let atOpening: Int
  private let mapped: Atomic<Int>
  private let limit = Atomic<Int>(.max)
  /// Set if the map was full for a transaction. If set, the next write immediately makes the map larger.
  private let isWanted = Atomic<Bool>(false)
  /// If the map could not be made larger, the time of the next try. Until then, writes use the space that is left.
  private let nextTry = Atomic<Int64>(.min)

  init(_ size: Int, of handle: EnvironmentHandle) {
    self.handle = handle
    atOpening = size
    mapped = Atomic(size)
  }

  /// The size of the map at opening: `wanted` bytes, or less if there is little address space (for a small file, at most half
  /// of that space). A large map is better, because all reads must end before a map is resized. Only used pages need memory.
  static func initial(_ wanted: Int, fileSize: Int) -> Int {
    // A sparse file may seem to be larger than any address space, so the size has an upper bound.
    let fileSize = min(fileSize, 1 << 45)
    let needed = fileSize * 2
    var size = min(wanted, 1 << 46)
    while size > smallest, larder_check_address_space(2 * size + spare) != 0 { size /= 2 }
    size = max(size, needed)
    if larder_check_address_space(2 * size + spare) != 0 {
      size = max(fileSize + 16 << 20, size / 2)
    }
    let unit = 1 << 16
    return (size + unit - 1) / unit * unit
  }

  private var size: Int { mapped.load(ordering: .relaxed) }
  private var usedSize: Int { handle.data.pages * handle.data.pageSize }

  /// The largest map with which the file stays within its limit. If the file is already above the limit, the used size.
  private var largestSize: Int {
    let pageSize = handle.data.pageSize
    return max(limit.load(ordering: .relaxed) / pageSize * pageSize, usedSize)
  }

  /// The size that the map should have: with a limit, ``largestSize``; otherwise twice the present size if the map is half full.
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
    // An error is ignored here, because every later call throws the same error.
    if useful != size { _ = try? resize(toHold: useful, lockTimeout: .zero) }
  }

  func noteFull() { isWanted.store(true, ordering: .relaxed) }

  /// Called before a writer takes the locks between processes, so that no other process waits for the reads of this process. If
  /// a read prevents a larger map, the write uses the space that is left. The next try is at a write after one second, or at
  /// the next write if little space is left. If the map must become smaller and cannot, the write throws.
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

  /// Changes the map if another process has made the file larger, or if the limit has changed. The caller holds `lock.write`.
  func fit() throws(LMDBError) {
    guard usedSize > size || size > largestSize else { return }
    try checkUsedSize()
    let needed = usedSize > size ? usedSize * 2 : 0
    if try !resize(toHold: needed, lockTimeout: handle.lockTimeout) { throw .mapHeld }
  }

  /// Makes the map larger if another process has made the file larger. Returns false if reads or the address space prevent it.
  func adopt(lockTimeout: Duration) throws(LMDBError) -> Bool {
    let used = usedSize
    if used <= size { return true }
    try checkUsedSize()
    return try resize(toHold: used * 2, lockTimeout: lockTimeout)
  }

  /// Throws if the newest commit has more pages than its file can have: no map can hold these pages, so waiting cannot help.
  private func checkUsedSize() throws(LMDBError) {
    guard let size = FileStatus.of(handle.files.data).map({ Int($0.st_size) }) else { return }
    let pages = UInt64(size / handle.data.pageSize)
    if handle.data.pages > SnapshotPages.mostPages(inFileOf: pages) { throw .damagedPage }
  }

  /// Gives the map a size of `wanted` bytes, but at most ``largestSize``. If there is too little address space, or if reads do
  /// not end, returns false and does not change the map.
  private func resize(toHold wanted: Int, lockTimeout: Duration) throws(LMDBError) -> Bool {
    // LMDB unmaps the file before it maps the file again. A failure would leave no map, so the address space is checked first.
    if wanted > size, larder_check_address_space(min(wanted, largestSize)) != 0 { return false }
    return try handle.readers.withAllIdle(lockTimeout: lockTimeout) { () throws(LMDBError) in
      if !handle.isOpen { throw handle.phaseError }
      let next = min(max(wanted, size), largestSize)
      if next == size { return }
      let code = unsafe mdb_env_set_mapsize(handle.pointer, next)
      if code != 0 {
        handle.noteBroken()
        throw LMDBError(code: code)
      }
      // If another process has just made the file larger, LMDB maps more than was requested, so LMDB is asked for the size.
      mapped.store(unsafe mappedSize(of: handle.pointer), ordering: .relaxed)
    }
  }
}
