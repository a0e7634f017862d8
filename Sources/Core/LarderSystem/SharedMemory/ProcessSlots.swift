import CLarderSystem
import Synchronization

/// A number of this process, unique in a store's directory. With the number, other processes test whether this process lives.
///
/// The process locks one byte of a file; the number is the offset of this byte. The system releases the lock when the process
/// ends, but also when the process closes any descriptor of the file. So the process opens the file only once.
package final class ProcessSlots: Sendable {
  package static let name = "lock.slots"
  static let most = 0xFFFF

  private struct Known: Sendable { weak var slots: ProcessSlots? }
  private static let all = Mutex<[FileIdentity: Known]>([:])

  /// The file is closed in a forked child, because the child does not inherit the lock.
  private let file: ForkGuard
  let own: Int
  /// Whether no lock of this process has used the number yet. If so, only a killed process can have left a lock with the number.
  let isNew = Atomic(true)

  private init?(_ file: consuming FileDescriptor, in guarded: ForkGuard) {
    let descriptor = file.number
    guard
      let free = (1...Self.most).first(where: { larder_set_lock(descriptor, off_t($0), true) == 0 })
    else { return nil }
    own = free
    self.file = guarded
    _ = guarded.adopt(file)
  }

  /// The object for `directory`; nil if the file cannot be opened, or if all numbers are taken.
  package static func shared(in directory: String) -> ProcessSlots? {
    let path = directory + "/" + name
    // No thread forks meanwhile, so a child never finds `all` locked. Fork guards use the lock of the process table, too. So the
    // new guard is made before, and `living` keeps the others.
    let guarded = ForkGuard()
    let found = ProcessTable.exclusively {
      all.withLock { all -> (slots: ProcessSlots?, living: [ProcessSlots]) in
        let living = all.values.compactMap(\.slots)
        if let status = FileStatus.of(path), let known = all[FileIdentity(status)]?.slots,
          !known.file.isForked
        {
          return (known, living)
        }
        all = all.filter { $1.slots != nil }
        guard let file = try? FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW),
          let status = file.status
        else { return (nil, living) }
        guard let slots = ProcessSlots(file, in: guarded) else { return (nil, living) }
        all[FileIdentity(status)] = Known(slots: slots)
        return (slots, living)
      }
    }
    return found.slots
  }

  /// Whether the file is still in `directory`. If not, another process may get the number of this process.
  package func isFile(in directory: String) -> Bool {
    FileStatus.isFile(file.descriptor(0), at: directory + "/" + Self.name)
  }

  /// Whether the process with number `slot` lives; true if the system cannot tell. The system does not report the caller's locks.
  func isAlive(_ slot: Int) -> Bool {
    slot == own || larder_is_locked(file.descriptor(0), off_t(slot), 1) != 0
  }
}
