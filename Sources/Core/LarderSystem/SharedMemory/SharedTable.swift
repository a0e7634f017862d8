import CLarderSystem
public import Synchronization

/// A file of 32-bit words in the store's directory. Processes map the file and use the words together without locks. If there
/// is no file, ``View/count`` is 0: the disk is full, or the store is read-only and has no file.
///
/// The number of words changes only when a new file replaces the old file; a flag in the old header then tells other processes.
/// All maps stay until this object is deinitialized, so a view never refers to unmapped memory.
@safe public final class SharedTable: Sendable {
  /// Says which file and which contents this build and this store accept.
  package struct Format: Sendable {
    let file: MappedFile
    /// A number for the meaning of the words, which increases when the meaning changes.
    let layout: UInt32
    /// The store's 16-byte identity; a file of another store is not used.
    let store: [UInt8]
    /// Whether a file may have this number of words.
    let accepts: @Sendable (Int) -> Bool

    package init(
      file: MappedFile, layout: UInt32, store: [UInt8],
      accepting accepts: @escaping @Sendable (Int) -> Bool
    ) {
      precondition(store.count == 16)
      self.file = file
      self.layout = layout
      self.store = store
      self.accepts = accepts
    }
  }

  let format: Format
  let directory: String
  /// Excludes other processes and threads while a file is made or replaced.
  let replacing: GuardedFileLock
  /// Keeps the memory of `phase` allocated.
  let owner: ForkGuard
  /// The phase of the store. A view reads the phase, because a child that was forked during a read must not write.
  @usableFromInline nonisolated(unsafe) let phase: UnsafeMutablePointer<ForkState>
  @usableFromInline nonisolated(unsafe) let current: Atomic<UnsafeMutablePointer<MappedRegion>>
  /// The number of words that a file must have; 0 if the file may have any number that the format accepts.
  let keptCount = Atomic(0)
  /// The `errno` of the last call that failed; 0 if no call has failed.
  let failureCode = Atomic<Int32>(0)
  /// All maps of this table. The last map is the current map.
  let maps: Mutex<Maps>

  @safe struct Maps: ~Copyable, Sendable {
    nonisolated(unsafe) var all: [UnsafeMutablePointer<MappedRegion>]
  }

  /// Maps no file yet; see ``open(making:prepare:)`` and ``openForReading()``.
  package init(
    _ format: Format, in directory: String, replacing: GuardedFileLock, owner: ForkGuard
  ) {
    self.format = format
    self.directory = directory
    self.replacing = replacing
    self.owner = owner
    unsafe phase = owner.state
    let none = unsafe MappedRegion.none()
    unsafe current = Atomic(none)
    maps = unsafe Mutex(Maps(all: [none]))
  }

  deinit {
    // A thread that exists only in the parent may hold this lock for ever in a forked child, so the child keeps the maps.
    if owner.isForked { return }
    maps.withLock { maps in
      while let region = unsafe maps.all.popLast() { unsafe MappedRegion.release(region) }
    }
  }

  /// The current words. Getting a view takes three atomic loads. Get a new view for each use, because the file may be replaced.
  @inlinable public var view: View {
    @inline(__always) @_lifetime(borrow self) get {
      var region = unsafe current.load(ordering: .acquiring)
      if unsafe region.pointee.isSuperseded { unsafe region = remap(region) }
      let view = unsafe View(
        words: region.pointee.words, count: region.pointee.count,
        isWritable: region.pointee.isWritable
          && phase.pointee.phase.load(ordering: .relaxed) == ForkState.open)
      return unsafe _overrideLifetime(view, borrowing: self)
    }
  }

  /// The words, valid for the lifetime of the table.
  ///
  /// A word has 32 bits. Two words together form a 64-bit word: index `i` of ``wide(_:)`` means the words `2 i` and `2 i + 1`.
  /// New words are 0. Each index is checked. Accesses have relaxed order, except notes, `acquire`, `release` and `exchange`.
  @safe public struct View: ~Escapable {
    @usableFromInline let words: UnsafeMutablePointer<UInt32>
    /// The number of 32-bit words, always even; 0 if there is no file.
    public let count: Int
    /// Whether writing is allowed: false without a file, for a read-only store, in a forked child, and after closing.
    public let isWritable: Bool

    @inlinable @_lifetime(immortal)
    init(words: UnsafeMutablePointer<UInt32>, count: Int, isWritable: Bool) {
      unsafe self.words = words
      self.count = count
      self.isWritable = isWritable
    }

    @inlinable public subscript(index: Int) -> UInt32 {
      @inline(__always) get { unsafe narrow(index).pointee.load(ordering: .relaxed) }
      @inline(__always) nonmutating set {
        precondition(isWritable)
        unsafe narrow(index).pointee.store(newValue, ordering: .relaxed)
      }
    }

    /// Starts fetching the words around `index` into the processor's cache.
    @inline(__always)
    public func prefetch(_ index: Int) {
      precondition(index >= 0 && index < count)
      unsafe larder_prefetch(words + index)
    }

    @inlinable public func wide(_ index: Int) -> UInt64 {
      unsafe atomic(index).pointee.load(ordering: .relaxed)
    }

    @inlinable public func acquire(_ index: Int) -> UInt64 {
      unsafe atomic(index).pointee.load(ordering: .acquiring)
    }

    @inlinable public func store(_ value: UInt64, wide index: Int) {
      precondition(isWritable)
      unsafe atomic(index).pointee.store(value, ordering: .relaxed)
    }

    @inlinable public func release(_ value: UInt64, to index: Int) {
      precondition(isWritable)
      unsafe atomic(index).pointee.store(value, ordering: .releasing)
    }

    /// If the word is `expected`, replaces it by `desired` (acquiring and releasing). Returns whether the word was replaced.
    @inlinable public func exchange(_ expected: UInt64, for desired: UInt64, at index: Int) -> Bool
    {
      precondition(isWritable)
      return unsafe atomic(index).pointee.compareExchange(
        expected: expected, desired: desired, ordering: .acquiringAndReleasing
      ).exchanged
    }

    /// The number of notes: 64-bit words in the header for the owner of the table. A replacement file has its own notes.
    public static var noteCount: Int { 8 }

    @inlinable @inline(__always)
    public func note(_ index: Int) -> UInt64 {
      unsafe atomicNote(index).pointee.load(ordering: .acquiring)
    }

    @inlinable public func setNote(_ index: Int, _ value: UInt64) {
      precondition(isWritable)
      unsafe atomicNote(index).pointee.store(value, ordering: .releasing)
    }

    @inlinable @inline(__always)
    func narrow(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
      precondition(index >= 0 && index < count)
      return unsafe UnsafeMutableRawPointer(words + index).assumingMemoryBound(
        to: Atomic<UInt32>.self)
    }

    @inlinable func atomic(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
      precondition(index >= 0 && index < count / 2)
      return unsafe (UnsafeMutableRawPointer(words) + 8 * index).assumingMemoryBound(
        to: Atomic<UInt64>.self)
    }

    @inlinable @inline(__always)
    func atomicNote(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
      precondition(index >= 0 && index < Self.noteCount)
      return unsafe (UnsafeMutableRawPointer(words) - 8 * (Self.noteCount - index))
        .assumingMemoryBound(to: Atomic<UInt64>.self)
    }
  }
}

/// The files in a store's directory that processes share through memory.
package enum MappedFile: String, CaseIterable, Sendable {
  /// Recent accesses and evicted keys.
  case access
  /// Recent changes, for subscriptions.
  case changes
  /// Loads (calls to the origin) that are running.
  case leases
  /// Recent changes of the shared tier.
  case shared
  /// Recent removals. A load that began before a removal does not store its value.
  case removals
  /// Written entries that are not committed yet.
  case buffer

  /// The name of a new file before the file is renamed.
  var unfinished: String { rawValue + ".new" }

  package static var names: [String] { allCases.flatMap { [$0.rawValue, $0.unfinished] } }
}
