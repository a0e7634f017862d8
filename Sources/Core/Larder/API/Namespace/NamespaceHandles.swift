import LarderSystem
import Synchronization

/// The handles of a store by name. A handle stays while it is in use, has unmerged counts of an existing namespace, or has declared
/// rules.
struct NamespaceHandles {
  private static let fewest = 64

  private let counted: CountedHandles
  private(set) var byName: [ExactString: NamespaceHandle] = [:]
  /// At this number of handles, unused handles are released. The limit then becomes twice the number of handles that are left.
  private var most = Self.fewest

  init(listedIn counted: CountedHandles) { self.counted = counted }

  mutating func handle(for name: String) -> NamespaceHandle {
    let exact = ExactString(name)
    if let handle = byName[exact] { return handle }
    if byName.count >= most {
      releaseUnused()
      most = max(2 * byName.count, Self.fewest)
    }
    let handle = NamespaceHandle(name: name, listedIn: counted)
    byName[exact] = handle
    return handle
  }

  private mutating func releaseUnused() {
    // Removes unneeded handles from the list of counts, which otherwise keeps a handle for each name that was ever read.
    _ = counted.unmerged(withAbsent: false)
    var unused: [ExactString] = []
    var index = byName.startIndex
    while index != byName.endIndex {
      if isKnownUniquelyReferenced(&byName.values[index]), !byName.values[index].isNeeded {
        unused.append(byName.keys[index])
      } else if byName.values[index].hasUnmerged {
        // The handle stays, so the first write of its namespace can still merge the counts.
        counted.add(byName.values[index])
      }
      byName.formIndex(after: &index)
    }
    for name in unused { byName[name] = nil }
  }
}

/// The handles that may have unmerged counts. A read adds its handle. The next write that finds the handle merges the counts.
final class CountedHandles: Sendable {
  private let listed = Mutex<[NamespaceHandle]>([])

  /// Not inlined, because nearly every read finds its handle in the list.
  @inline(never)
  func add(_ handle: NamespaceHandle) {
    if handle.isListed.exchange(true, ordering: .relaxed) { return }
    listed.withLock { $0.append(handle) }
  }

  /// The handles with unmerged counts. Removes the other handles from the list, except handles with a memory tier. If
  /// `withAbsent` is false, leaves out and removes the handles of namespaces that do not exist, too.
  func unmerged(withAbsent: Bool = true) -> [NamespaceHandle] {
    listed.withLock { listed in
      var found: [NamespaceHandle] = []
      listed.removeAll { handle in
        handle.isListed.store(false, ordering: .sequentiallyConsistent)
        let hasUnmerged = handle.hasUnmerged && (withAbsent || !handle.isAbsent)
        if hasUnmerged { found.append(handle) }
        guard hasUnmerged || handle.memory.withLock({ !$0.live.isEmpty }) else { return true }
        // True if a read has added the handle again. The handle is then in the list twice, so this place is removed.
        return handle.isListed.exchange(true, ordering: .relaxed)
      }
      return found
    }
  }

  func removeAll() { listed.withLock { $0 = [] } }
}
