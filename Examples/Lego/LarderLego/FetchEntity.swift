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
      Fetched entities are stored. If the service cannot be reached, an expired entity is printed with a note. The key -1 \
      looks like an option: put -- before it.
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
    let (found, realm) = try await options.open { client, cache in
      defer { progress?.clear() }
      var found: [(key: String, result: CacheResult<Entity>)] = []
      for key in keys {
        progress?.advance(kind.word, done: found.count, of: keys.count)
        guard let result = try await client.entity(type, key, policy: reload ? .reload : .standard)
        else {
          throw Failure(
            .noSuchKey, "there is no \(kind.singular) \(key)",
            hint: options.place.recording.offline ? "the recording has only a few entities" : nil)
        }
        found.append((key, result))
      }
      return (found, cache.realm)
    }
    let store = options.place.store
    for (key, result) in found {
      if !store.json { try Output.write(JSONOutput.text(result.value, pretty: true)) }
      try store.show(Sourced(result, of: key), ["\(kind.singular) \(key): \(result.words)"])
    }
    guard !store.json, let key = keys.first?.larderWord else { return }
    let name = "@" + realm.name(kind.namespace)
    let looks = ["get \(name) \(key)", "info \(name) \(key)", "keys \(name) --limit 5"]
    try Output.write("\n" + store.closing(looks + ["stats \(name)"]))
  }
}
