import CLMDB
public import Synchronization

/// A file of a fixed number of words beside the data that processes share through memory, without locks.
///
/// What is in it is a hint: it may be lost, old or damaged, and the store works without it. So nothing here fails. Where
/// the file cannot be had - a full disk, a read-only opening of a store that has none - the words are none:
/// ``View/count`` is 0.
///
/// The number of words changes only by putting a new file in the place of the old one. Who still maps the old one
/// sees that by a word in its header at the next ``view``, and maps the new one. Maps stay until the last reference to
/// this object is gone, so that no view ever leads to memory that is gone.
@safe public final class SharedTable: Sendable {
  /// Which file, and which content of it this build and this store can use.
  package struct Format: Sendable {
    let file: MappedFile
    /// Rises when the meaning of the words changes.
    let layout: UInt32
    /// 16 bytes: a file of another store is none.
    let store: [UInt8]
    /// Whether a file of so many words can be used.
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
  let environment: Environment
  /// The environment's: a child that was forked in a read must not store.
  @usableFromInline nonisolated(unsafe) let phase: UnsafeMutablePointer<SharedState>
  @usableFromInline nonisolated(unsafe) let current: Atomic<UnsafeMutablePointer<MappedRegion>>
  /// Every map made so far; the last is the current one.
  let maps: Mutex<Maps>

  @safe struct Maps: ~Copyable, Sendable {
    nonisolated(unsafe) var all: [UnsafeMutablePointer<MappedRegion>]
  }

  /// Maps nothing yet; see ``open(making:)`` and ``openForReading()``.
  package init(_ format: Format, of environment: Environment) {
    self.format = format
    self.environment = environment
    unsafe phase = environment.phase
    let none = unsafe MappedRegion.none()
    unsafe current = Atomic(none)
    maps = unsafe Mutex(Maps(all: [none]))
  }

  deinit {
    maps.withLock { maps in
      while let region = unsafe maps.all.popLast() { unsafe MappedRegion.release(region) }
    }
  }

  /// The words as they are now; take it anew for each use, it costs two loads.
  @inlinable public var view: View {
    @inline(__always) @_lifetime(borrow self) get {
      var region = unsafe current.load(ordering: .acquiring)
      if unsafe region.pointee.isSuperseded { unsafe region = follow(region) }
      let view = unsafe View(
        words: region.pointee.words, count: region.pointee.count,
        isWritable: region.pointee.isWritable
          && phase.pointee.phase.load(ordering: .relaxed) == SharedState.open)
      return unsafe _overrideLifetime(view, borrowing: self)
    }
  }
}

extension SharedTable {
  /// The words, for as long as the object that lent them lives.
  ///
  /// Each word can be used as 32 bits or, two at a time, as 64: index `i` of ``wide(_:)`` is the words `2 i` and
  /// `2 i + 1`. All are 0 in a new file. Loads and stores are relaxed unless they say otherwise. Every index is checked.
  @safe public struct View: ~Escapable {
    @usableFromInline let words: UnsafeMutablePointer<UInt32>
    /// How many words of 32 bits there are; even. 0 if there is no file.
    public let count: Int
    /// Whether stores are allowed: not in a read-only opening, not in a forked child, not after closing.
    public let isWritable: Bool

    @inlinable @_lifetime(immortal)
    init(words: UnsafeMutablePointer<UInt32>, count: Int, isWritable: Bool) {
      unsafe self.words = words
      self.count = count
      self.isWritable = isWritable
    }

    @inlinable public subscript(index: Int) -> UInt32 {
      @inline(__always) get { load(index) }
      @inline(__always) nonmutating set { store(newValue, at: index) }
    }

    @inlinable @inline(__always)
    public func load(_ index: Int) -> UInt32 {
      precondition(index >= 0 && index < count)
      return unsafe UnsafeMutableRawPointer(words + index).assumingMemoryBound(
        to: Atomic<UInt32>.self
      ).pointee.load(ordering: .relaxed)
    }

    @inlinable @inline(__always)
    public func store(_ value: UInt32, at index: Int) {
      precondition(index >= 0 && index < count && isWritable)
      unsafe UnsafeMutableRawPointer(words + index).assumingMemoryBound(
        to: Atomic<UInt32>.self
      ).pointee.store(value, ordering: .relaxed)
    }

    /// Begins to fetch the words around `index` from memory, for who needs them soon.
    @inline(__always)
    public func prefetch(_ index: Int) {
      precondition(index >= 0 && index < count)
      unsafe clmdb_prefetch(words + index)
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

    /// Puts `desired` in the place of `expected`, in one step and ordered both ways; false if something else was there.
    @inlinable public func exchange(_ expected: UInt64, for desired: UInt64, at index: Int) -> Bool
    {
      precondition(isWritable)
      return unsafe atomic(index).pointee.compareExchange(
        expected: expected, desired: desired, ordering: .acquiringAndReleasing
      ).exchanged
    }

    /// 64-bit words of the header that are the owner's; a file that is put in the place of this one begins with its own.
    public static var noteCount: Int { 8 }

    @inlinable @inline(__always)
    public func note(_ index: Int) -> UInt64 {
      unsafe atomicNote(index).pointee.load(ordering: .acquiring)
    }

    @inlinable public func setNote(_ index: Int, _ value: UInt64) {
      precondition(isWritable)
      unsafe atomicNote(index).pointee.store(value, ordering: .releasing)
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

/// The files that processes share through memory, beside the data.
package enum MappedFile: String, CaseIterable, Sendable {
  /// What was used, and what left.
  case access
  /// What changed, for those who watch.
  case changes

  /// The name under which a new one is made before it is moved into place.
  var unfinished: String { rawValue + ".new" }

  static var names: [String] { allCases.flatMap { [$0.rawValue, $0.unfinished] } }
}
