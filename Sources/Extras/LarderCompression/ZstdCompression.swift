#if Compression
  public import Larder
  import LarderSystem
  import Synchronization
  import Zstd

  /// Compresses values with Zstandard (RFC 8878).
  ///
  ///     var options = Store.Options()
  ///     options.transforms = [ZstdCompression()]
  ///     let store = try Store(at: path, options: options)
  ///
  /// A value that compression does not make shorter is stored uncompressed. A dictionary makes small values shorter: see
  /// ``trainDictionary(for:size:)``. Give all stores of a process the same object, because it keeps the dictionaries in memory.
  public final class ZstdCompression: ValueTransform {
    private let level: Int
    private let sizes: ClosedRange<Int>

    private struct Name: Hashable {
      var store: [UInt8]
      var id: UInt32
    }
    /// The most dictionaries in memory. Each needs about a megabyte, and a process may open any number of stores.
    private static let mostDictionaries = 64
    private let dictionaries = Mutex<[Name: Zstd.Dictionary]>([:])

    /// - Parameters:
    ///   - level: 1 to 19; a higher level takes longer to compress, but not to decompress.
    ///   - smallestValue: values of fewer bytes are stored uncompressed.
    ///   - largestValue: values of more bytes are stored uncompressed. A stored value that states a larger size counts as
    ///     damaged. The limit is at most 1 GiB.
    public init(level: Int = 3, smallestValue: Int = 64, largestValue: Int = .megabytes(64)) {
      self.level = min(max(level, 1), 19)
      let largest = min(max(largestValue, 1), Rules.largestPossibleValue)
      sizes = min(max(smallestValue, 1), largest)...largest
    }

    /// ``/Larder/TransformID/zstd``.
    public var id: TransformID { .zstd }

    /// A compressed entry has this number of bytes in addition to the frame, so the frame must save more bytes than this number.
    private static let overhead = 16

    /// The value as a frame; nil for metadata, for a size out of the limits, or if the frame does not save enough bytes.
    public func apply(
      _ bytes: Span<UInt8>, for context: TransformContext
    ) throws -> (bytes: [UInt8], parameters: [UInt8])? {
      guard sizes.contains(bytes.count), context.part == .value, try !context.isOfTransforms()
      else { return nil }
      let dictionary = try current(context)
      let frame = try Zstd.compress(bytes, level: level, with: dictionary)
      guard frame.count + Self.overhead < bytes.count else { return nil }
      return (frame, dictionary.map { [UInt8](littleEndian: $0.id) } ?? [])
    }

    /// The value that a frame holds.
    public func revert(
      _ bytes: Span<UInt8>, _ parameters: Span<UInt8>, size: Int, for context: TransformContext
    ) throws -> [UInt8] {
      guard size <= sizes.upperBound, parameters.count == 0 || parameters.count == 4 else {
        throw Zstd.Failure("it claims \(size) bytes")
      }
      var dictionary: Zstd.Dictionary?
      if parameters.count == 4 {
        do {
          dictionary = try self.dictionary(parameters.halfWord(at: 0), context)
        } catch let error as LarderError where error.code != .damaged {
          // Another error would count as damage of the value, and a later write would replace the intact value.
          throw LarderError(.unreadable, "the dictionary of a value cannot be read: \(error)")
        }
        if dictionary == nil { throw Zstd.Failure("its dictionary is gone") }
      }
      return try Zstd.decompress(bytes, size: size, with: dictionary)
    }

    // MARK: Dictionaries

    private static func name(of id: UInt32) -> String { "dictionary \(id)" }
    private static func nameOfCurrent(in namespace: UInt32) -> String { "current \(namespace)" }

    private func current(_ context: TransformContext) throws -> Zstd.Dictionary? {
      guard let id = try context.stored(Self.nameOfCurrent(in: context.namespace)), id.count == 4
      else { return nil }
      return try dictionary(id.span.halfWord(at: 0), context)
    }

    private func dictionary(_ id: UInt32, _ context: TransformContext) throws -> Zstd.Dictionary? {
      let name = Name(store: context.store, id: id)
      if let known = dictionaries.withLock({ $0[name] }) { return known }
      // No dictionary is compressed. If a forged dictionary needed itself, reading it would never end.
      guard try !context.isOfTransforms(), let bytes = try context.stored(Self.name(of: id)),
        let found = Zstd.Dictionary(bytes, level: level), found.id == id
      else { return nil }
      dictionaries.withLock { known in
        if known.count >= Self.mostDictionaries { known = [:] }
        known[name] = found
      }
      return found
    }

    /// The total sizes of sampled values: plain, compressed, and compressed with a new dictionary.
    public struct Training: Sendable, Hashable {
      /// The number of values from which the dictionary was made.
      public var samples: Int
      /// The size of the sampled values in bytes without compression.
      public var plain: Int
      /// The size of the sampled values in bytes, each compressed without a dictionary, or plain if that is shorter.
      public var compressed: Int
      /// The size of the sampled values in bytes, each compressed with the new dictionary, or plain if that is shorter.
      public var withDictionary: Int
      /// Whether later values use the new dictionary: true if it saves at least a twentieth of ``compressed``, and no present
      /// dictionary of the namespace needs less than a twentieth more.
      public var isUsed: Bool
    }

    /// Makes a dictionary from the values of a namespace, for later values of this namespace. Stored values do not change.
    ///
    /// Call this method when the namespace has some hundreds of values, and again after a clear or much change. Reading
    /// stops after 2,000 values, or after 100 times the size of the dictionary. The dictionaries are pinned entries of the
    /// namespace `larder.transforms`. Do not remove a dictionary: the values that were compressed with it would be lost.
    ///
    /// - Parameter size: the largest size of the dictionary in bytes; a size outside 1 kB to 1 MB becomes the nearer limit.
    /// - Throws: ``/Larder/LarderError/Code/invalidArgument`` if the namespace has too few values.
    public func trainDictionary(
      for namespace: Store.Namespace, size: Int = 32_768
    ) throws -> Training {
      let size = min(max(size, 1_000), 1_000_000)
      var samples: [[UInt8]] = []
      var bytes = 0
      try namespace.scanValues { _, value in
        if sizes.contains(value.count) {
          samples.append(value.copied)
          bytes += value.count
        }
        return samples.count < 2_000 && bytes < 100 * size
      }
      let made: [UInt8]
      do { made = try Zstd.train(samples, size: size) } catch {
        throw LarderError(
          .invalidArgument,
          "namespace \(namespace.name) has too few values for a dictionary: \(samples.count) of \(bytes) bytes (\(error))",
          hint: "store some hundred values first")
      }
      guard let dictionary = Zstd.Dictionary(made, level: level),
        let number = try namespace.number()
      else { throw LarderError(.failed, "no dictionary was made for \(namespace.name)") }
      func total(with dictionary: Zstd.Dictionary?) throws -> Int {
        try samples.reduce(0) {
          try $0 + min($1.count, Zstd.compress($1.span, level: level, with: dictionary).count)
        }
      }
      let (old, new) = (try total(with: nil), try total(with: dictionary))
      var training = Training(
        samples: samples.count, plain: bytes, compressed: old, withDictionary: new,
        isUsed: new <= old - old / 20)
      guard training.isUsed else { return training }
      let storage = namespace.store.namespace(TransformContext.storage)
      var used = (bytes: made, id: dictionary.id)
      // A dictionary never leaves the store, so a program that trains at each start must not store another one each time.
      // But the present dictionary is written again, because the store may encrypt with another key now.
      if let id = try storage.uncountedValue(for: Self.nameOfCurrent(in: number)), id.count == 4,
        let kept = try storage.uncountedValue(for: Self.name(of: id.span.halfWord(at: 0))),
        let present = Zstd.Dictionary(kept, level: level), try total(with: present) - new < new / 20
      {
        (used, training.isUsed) = ((bytes: kept, id: present.id), false)
      }
      var attributes = EntryAttributes(expires: .never)
      attributes.isPinned = true
      try storage.store.write { [used, attributes] batch in
        try batch.set(used.bytes, for: Self.name(of: used.id), in: storage, attributes)
        try batch.set(
          [UInt8](littleEndian: used.id), for: Self.nameOfCurrent(in: number), in: storage,
          attributes)
      }
      return training
    }
  }
#else
  @available(
    *, unavailable,
    message:
      "LarderCompression needs the trait Compression: .package(..., traits: [\"Compression\"])"
  )
  public struct ZstdCompression {}
#endif
