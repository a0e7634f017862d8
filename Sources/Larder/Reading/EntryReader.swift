import LMDB
import LarderSystem
import Synchronization

/// Finds, checks and lends the entries of a store in a snapshot that its caller has taken.
///
/// Reading changes nothing in the store. What a read of the application leaves for the next write waits in ``uses`` and
/// ``removals``, and its access in the table that all processes share.
final class EntryReader: Sendable {
  let environment: Environment
  let indexes: Indexes
  /// 16 random bytes that no other store has.
  let identity: [UInt8]
  let metadata: MetadataReader
  let clock: StoreClock
  let transforms: TransformPipeline
  /// The accesses of all processes.
  let access: AccessTable
  /// Accesses that move the expirations of entries with a time to idle.
  let uses: PendingAccesses
  /// The size of one chunk: a page without LMDB's header, so that chunks need no consecutive pages.
  let chunkSize: Int
  /// Expired entries that reads have found.
  let removals = PendingExpirations()
  let tombstones = KnownTombstones()
  let verified = VerifiedValues()
  /// The value that was last read in pieces and changed by transforms.
  let piecewise = Mutex<(mark: UInt64, value: [UInt8])?>(nil)
  /// The namespace in which transforms keep their own data.
  let transformStorage = NamespaceHandle(
    name: TransformStorage.namespace, listedIn: CountedHandles())

  init(of environment: Environment, format: StoreFormat, options: Store.Options) {
    self.environment = environment
    indexes = Indexes(environment.databases)
    identity = format.identity
    metadata = MetadataReader(
      environment: environment, seal: RecordSeal(identity: format.identity))
    clock = StoreClock(options.clock)
    transforms = TransformPipeline(options.transforms)
    access = AccessTable(of: environment, store: format.identity)
    uses = PendingAccesses(timer: options.timer)
    chunkSize = environment.info.pageSize - 16
  }

  var seal: RecordSeal { metadata.seal }

  @inline(__always)
  func beginRead() throws(LarderError) -> ReadTransaction {
    do throws(LMDBError) {
      return try environment.beginRead()
    } catch {
      throw environment.larderError(error)
    }
  }
}
