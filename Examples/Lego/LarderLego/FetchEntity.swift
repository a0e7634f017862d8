import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

struct FetchEntity: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Gets entities from the store, or from the service if they are missing or expired.",
    discussion: """
      Fetched entities are stored. If the service cannot be reached, an expired entity is printed with a note. Of several \
      keys all that are found are printed, and the exit code is 1 if one is not. The key -1 looks like an option: put -- \
      before it.
      """)

  @Argument(help: "One of \(EntityKind.list); the singular will do.") var kind: EntityKind

  @Argument(
    help: "Numbers as the maker writes them: 3001, 10294-1, fig-000018; of a partcolor 3001/4.")
  var keys: [NonEmpty]

  @OptionGroup var options: ServiceOptions
  @Flag(help: "Send a request even if the entity is stored.") var reload = false

  func run() async throws { try await run(kind.type) }

  private func run<Entity: LegoEntity>(_ type: Entity.Type) async throws {
    let keys = keys.map(\.text)
    let progress = keys.count > 1 ? ProgressLine.atTerminal : nil
    let (found, failure, missing, name) = try await options.open { client, cache in
      defer { progress?.clear() }
      var found: [(key: String, result: CacheResult<Entity>)] = []
      var missing: [String] = []
      var failure: (any Error)?
      for (index, key) in keys.enumerated() {
        progress?.advance(kind.word, done: index, of: keys.count)
        do {
          // After a failure, those that are stored are still of use.
          let policy = failure != nil ? RequestPolicy.cacheOnly : reload ? .reload : .standard
          if let result = try await client.entity(type, key, policy: policy) {
            found.append((key, result))
          } else {
            missing.append(key)
          }
        } catch {
          failure = failure ?? error
        }
      }
      return (found, failure, noSuch(missing), cache.name(kind.namespace))
    }
    try show(found, "@" + name)
    if failure != nil, let missing { Console.complain("error: \(missing.message)") }
    if let error = failure ?? missing { throw error }
  }

  private func noSuch(_ keys: [String]) -> Failure? {
    if keys.isEmpty { return nil }
    let name = keys.count == 1 ? "is no \(kind.singular)" : "are no \(kind.word)"
    return Failure(
      .noSuchKey, "there \(name) \(keys.joined(separator: ", "))",
      hint: options.place.recording.offline ? "the recording has only a few entities" : nil)
  }

  private func show<Entity: LegoEntity>(
    _ found: [(key: String, result: CacheResult<Entity>)], _ name: String
  ) throws {
    let store = options.place.store
    for (key, result) in found {
      if !store.json { try Output.write(JSONOutput.text(result.value, pretty: true)) }
      try store.show(Sourced(result, of: key), ["\(kind.singular) \(key): \(result.words)"])
    }
    guard !store.json, let key = found.first?.key.larderWord else { return }
    let looks = ["get \(name) \(key)", "info \(name) \(key)", "keys \(name) --limit 5"]
    try Output.write("\n" + store.closing(looks + ["stats \(name)"]))
  }
}
