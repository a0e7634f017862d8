package import Larder
package import ShellLanguage

/// Facts that the program adds to the answers about a store, for example facts that other libraries keep in the store. The
/// shell imports none of these libraries.
package struct Additions {
  package typealias Fact = (name: String, cell: Cell)

  /// The facts about the whole store for `stats`; empty if the store has no such facts.
  package var storeFacts: (Store) throws -> [Fact] = { _ in [] }
  /// Further columns of `info`, for the entries of a namespace.
  package var entryFacts: (Store.Namespace) throws -> ((Store.Entry) -> [Fact])? = { _ in nil }

  package init() {}
}
